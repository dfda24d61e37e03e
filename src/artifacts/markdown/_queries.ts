import type { ArtifactQuery, SpooledArtifact } from '../../index.ts'
import { integerField, rangeFields, objectSchema, type Ranged, shortText } from '../_query.ts'
import type { MarkdownNode } from './_blocks.ts'
import type { MarkdownImage, MarkdownLink } from './_inline.ts'

/** A heading and its line. */
export interface Heading {
  readonly level: number
  readonly text: string
  readonly line: number
}

/** A heading with the text under it, from `line` up to and without `endLine`. */
export interface Section {
  readonly title: string
  readonly level: number
  /** The titles of the enclosing sections and its own, the outermost first. */
  readonly path: readonly string[]
  readonly line: number
  readonly endLine: number
}

/** A code block. With its fences it goes from `line` up to and without `endLine`. */
export interface CodeBlock {
  /** The text after the fence. */
  readonly language?: string
  readonly text: string
  readonly line: number
  readonly endLine: number
}

/** The methods of a document that the queries use. */
interface Markdown extends SpooledArtifact {
  frontMatter(): Promise<unknown>
  headings(): Promise<readonly Heading[]>
  sections(): Promise<readonly Section[]>
  codeBlocks(): Promise<readonly CodeBlock[]>
  links(): Promise<readonly MarkdownLink[]>
  images(): Promise<readonly MarkdownImage[]>
  text(start?: number, end?: number): Promise<string>
  ast(): Promise<readonly MarkdownNode[]>
}

const longestCode = 2_000
const separator = ' > '

/** The queries for Markdown documents. */
export const markdownQueries: Readonly<Record<string, ArtifactQuery>> = {
  md_frontmatter: {
    description: 'Shows the data (front matter) at the beginning of a Markdown document.',
    answer: (artifact: Markdown) => artifact.frontMatter(),
  },
  md_headings: {
    description: 'Lists the headings of a Markdown document, with their levels and lines.',
    inputSchema: objectSchema(rangeFields),
    answer: async (artifact: Markdown, input: Ranged) => pageItems(await artifact.headings(), input),
  },
  md_sections: {
    description:
      'Shows a section of a Markdown document, with its subsections. Without a title it lists the sections; artifact_cat shows their lines, from line up to and without endLine.',
    inputSchema: objectSchema({
      title: { type: 'string', description: 'The title of the section, or its path, such as "Usage > Options"' },
      ...rangeFields,
    }),
    async answer(artifact: Markdown, { title, ...input }: Ranged & { readonly title?: string }) {
      const sections = await artifact.sections()
      if (title === undefined)
        return pageItems(sections, input).map(({ path, line, endLine }) => ({
          path: path.join(separator),
          line,
          endLine,
        }))
      const found = sectionOf(sections, title)
      if (found === undefined)
        return `There is no section ${JSON.stringify(title.slice(0, 200))}. Ask without a title for the list of all.`
      return artifact.cat(found.line, found.endLine)
    },
  },
  md_code_blocks: {
    description: `Lists the code blocks of a Markdown document. Code is cut after ${longestCode} characters, and ends with "…"; artifact_cat shows all of its lines.`,
    inputSchema: objectSchema({
      language: { type: 'string', description: 'Only those in this language. Default: all' },
      ...rangeFields,
    }),
    async answer(artifact: Markdown, { language, ...input }: Ranged & { readonly language?: string }) {
      const blocks = await artifact.codeBlocks()
      const wanted = language === undefined ? blocks : blocks.filter((block) => speaks(block, language))
      return pageItems(wanted, input).map((block) => ({ ...block, text: shortText(block.text, longestCode) }))
    },
  },
  md_links: {
    description: 'Lists the links of a Markdown document, with their texts, addresses and lines.',
    inputSchema: objectSchema(rangeFields),
    answer: async (artifact: Markdown, input: Ranged) => pageItems(await artifact.links(), input),
  },
  md_images: {
    description: 'Lists the images of a Markdown document, with their descriptions, addresses and lines.',
    inputSchema: objectSchema(rangeFields),
    answer: async (artifact: Markdown, input: Ranged) => pageItems(await artifact.images(), input),
  },
  md_text: {
    description: 'Shows the text of a Markdown document without its syntax, from one line up to another.',
    inputSchema: objectSchema({
      from_line: integerField(0, 'The first line, counted from 0. Default: 0'),
      to_line: integerField(0, 'The line before which to stop. Default: 200 more than from_line'),
    }),
    answer: (artifact: Markdown, input: { readonly from_line?: number; readonly to_line?: number }) => {
      const { from_line: start = 0, to_line: end = start + 200 } = input
      return artifact.text(start, end)
    },
  },
  md_ast: {
    description:
      'Lists the blocks of a Markdown document (headings, paragraphs, lists, tables, code …), with their lines and the beginning of their text.',
    inputSchema: objectSchema(rangeFields),
    answer: async (artifact: Markdown, input: Ranged) => pageItems(await artifact.ast(), input).map(outline),
  },
}

function pageItems<Item>(items: readonly Item[], { start = 0, limit = 100 }: Ranged): readonly Item[] {
  return items.slice(start, start + limit)
}

function sectionOf(sections: readonly Section[], title: string): Section | undefined {
  const wanted = title.trim().toLowerCase()
  const isPath = ({ path }: Section): boolean => path.join(separator).toLowerCase() === wanted
  return sections.find(isPath) ?? sections.find((section) => section.title.toLowerCase() === wanted)
}

function speaks({ language = '' }: CodeBlock, wanted: string): boolean {
  return language.split(/\s/, 1)[0]?.toLowerCase() === wanted.trim().toLowerCase()
}

function outline({ text, children, ...node }: MarkdownNode): object {
  const within = children === undefined ? undefined : { children: children.length }
  return { ...node, ...within, ...(text === undefined ? undefined : { text: shortText(text, 80) }) }
}
