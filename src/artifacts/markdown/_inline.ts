import type { Lexer } from 'marked'
import type { MarkdownNode } from './_blocks.ts'

/** A link, and the line at which it stands. */
export interface MarkdownLink {
  readonly text: string
  readonly url: string
  readonly title?: string
  readonly line: number
}

/** An image, and the line at which it stands. */
export interface MarkdownImage {
  readonly alt: string
  readonly url: string
  readonly title?: string
  readonly line: number
}

/** What is used of a token of `marked`. */
interface Token {
  readonly type: string
  readonly raw: string
  readonly text?: string
  readonly href?: string
  readonly title?: string | null
  readonly tokens?: readonly Token[]
}

/** Characters that are parsed together: on what is made for it the parser takes time with the square of them. */
export const longestPiece = 2_000

/** Every node that says something, with those that it is in, however deep they are. */
export function* textNodes(nodes: readonly MarkdownNode[]): Generator<MarkdownNode> {
  const waiting = nodes.toReversed()
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.children !== undefined) for (const child of node.children.toReversed()) waiting.push(child)
    else if (node.text !== undefined) yield node
  }
}

/** What a node says, without the marks. Before it comes `undefined` after each piece, where others may have a turn. */
export function* plainText({ type, text = '' }: MarkdownNode, lexer: Lexer): Generator<string | undefined> {
  if (type === 'code' || type === 'html') return yield type === 'code' ? text : ''
  let plain = ''
  for (const { tokens } of pieces(text, lexer)) {
    plain += plainOf(tokens)
    yield undefined
  }
  yield plain
}

function plainOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'html') return ''
      if (token.type === 'br') return '\n'
      return token.tokens === undefined ? (token.text ?? token.raw) : plainOf(token.tokens)
    })
    .join('')
}

/** The links that a node has, or the images, of which the text is the description; `undefined` after each piece. */
export function* references(
  node: MarkdownNode,
  kind: 'link' | 'image',
  lexer: Lexer,
): Generator<MarkdownLink | undefined> {
  const { type, text = '', line } = node
  if (type === 'code' || type === 'html' || !/[[<@]|:\/\/|www\./i.test(text)) return
  for (const { tokens, line: offset } of pieces(text, lexer)) {
    yield* referencesIn(tokens, kind, line + offset)
    yield undefined
  }
}

function* referencesIn(tokens: readonly Token[], kind: string, first: number): Generator<MarkdownLink> {
  let line = first
  for (const token of tokens) {
    if (token.type === kind) {
      const text = plainOf(token.tokens ?? [token])
      const title = token.title === undefined || token.title === null ? undefined : { title: token.title }
      yield { text, url: token.href ?? '', ...title, line }
    }
    if (token.tokens !== undefined) yield* referencesIn(token.tokens, kind, line)
    line += token.raw.split('\n').length - 1
  }
}

/** Long text is parsed in pieces that end at a space outside of brackets, where there is one. */
function* pieces(text: string, lexer: Lexer): Generator<{ readonly tokens: readonly Token[]; readonly line: number }> {
  let line = 0
  for (let at = 0; at < text.length;) {
    const end = text.length - at <= longestPiece ? text.length : at + endOfPiece(text.slice(at, at + longestPiece))
    const piece = text.slice(at, end)
    yield { tokens: lexed(piece, lexer), line }
    line += piece.split('\n').length - 1
    at = end
  }
}

function endOfPiece(text: string): number {
  let depth = 0
  let best = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!
    if (character === '[' || character === '(') depth++
    else if (character === ']' || character === ')') depth--
    else if ((character === ' ' || character === '\n') && depth <= 0) best = index + 1
  }
  return best > 0 ? best : text.length
}

function lexed(text: string, lexer: Lexer): readonly Token[] {
  Object.assign(lexer.state, { inLink: false, inRawBlock: false }) // what another piece has left open
  try {
    return lexer.inlineTokens(text)
  } catch (cause) {
    if (cause instanceof RangeError) return [{ type: 'text', raw: text, text }] // nested deeper than the stack goes
    throw cause
  }
}
