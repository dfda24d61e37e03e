import { getDefaults, Lexer } from 'marked'
import { ArtifactError } from '../../errors.ts'
import { WorkPace } from '../_pace.ts'

/** A block of a Markdown document, from `line` up to and without `endLine`, both counted from 0. */
export interface MarkdownNode {
  /** Such as `heading`, `paragraph`, `code`, `list`, `item`, `blockquote`, `table`, `row`, `html`, `hr`. */
  readonly type: string
  readonly line: number
  readonly endLine: number
  /** The level of a heading: 1 to 6. */
  readonly level?: number
  /** The text after the fence of a code block. */
  readonly language?: string
  /** Whether a list is numbered. */
  readonly ordered?: boolean
  /** Whether an item of a task list is done. */
  readonly checked?: boolean
  /** The source text of the block; for a code block, the code. */
  readonly text?: string
  readonly children?: readonly MarkdownNode[]
}

/** The part of a token of `marked` that is used. */
interface BlockToken {
  readonly type: string
  readonly raw: string
  readonly text?: string
  readonly depth?: number
  readonly lang?: string
  readonly ordered?: boolean
  readonly task?: boolean
  readonly checked?: boolean
  readonly tokens?: readonly BlockToken[]
  readonly items?: readonly BlockToken[]
  readonly header?: readonly { readonly text: string }[]
  readonly rows?: readonly (readonly { readonly text: string }[])[]
}

/** Characters that are parsed at once. */
const parsedPieceLength = 65_536
/** The most characters of one block, which the parser reads at once: less than 100 ms of work. */
const longestBlock = 2_097_152
const longestOf: Readonly<Record<string, number>> = { list: 131_072, blockquote: 131_072, table: 262_144 }
/** The most blocks of a document, with those within them. */
const mostNodes = 1_000_000
/** The limit of nesting: the sum of each line's characters times the quotes and lists that its beginning could open. */
const mostNested = 2_500_000
/** The limit of a list item: its lines times its characters, since the parser reads all of it again for each line. */
const mostInItem = 40_000_000

/** The blocks of a document, and the lexer that knows its link definitions. */
export interface Blocks {
  readonly nodes: readonly MarkdownNode[]
  /** Parses the inline text of a block. */
  readonly lexer: Lexer
}

/**
 * Parses the blocks of a document piece by piece, so that other tasks run between them. The last block of a piece may be incomplete,
 * so the next piece begins with it.
 *
 * @param text Its lines end with `\n`.
 * @param firstLine The number of the first line.
 */
export async function readBlocks(text: string, firstLine: number): Promise<Blocks> {
  // Fresh options, since the application may have changed the defaults of `marked`.
  const lexer = new Lexer({ ...getDefaults(), gfm: true })
  const pace = new WorkPace(Infinity, new AbortController().signal)
  const maker = new NodeMaker()
  const nodes: MarkdownNode[] = []
  let line = firstLine
  for (let at = 0, size = parsedPieceLength; at < text.length;) {
    const end = text.indexOf('\n', at + size) + 1 || text.length
    const tokens = lex(lexer, text.slice(at, end), line)
    const completeTokens = end === text.length ? tokens : withoutLast(tokens)
    if (completeTokens.length === 0) {
      const most = Math.min(longestBlock, ...tokens.map(({ type }) => longestOf[type] ?? longestBlock))
      if (size >= most) throw tooMuch(line, `is part of a block of more than ${most.toLocaleString('en')} characters`)
      await pace.pause() // the longer piece is read from its beginning
      size *= 2
      continue
    }
    for (const node of maker.nodes(completeTokens, line)) nodes.push(node)
    for (const { raw } of completeTokens) {
      line += newlines(raw)
      at += raw.length
    }
    size = parsedPieceLength
    if (pace.isDue(1_000_000)) await pace.pause()
  }
  return { nodes, lexer }
}

/** Returns the tokens that more text cannot change. */
function withoutLast(tokens: readonly BlockToken[]): readonly BlockToken[] {
  const last = tokens.findLastIndex(({ type }) => type !== 'space')
  return tokens.slice(0, Math.max(0, last))
}

function lex(lexer: Lexer, text: string, line: number): readonly BlockToken[] {
  let nested = 0
  let item = { lines: 0, characters: 0 }
  for (const each of text.split('\n')) {
    nested += (each.length * (/^[\s>*+\-.)\d]*/.exec(each)?.[0].length ?? 0)) / 2
    if (/^(?:[*+-]|\d{1,9}[.)])(?:\s|$)/.test(each)) item = { lines: 1, characters: each.length }
    else if (item.lines > 0) item = { lines: item.lines + 1, characters: item.characters + each.length + 1 }
    if (nested > mostNested) throw tooMuch(line, 'and those after it are nested too deeply')
    if (item.lines * item.characters > mostInItem) throw tooMuch(line, 'and those after it are too much for one item')
  }
  try {
    return lexer.blockTokens(text)
  } catch (cause) {
    if (cause instanceof RangeError) throw tooMuch(line, 'and those after it are nested too deeply', cause)
    throw cause
  } finally {
    lexer.inlineQueue = [] // inline text is parsed on demand
  }
}

function tooMuch(line: number, what: string, cause?: unknown): ArtifactError {
  return new ArtifactError(
    `The Markdown cannot be parsed: line ${line} (counted from 0) ${what}. Ask about its lines instead.`,
    { cause },
  )
}

/** Makes nodes of tokens. Throws if there are too many. */
class NodeMaker {
  #left = mostNodes

  nodes(tokens: readonly BlockToken[], first: number): MarkdownNode[] {
    const nodes: MarkdownNode[] = []
    let line = first
    for (const token of tokens) {
      if (!unshown.includes(token.type)) nodes.push(this.#node(token, line))
      line += newlines(token.raw)
    }
    return nodes
  }

  #node(token: BlockToken, line: number): MarkdownNode {
    const { type, raw, text, depth, lang = '', ordered, task, checked } = token
    if (this.#left-- <= 0) throw tooMuch(line, `comes after ${mostNodes.toLocaleString('en')} blocks`)
    const place = { line, endLine: line + newlines(raw) + 1 - newlinesAtEnd(raw) }
    if (type === 'table') {
      const children = tableRows(token, line)
      this.#left -= children.length
      return { type, ...place, children }
    }
    const children = this.nodes(token.items ?? (nests.includes(type) ? token.tokens : undefined) ?? [], line)
    const [first] = children
    if (task === true && first?.text !== undefined) {
      children[0] = { ...first, text: first.text.replace(/^\[[ xX]\]\s+/, '') }
    }
    return {
      type: type === 'list_item' ? 'item' : type === 'text' ? 'paragraph' : type,
      ...place,
      ...(depth === undefined ? undefined : { level: depth }),
      ...(type === 'code' && lang !== '' ? { language: lang } : undefined),
      ...(type === 'list' ? { ordered: ordered === true } : undefined),
      ...(task === true ? { checked: checked === true } : undefined),
      ...(children.length > 0 ? { children } : type === 'hr' || text === undefined ? undefined : { text }),
    }
  }
}

const unshown = ['space', 'def', 'checkbox']
const nests = ['blockquote', 'list_item']

/** Counts the newlines at the end of a text. */
function newlinesAtEnd(text: string): number {
  let count = 0
  while (text[text.length - 1 - count] === '\n') count++
  return count
}

function tableRows({ header = [], rows = [] }: BlockToken, line: number): MarkdownNode[] {
  // The second line says how the columns are aligned.
  return [header, ...rows].map((cells, index) => {
    const at = line + index + (index > 0 ? 1 : 0)
    return { type: 'row', line: at, endLine: at + 1, text: cells.map(({ text }) => text).join(' | ') }
  })
}

function newlines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}
