/**
 * Markdown documents. It reads the parts of a document, with their lines. It renders nothing and follows no link. Tags in
 * front matter produce only plain values.
 *
 * @module
 */
import type { Lexer } from 'marked'
import { TextArtifact, type ArtifactQuery } from '../index.ts'
import { ArtifactError } from '../errors.ts'
import { lazily } from './_lazily.ts'
import { WorkPace } from './_pace.ts'
import { readBlocks, type Blocks, type MarkdownNode } from './markdown/_blocks.ts'
import { findFrontMatter, readYaml, type FrontMatter } from './markdown/_front-matter.ts'
import {
  longestPiece,
  plainText,
  linksOf,
  textNodes,
  type MarkdownImage,
  type MarkdownLink,
} from './markdown/_inline.ts'
import { markdownQueries, type CodeBlock, type Heading, type Section } from './markdown/_queries.ts'

export type { CodeBlock, Heading, MarkdownImage, MarkdownLink, MarkdownNode, Section }

/**
 * A result that is a Markdown document (CommonMark with the tables, task lists and links of GitHub).
 *
 * The document is parsed once, on the first query. Lines are counted from 0; `cat(line, endLine)` reads those of a section or a
 * code block. Needs the package `marked`, and for front matter the package `yaml`.
 *
 * Other tasks run while a document is parsed. All methods but `frontMatter` throw `E_ARTIFACT` if
 *
 * - the document has more than 16,777,216 bytes (`static largest` of a subclass) or 1,000,000 blocks;
 * - a list or quote has more than 131,072 characters, a table more than 262,144, or another block more than 2,097,152;
 * - an item has very many lines, or blocks are nested too deeply.
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
  /** The most bytes of a document that is parsed. */
  static readonly largest: number = 16_777_216
  readonly #front: () => Promise<FrontMatter> = lazily(() => findFrontMatter(this))
  readonly #parsed: () => Promise<Blocks> = lazily(() => this.#parse())

  /**
   * Returns the YAML data between two lines of `---` at the very beginning, within 2,000 lines and 65,536 characters. Returns
   * `undefined` if there is none.
   *
   * @throws `E_ARTIFACT` if it is not YAML.
   */
  async frontMatter(): Promise<unknown> {
    const { text, endLine } = await this.#front()
    return endLine === 0 ? undefined : readYaml(text)
  }

  /** Returns the headings outside of quotes and lists. */
  async headings(): Promise<Heading[]> {
    const { nodes } = await this.#parsed()
    const headings = nodes.filter(({ type }) => type === 'heading')
    const texts = await this.#collect(headings, plainText)
    return headings.map(({ level = 0, line }, index) => ({ level, text: texts[index] ?? '', line }))
  }

  /** Returns the sections that the headings begin. Each includes its subsections. */
  async sections(): Promise<Section[]> {
    const headings = await this.headings()
    const end = await this.lineCount()
    const open: { level: number; text: string }[] = []
    return headings.map(({ level, text, line }, index) => {
      while (open.length > 0 && open.at(-1)!.level >= level) open.pop()
      open.push({ level, text })
      return {
        title: text,
        level,
        path: open.map((each) => each.text),
        line,
        endLine: sectionEnd(headings, index, end),
      }
    })
  }

  /** Returns all code blocks, including those in lists and quotes. */
  async codeBlocks(): Promise<CodeBlock[]> {
    const { nodes } = await this.#parsed()
    const blocks: CodeBlock[] = []
    for (const { type, text = '', language, line, endLine } of textNodes(nodes)) {
      if (type === 'code') blocks.push({ ...(language === undefined ? undefined : { language }), text, line, endLine })
    }
    return blocks
  }

  /** Returns all links in document order. A reference has the address of its definition. */
  async links(): Promise<MarkdownLink[]> {
    return this.#collect(await this.ast(), (node, lexer) => linksOf(node, 'link', lexer))
  }

  /** Returns all images in document order. */
  async images(): Promise<MarkdownImage[]> {
    const images = await this.#collect(await this.ast(), (node, lexer) => linksOf(node, 'image', lexer))
    return images.map(({ text: alt, ...image }) => ({ alt, ...image }))
  }

  /**
   * Returns the text of the document without Markdown syntax, with a blank line between blocks.
   *
   * @param start The first line; a block that begins before it is left out. Default: 0.
   * @param end The line before which the last block begins. Default: the end.
   */
  async text(start = 0, end: number = Infinity): Promise<string> {
    const texts = await this.#collect(await this.ast(), (node, lexer) =>
      node.line < start || node.line >= end ? [] : plainText(node, lexer),
    )
    return texts.filter((text) => text !== '').join('\n\n')
  }

  /** Returns the blocks of the document, with the blocks within them. */
  async ast(): Promise<readonly MarkdownNode[]> {
    return (await this.#parsed()).nodes
  }

  async #collect<Item>(
    nodes: readonly MarkdownNode[],
    itemsOf: (node: MarkdownNode, lexer: Lexer) => Iterable<Item | undefined>,
  ): Promise<Item[]> {
    const { lexer } = await this.#parsed()
    const pace = new WorkPace(Infinity, new AbortController().signal)
    const items: Item[] = []
    for (const node of textNodes(nodes)) {
      for (const item of itemsOf(node, lexer)) {
        if (item !== undefined) items.push(item)
        else if (pace.isDue(20_000 + 20 * Math.min(longestPiece, node.text?.length ?? 0))) await pace.pause()
      }
      if (pace.isDue(1_000)) await pace.pause()
    }
    return items
  }

  async #parse(): Promise<Blocks> {
    const { largest } = this.constructor as typeof MarkdownArtifact
    if (this.byteLength() > largest) {
      throw new ArtifactError(
        `The Markdown has ${this.byteLength().toLocaleString('en')} bytes, more than the ${largest.toLocaleString('en')} that are parsed. Ask about its lines instead.`,
      )
    }
    const { endLine } = await this.#front()
    const lines: string[] = []
    for await (const { texts } of this.lineGroups({ start: endLine })) for (const text of texts) lines.push(text)
    // A carriage return within a line would end the line for the parser, but does not here.
    return readBlocks(lines.join('\n').replaceAll('\r', ' '), endLine)
  }
}

/** Returns the line at which a section ends: the next heading that is not of a subsection. */
function sectionEnd(headings: readonly Heading[], index: number, end: number): number {
  const { level } = headings[index]!
  for (let next = index + 1; next < headings.length; next++) {
    if (headings[next]!.level <= level) return headings[next]!.line
  }
  return end
}
