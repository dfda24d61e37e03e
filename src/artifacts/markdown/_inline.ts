import type { Lexer } from 'marked'
import type { MarkdownNode } from './_blocks.ts'

/** A link and its line. */
export interface MarkdownLink {
  readonly text: string
  readonly url: string
  readonly title?: string
  readonly line: number
}

/** An image and its line. */
export interface MarkdownImage {
  readonly alt: string
  readonly url: string
  readonly title?: string
  readonly line: number
}

/** The part of a token of `marked` that is used. */
interface InlineToken {
  readonly type: string
  readonly raw: string
  readonly text?: string
  readonly href?: string
  readonly title?: string | null
  readonly tokens?: readonly InlineToken[]
}

/** The most characters that are parsed together, since hostile text takes quadratic time. */
export const longestPiece = 2_000

/** Yields every node with text, at any depth, in document order. */
export function* textNodes(nodes: readonly MarkdownNode[]): Generator<MarkdownNode> {
  const waiting = nodes.toReversed()
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.children !== undefined) for (const child of node.children.toReversed()) waiting.push(child)
    else if (node.text !== undefined) yield node
  }
}

/** Yields `undefined` after each piece, so that other tasks can run, then a node's text without Markdown syntax. */
export function* plainText({ type, text = '' }: MarkdownNode, lexer: Lexer): Generator<string | undefined> {
  if (type === 'code' || type === 'html') return yield type === 'code' ? text : ''
  let plain = ''
  for (const { tokens } of pieces(text, lexer)) {
    plain += plainOf(tokens)
    yield undefined
  }
  yield plain
}

function plainOf(tokens: readonly InlineToken[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'html') return ''
      if (token.type === 'br') return '\n'
      return token.tokens === undefined ? (token.text ?? token.raw) : plainOf(token.tokens)
    })
    .join('')
}

/** Yields the links or images of a node, and `undefined` after each piece. The text of an image is its description. */
export function* linksOf(
  node: MarkdownNode,
  kind: 'link' | 'image',
  lexer: Lexer,
): Generator<MarkdownLink | undefined> {
  const { type, text = '', line } = node
  if (type === 'code' || type === 'html' || !/[[<@]|:\/\/|www\./i.test(text)) return
  for (const { tokens, line: offset } of pieces(text, lexer)) {
    yield* linksIn(tokens, kind, line + offset)
    yield undefined
  }
}

function* linksIn(tokens: readonly InlineToken[], kind: string, first: number): Generator<MarkdownLink> {
  let line = first
  for (const token of tokens) {
    if (token.type === kind) {
      const text = plainOf(token.tokens ?? [token])
      const title = token.title === undefined || token.title === null ? undefined : { title: token.title }
      yield { text, url: token.href ?? '', ...title, line }
    }
    if (token.tokens !== undefined) yield* linksIn(token.tokens, kind, line)
    line += token.raw.split('\n').length - 1
  }
}

/** Parses long text in pieces. A piece ends at a space outside of brackets if it has one. */
function* pieces(
  text: string,
  lexer: Lexer,
): Generator<{ readonly tokens: readonly InlineToken[]; readonly line: number }> {
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

function lexed(text: string, lexer: Lexer): readonly InlineToken[] {
  Object.assign(lexer.state, { inLink: false, inRawBlock: false }) // a former piece may have left them set
  try {
    return lexer.inlineTokens(text)
  } catch (cause) {
    if (cause instanceof RangeError) return [{ type: 'text', raw: text, text }] // nested deeper than the stack
    throw cause
  }
}
