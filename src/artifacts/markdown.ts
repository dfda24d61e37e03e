/**
 * Markdown documents. This leaf reads what a document is made of, with the lines at which it stands: it renders nothing,
 * follows no link, and lets no tag in front matter make anything but plain values.
 *
 * @module
 */
import type { Lexer } from 'marked'
import { ArtifactError, TextArtifact, type ArtifactQuery } from '../index.ts'
import { once } from './_once.ts'
import { Pace } from './_pace.ts'
import { readBlocks, type Blocks, type MarkdownNode } from './markdown/_blocks.ts'
import { findFrontMatter, readYaml, type FrontMatter } from './markdown/_front-matter.ts'
import {
  longestPiece,
  plainText,
  references,
  textNodes,
  type MarkdownImage,
  type MarkdownLink,
} from './markdown/_inline.ts'
import { markdownQueries, type CodeBlock, type Heading, type Section } from './markdown/_queries.ts'

export type { CodeBlock, Heading, MarkdownImage, MarkdownLink, MarkdownNode, Section }

/**
 * A result that is a Markdown document (CommonMark with the tables, task lists and links of GitHub).
 *
 * Nothing is parsed before it is asked for, and then once. Lines are counted from 0, and those of a section or a code block can
 * be read with `cat(line, endLine)`. Needs the package `marked`, and for front matter the package `yaml`.
 *
 * All but `frontMatter` throw `E_ARTIFACT` where the document has more than 16,777,216 bytes (`static largest` of a subclass), a
 * list or quote in it more than 131,072 characters, a table more than 262,144, another block more than 2,097,152, or it has more
 * than a million blocks, an item of very many lines, or is nested too deeply. The parser never holds the process for long.
 *
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { MarkdownArtifact } from 'toolwright/artifacts/markdown'
 *
 * const readme = tool({
 *   name: 'read_readme',
 *   description: 'Reads the README',
 *   artifact: MarkdownArtifact,
 *   handler: () => '# Title\n\nSee [the docs](https://example.com).\n',
 * })
 * ```
 * @see https://spec.commonmark.org/
 * @experimental
 */
export class MarkdownArtifact extends TextArtifact {
  static override readonly kind: string = 'markdown'
  static override readonly mediaType: string = 'text/markdown'
  static override readonly queries: Readonly<Record<string, ArtifactQuery>> = markdownQueries
  /** Bytes of a document that is parsed. */
  static readonly largest: number = 16_777_216
  readonly #front: () => Promise<FrontMatter> = once(() => findFrontMatter(this))
  readonly #parsed: () => Promise<Blocks> = once(() => this.#parse())

  /**
   * The data in YAML that stands between two lines of `---` at the very beginning, within 2,000 lines and 65,536 characters;
   * `undefined` where there is none.
   *
   * @throws `E_ARTIFACT` where it is no YAML.
   */
  async frontMatter(): Promise<unknown> {
    const { text, endLine } = await this.#front()
    return endLine === 0 ? undefined : readYaml(text)
  }

  /** The headings that stand in no quote or list. */
  async headings(): Promise<Heading[]> {
    const { nodes } = await this.#parsed()
    const headings = nodes.filter(({ type }) => type === 'heading')
    const texts = await this.#collect(headings, plainText)
    return headings.map(({ level = 0, line }, index) => ({ level, text: texts[index] ?? '', line }))
  }

  /** The sections that the headings begin, each with those of lower levels in it. */
  async sections(): Promise<Section[]> {
    const headings = await this.headings()
    const end = await this.lineCount()
    const open: { level: number; text: string }[] = []
    return headings.map(({ level, text, line }, index) => {
      while (open.length > 0 && open.at(-1)!.level >= level) open.pop()
      open.push({ level, text })
      return { title: text, level, path: open.map((each) => each.text), line, endLine: endOf(headings, index, end) }
    })
  }

  /** All code blocks, also those in lists and quotes. */
  async codeBlocks(): Promise<CodeBlock[]> {
    const { nodes } = await this.#parsed()
    const blocks: CodeBlock[] = []
    for (const { type, text = '', language, line, endLine } of textNodes(nodes)) {
      if (type === 'code') blocks.push({ ...(language === undefined ? undefined : { language }), text, line, endLine })
    }
    return blocks
  }

  /** All links, in the order in which they stand; of those that refer to a definition, to what it says. */
  async links(): Promise<MarkdownLink[]> {
    return this.#collect(await this.ast(), (node, lexer) => references(node, 'link', lexer))
  }

  /** All images, in the order in which they stand. */
  async images(): Promise<MarkdownImage[]> {
    const images = await this.#collect(await this.ast(), (node, lexer) => references(node, 'image', lexer))
    return images.map(({ text: alt, ...image }) => ({ alt, ...image }))
  }

  /**
   * What the document says, without its marks; a blank line stands between two blocks.
   *
   * @param start The line at which to begin; a block that begins before it is left out. Default: 0.
   * @param end The line before which the last block begins. Default: all.
   */
  async text(start = 0, end: number = Infinity): Promise<string> {
    const said = await this.#collect(await this.ast(), (node, lexer) =>
      node.line < start || node.line >= end ? [] : plainText(node, lexer),
    )
    return said.filter((text) => text !== '').join('\n\n')
  }

  /** What the document is made of: its blocks, and those within them. */
  async ast(): Promise<readonly MarkdownNode[]> {
    return (await this.#parsed()).nodes
  }

  async #collect<Item>(
    nodes: readonly MarkdownNode[],
    itemsOf: (node: MarkdownNode, lexer: Lexer) => Iterable<Item | undefined>,
  ): Promise<Item[]> {
    const { lexer } = await this.#parsed()
    const pace = new Pace(Infinity, new AbortController().signal)
    const items: Item[] = []
    for (const node of textNodes(nodes)) {
      for (const item of itemsOf(node, lexer)) {
        if (item !== undefined) items.push(item)
        else if (pace.isDue(20_000 + 20 * Math.min(longestPiece, node.text?.length ?? 0))) await pace.turn()
      }
      if (pace.isDue(1_000)) await pace.turn()
    }
    return items
  }

  async #parse(): Promise<Blocks> {
    const { largest } = this.constructor as typeof MarkdownArtifact
    if (this.byteLength() > largest) {
      throw new ArtifactError(
        `${this.byteLength().toLocaleString('en')} bytes of Markdown are more than the ${largest.toLocaleString('en')} that are parsed. Ask about its lines instead.`,
      )
    }
    const { endLine } = await this.#front()
    const lines: string[] = []
    for await (const { texts } of this.lineGroups({ start: endLine })) for (const text of texts) lines.push(text)
    // A carriage return within a line ends no line here, but would for the parser.
    return readBlocks(lines.join('\n').replaceAll('\r', ' '), endLine)
  }
}

/** The line at which the next section begins that is not within this one. */
function endOf(headings: readonly Heading[], index: number, end: number): number {
  const { level } = headings[index]!
  for (let next = index + 1; next < headings.length; next++) {
    if (headings[next]!.level <= level) return headings[next]!.line
  }
  return end
}
