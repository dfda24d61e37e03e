import { ArtifactError } from '../errors.ts'
import { escapeDeceptive } from '../extension.ts'

/** The most that one answer shows to a model. */
export interface AnswerLimits {
  readonly bytes: number
  readonly lines: number
}

/** Bytes of an answer that are reserved for the note about it. */
export const forWords = 400

/** Escapes deceptive characters, except tabs and the ends of lines. */
export function quotedText(text: string): string {
  return escapeDeceptive(text.toWellFormed(), '\n\t')
}

export function byteLengthOf(text: string): number {
  return new TextEncoder().encode(text).byteLength
}

/** Returns as much of a text's beginning, escaped, as fits into `bytes`. Splits no character. */
export function beginningWithin(text: string, bytes: number): { readonly text: string; readonly length: number } {
  const fullText = quotedText(text)
  if (byteLengthOf(fullText) <= bytes) return { text: fullText, length: text.length }
  let result = ''
  let length = 0
  let left = bytes
  for (const character of text) {
    const part = quotedText(character)
    left -= byteLengthOf(part)
    if (left < 0) break
    result += part
    length += character.length
  }
  return { text: result, length }
}

/** Returns an answer: the body, then a note in parentheses. */
export function withNote(body: string, words = ''): string {
  return words === '' ? body : body === '' ? `(${words})` : `${body}\n(${words})`
}

/** Collects lines within the limits of an answer. */
export class AnswerPage {
  readonly lines: string[] = []
  readonly #most: number
  #left: number

  constructor({ bytes, lines }: AnswerLimits) {
    this.#left = bytes - forWords
    this.#most = lines
  }

  /** Bytes left for one more line. */
  get left(): number {
    return this.lines.length < this.#most ? this.#left - 1 : 0
  }

  /** Adds escaped lines, all or none. Returns whether they fit. */
  add(...lines: readonly string[]): boolean {
    const bytes = lines.reduce((sum, line) => sum + byteLengthOf(line) + 1, 0)
    if (bytes > this.#left || this.lines.length + lines.length > this.#most) return false
    this.#left -= bytes
    this.lines.push(...lines)
    return true
  }

  get text(): string {
    return this.lines.join('\n')
  }
}

/**
 * Returns a text as an answer, cut if it is too long.
 *
 * @param text The unescaped text of a query.
 */
export function textAnswer(text: string, limits: AnswerLimits): string {
  if (text === '') return withNote('', 'The answer is empty.')
  const fullText = quotedText(text)
  const lines = text.split('\n')
  if (lines.length <= limits.lines && byteLengthOf(fullText) <= limits.bytes) return fullText
  const page = new AnswerPage(limits)
  for (const line of lines) if (!page.add(quotedText(line))) break
  const count = page.lines.length
  if (count > 0)
    return withNote(
      page.text,
      `Truncated: the first ${count} of ${lines.length} lines of the answer are shown. Ask for less at once.`,
    )
  const start = beginningWithin(lines[0] ?? '', page.left)
  return withNote(
    start.text,
    `Truncated: the first ${start.length} of ${text.length} characters of the answer are shown. Ask for less at once.`,
  )
}

/**
 * Returns a JSON value as an answer. If it is too long, whole items or members are left out: the rest is still JSON.
 *
 * @param start The index of the first item in the whole list. Default: the query has no `start`, so the model cannot go on.
 */
export function jsonAnswer(value: unknown, limits: AnswerLimits, start?: number): string {
  if (value === undefined) return withNote('', 'There is nothing there.')
  const fullText = jsonWithin(value, limits.bytes)
  if (fullText !== undefined) return fullText
  const left = limits.bytes - forWords
  if (Array.isArray(value)) return arrayAnswer(value, left, start)
  if (typeof value === 'object' && value !== null) return objectAnswer(value as Record<string, unknown>, left)
  return textAnswer(typeof value === 'string' ? value : (safeJson(value) ?? typeof value), limits)
}

function arrayAnswer(items: readonly unknown[], bytes: number, start: number | undefined): string {
  const parts: string[] = []
  let left = bytes - 2
  for (const item of items) {
    const part = jsonWithin(item ?? null, left - 1)
    if (part === undefined) break
    parts.push(part)
    left -= byteLengthOf(part) + 1
  }
  const [first] = items
  const further = start === undefined ? '' : ` Go on with start: ${start + Math.max(1, parts.length)}.`
  if (parts.length > 0)
    return withNote(
      `[${parts.join(',')}]`,
      `Truncated: the first ${parts.length} of ${items.length} items are shown.${further}`,
    )
  return withNote(
    '',
    `Truncated: the first of ${items.length} items is too long to be shown: it is ${typeAndSize(first)}.${further}`,
  )
}

function objectAnswer(value: Readonly<Record<string, unknown>>, bytes: number): string {
  const parts: string[] = []
  const leftOut: string[] = []
  let left = bytes - 2
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue
    const part = jsonWithin({ [key]: member }, left + 1)?.slice(1, -1)
    if (part === undefined) leftOut.push(key)
    else {
      parts.push(part)
      left -= byteLengthOf(part) + 1
    }
  }
  const which = leftOut.map((key) => `${safeJson(key.slice(0, 60))}: ${typeAndSize(value[key])}`).join(', ')
  return withNote(
    `{${parts.join(',')}}`,
    `Truncated: ${leftOut.length} members are left out; ask for them one by one: ${beginningWithin(which, forWords - 120).text}`,
  )
}

/** Describes the type and size of a value in words. */
function typeAndSize(value: unknown): string {
  if (typeof value === 'string') return `a string of ${value.length} characters`
  if (Array.isArray(value)) return `an array of ${value.length} items`
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`
  const keys = Object.keys(value)
  return `an object of ${keys.length} keys (${beginningWithin(keys.slice(0, 12).join(', '), 120).text})`
}

/** Returns JSON text with escapes for characters that could deceive a reader. The value stays the same. */
function safeJson(value: unknown): string | undefined {
  const text = JSON.stringify(value) as string | undefined
  return text && escapeDeceptive(text)
}

/** Returns a value as JSON text, or `undefined` if that is longer than `bytes`. Stops at the limit, so a huge value costs little. */
function jsonWithin(value: unknown, bytes: number): string | undefined {
  let left = bytes
  const write = (node: unknown): string | undefined => {
    const { toJSON } = (node ?? {}) as { readonly toJSON?: unknown }
    const part: unknown = typeof toJSON === 'function' ? toJSON.call(node) : node
    if (typeof part === 'string' && part.length > left) return undefined
    if (typeof part !== 'object' || part === null) {
      const text = safeJson(part) ?? 'null'
      return (left -= byteLengthOf(text)) < 0 ? undefined : text
    }
    const isArray = Array.isArray(part)
    // JSON would show a Map, a promise or a marked value as `{}`.
    const parent: unknown = Object.getPrototypeOf(part)
    if (
      !isArray &&
      Object.keys(part).length === 0 &&
      (Reflect.ownKeys(part).length > 0 || Object.getPrototypeOf(parent ?? part))
    )
      throw new ArtifactError('JSON cannot show the answer: return text or plain values.')
    const texts: string[] = []
    for (const [key, member] of isArray ? part.entries() : Object.entries(part)) {
      if ((left -= 1) < 0) return undefined // the bracket or the comma before it
      if (!isArray && (member === undefined || typeof member === 'function')) continue
      const name = isArray ? '' : `${safeJson(key)}:`
      left -= byteLengthOf(name)
      const text = left < 0 ? undefined : write(member)
      if (text === undefined) return undefined
      texts.push(name + text)
    }
    if ((left -= texts.length === 0 ? 2 : 1) < 0) return undefined
    return isArray ? `[${texts.join(',')}]` : `{${texts.join(',')}}`
  }
  return write(value)
}
