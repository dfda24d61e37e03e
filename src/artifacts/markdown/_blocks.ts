import { getDefaults, Lexer } from 'marked'
import { ArtifactError } from '../../index.ts'
import { Pace } from '../_pace.ts'

/** A part of a Markdown document, from `line` up to and without `endLine`, both counted from 0. */
export interface MarkdownNode {
  /** Such as `heading`, `paragraph`, `code`, `list`, `item`, `blockquote`, `table`, `row`, `html`, `hr`. */
  readonly type: string
  readonly line: number
  readonly endLine: number
  /** Of a heading: 1 to 6. */
  readonly level?: number
  /** Of a code block: what stands behind its fence. */
  readonly language?: string
  /** Of a list: whether it is numbered. */
  readonly ordered?: boolean
  /** Of an item of a task list: whether it is done. */
  readonly checked?: boolean
  /** What it says, as it is written; of a code block the code. */
  readonly text?: string
  readonly children?: readonly MarkdownNode[]
}

/** What is used of a token of `marked`. */
interface Token {
  readonly type: string
  readonly raw: string
  readonly text?: string
  readonly depth?: number
  readonly lang?: string
  readonly ordered?: boolean
  readonly task?: boolean
  readonly checked?: boolean
  readonly tokens?: readonly Token[]
  readonly items?: readonly Token[]
  readonly header?: readonly { readonly text: string }[]
  readonly rows?: readonly (readonly { readonly text: string }[])[]
}

/** Characters that are parsed at once. */
const pieceLength = 65_536
/** Characters that one block may have: the parser takes less than 100 ms for what it has to read at once. */
const longestBlock = 2_097_152
const longestOf: Readonly<Record<string, number>> = { list: 131_072, blockquote: 131_072, table: 262_144 }
/** Blocks that a document may have, with those within them. */
const mostNodes = 1_000_000
/** How much may be nested: characters of lines, each times the quotes and lists that its beginning could open. */
const mostNested = 2_500_000
/** How long an item of a list may be: its lines times its characters, since the parser goes over all of it for each line. */
const mostInItem = 40_000_000

/** What a document is made of, and what its links refer to. */
export interface Blocks {
  readonly nodes: readonly MarkdownNode[]
  /** Reads what stands within a block. */
  readonly lexer: Lexer
}

/**
 * Parses the blocks of a document piece by piece, so that others have a turn meanwhile: all but the last block of a piece are
 * whole, and with that one the next piece begins.
 *
 * @param text Its lines end with `\n`.
 * @param firstLine The number of the first line.
 */
export async function readBlocks(text: string, firstLine: number): Promise<Blocks> {
  // The host may have changed the defaults of `marked` for its own purposes.
  const lexer = new Lexer({ ...getDefaults(), gfm: true })
  const pace = new Pace(Infinity, new AbortController().signal)
  const maker = new NodeMaker()
  const nodes: MarkdownNode[] = []
  let line = firstLine
  for (let at = 0, size = pieceLength; at < text.length;) {
    const end = text.indexOf('\n', at + size) + 1 || text.length
    const tokens = lex(lexer, text.slice(at, end), line)
    const whole = end === text.length ? tokens : withoutLast(tokens)
    if (whole.length === 0) {
      const most = Math.min(longestBlock, ...tokens.map(({ type }) => longestOf[type] ?? longestBlock))
      if (size >= most) throw tooMuch(line, `is part of a block of more than ${most.toLocaleString('en')} characters`)
      await pace.turn() // it is read again
      size *= 2
      continue
    }
    for (const node of maker.nodes(whole, line)) nodes.push(node)
    for (const { raw } of whole) {
      line += newlines(raw)
      at += raw.length
    }
    size = pieceLength
    if (pace.isDue(1_000_000)) await pace.turn()
  }
  return { nodes, lexer }
}

/** The tokens that more text would not change. */
function withoutLast(tokens: readonly Token[]): readonly Token[] {
  const last = tokens.findLastIndex(({ type }) => type !== 'space')
  return tokens.slice(0, Math.max(0, last))
}

function lex(lexer: Lexer, text: string, line: number): readonly Token[] {
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
    lexer.inlineQueue = [] // what stands within the blocks is read when it is asked for
  }
}

function tooMuch(line: number, what: string, cause?: unknown): ArtifactError {
  return new ArtifactError(
    `The Markdown cannot be parsed: line ${line} (counted from 0) ${what}. Ask about its lines instead.`,
    { cause },
  )
}

/** Makes nodes of tokens, and no more than there may be. */
class NodeMaker {
  #left = mostNodes

  nodes(tokens: readonly Token[], first: number): MarkdownNode[] {
    const nodes: MarkdownNode[] = []
    let line = first
    for (const token of tokens) {
      if (!unshown.includes(token.type)) nodes.push(this.#node(token, line))
      line += newlines(token.raw)
    }
    return nodes
  }

  #node(token: Token, line: number): MarkdownNode {
    const { type, raw, text, depth, lang = '', ordered, task, checked } = token
    if (this.#left-- <= 0) throw tooMuch(line, `comes after ${mostNodes.toLocaleString('en')} blocks`)
    const place = { line, endLine: line + newlines(raw) + 1 - endOf(raw) }
    if (type === 'table') {
      const children = rowsOf(token, line)
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

/** How many newlines a text ends with. */
function endOf(text: string): number {
  let count = 0
  while (text[text.length - 1 - count] === '\n') count++
  return count
}

function rowsOf({ header = [], rows = [] }: Token, line: number): MarkdownNode[] {
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
