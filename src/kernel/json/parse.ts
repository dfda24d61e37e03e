import { deepest, tooLarge, uncanonical } from './canonical.ts'
import { put } from './copy.ts'
import { isLonger, isWellFormed } from './text.ts'
import { InvalidToolArgsError } from '../errors.ts'

/** Parses the args of a call as `parseJson` does, and blank text as `{}`: some models send it for no args. */
export function parseArgs(text: string, limit: number = 262_144): unknown {
  return text.length <= limit && !/[^\t\n\r ]/.test(text) ? {} : parseJson(text, { limit })
}

/**
 * Parses JSON text that every parser reads as the same value. Refuses duplicate keys, lone surrogates, numbers beyond the
 * range of a double, and a byte order mark. `__proto__` is a key like any other.
 *
 * @param text JSON text as in RFC 8259.
 * @param options `limit`: the maximum length of the text in bytes of UTF-8 (default 262,144); `depth`: how deeply arrays and
 *   objects may nest, at most 1,000 (default 256).
 * @throws `E_INVALID_TOOL_ARGS` if the text is not JSON; the message has the position.
 * @throws `E_UNCANONICAL_ARGS` if the text is JSON, but ambiguous, too deep or too large.
 * @example
 * parseJson('{"city": "Oslo"}') // { city: 'Oslo' }
 * @see https://www.rfc-editor.org/rfc/rfc8259
 * @see https://www.rfc-editor.org/rfc/rfc7493
 */
export function parseJson(text: string, options: { limit?: number; depth?: number } = {}): unknown {
  const { limit = 262_144, depth = deepest } = options
  const levels = Math.min(depth, 1_000)
  if (isLonger(text, limit)) throw tooLarge(limit)
  // The engine's parser makes the value, and cheap counts find what it gets wrong. The slow reader makes the error message.
  try {
    const value: Json = JSON.parse(text)
    const members = countMembers(text, levels)
    if (countOwn(value, /\\u/.test(text)) === members && isWellFormed(text) && countOwn({}, false) === 0) return value
  } catch {
    // The slow reader below makes a better error.
  }
  return readJson(text, levels)
}

/**
 * Counts the colons outside strings, which in valid JSON is the number of members, duplicates included. Returns -1 if the text
 * is too deep, or has an escape in a key: V8 13.6 may mistake such a key for an earlier one.
 */
function countMembers(text: string, levels: number): number {
  let members = 0
  let level = 0
  let key = 0
  let escape = 0 // where the next backslash is, from the last key on
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) {
      key = index
      index = endOfString(text, index + 1)
    } else if (code === 0x3a) {
      members++
      if (escape < key) escape = text.indexOf('\\', key)
      if (escape < 0) escape = text.length
      if (escape < index) return -1
    } else if ((code | 0x20) === 0x7b) {
      if (++level > levels) return -1
    } else if ((code | 0x20) === 0x7d) level--
  }
  return members
}

/** Finds the closing quote of a string: by a loop in short strings, by the faster search of the engine in long ones. */
function endOfString(text: string, start: number): number {
  let index = start
  for (const near = start + 32; index < near; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) return index
    if (code === 0x5c) index++
  }
  for (;;) {
    const quote = text.indexOf('"', index)
    if (quote < 0) return text.length
    let backslash = quote
    while (backslash > index && text.charCodeAt(backslash - 1) === 0x5c) backslash--
    if ((quote - backslash) % 2 === 0) return quote
    index = quote + 1
  }
}

/**
 * Counts the members of a value, and what each object inherits: nothing, unless `Object.prototype` was polluted. Returns `NaN`,
 * which equals no count, if the value holds something forbidden.
 */
function countOwn(value: Json, strict: boolean): number {
  if (typeof value === 'string') return strict && !isWellFormed(value) ? Number.NaN : 0
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : Number.NaN
  if (typeof value !== 'object' || value === null) return 0
  let members = 0
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) members += countOwn(value[index]!, strict)
    return members
  }
  for (const key in value) {
    if (strict && !isWellFormed(key)) return Number.NaN
    members += 1 + countOwn(value[key]!, strict)
  }
  return members
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Reads the text slowly from left to right, and throws at the first fault with its exact position. Exported for its tests. */
export function readJson(text: string, levels: number): unknown {
  /** The keys and indices of the open containers, outermost first; `undefined` while a key is read. */
  const open: (string | number | undefined)[] = []
  let at = 0

  const path = (): PropertyKey[] => open.flatMap((key) => key ?? [])
  const where = (position: number): string => {
    const before = text.slice(0, position)
    const line = before.split('\n').length
    return `position ${position} (line ${line}, column ${position - before.lastIndexOf('\n')})`
  }
  const unexpected = (expected: string): never => {
    const found = /^(?:[\w.+-]{1,32}|[^])/u.exec(text.slice(at, at + 40))?.[0]
    const excerpt =
      found === undefined ? 'the end of the text' : found === '\ufeff' ? 'a byte order mark' : JSON.stringify(found)
    const message = `expected ${expected} at ${where(at)}, found ${excerpt}.`
    throw new InvalidToolArgsError(`The args are not valid JSON: ${message}`, { issues: [{ message, path: path() }] })
  }
  const ambiguous = (position: number, reason: string, next: string): never => {
    throw uncanonical(`${reason} at ${where(position)}. ${next}`, path())
  }
  /** Reads what a sticky pattern matches at this position: an empty string if it does not match. */
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0] ?? ''
    at += found.length
    return found
  }
  const space = (): void => {
    if (text.charCodeAt(at) <= 0x20) match(/[\t\n\r ]*/y)
  }
  /** Reads a string, starting at its opening quote. */
  const string = (): string => {
    const start = at++
    for (; match(/[ !#-[\]-\uffff]*/y), text[at] !== '"'; at++) {
      if (at >= text.length) unexpected('a closing quote')
      if (text[at] !== '\\') unexpected('a closing quote, or this character as an escape')
      at++
      if (!'"\\/bfnrtu'.includes(text[at] ?? '-')) unexpected('one of " \\ / b f n r t u after the backslash')
      if (text[at] !== 'u') continue
      for (let end = at + 4; at < end;) {
        at++
        if (!/[\da-f]/i.test(text[at] ?? '-')) unexpected('four hexadecimal digits after \\u')
      }
    }
    at++
    const raw = text.slice(start, at)
    const value: string = raw.includes('\\') ? JSON.parse(raw) : raw.slice(1, -1)
    if (!isWellFormed(value) || !isWellFormed(raw)) {
      ambiguous(start, 'there is a lone surrogate in the string', 'Send whole characters')
    }
    return value
  }
  const number = (): number => {
    const start = at
    const digits = match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y)
    const cut = match(digits === '' ? /-/y : /\.|[eE][+-]?/y)
    if (cut !== '') unexpected('a digit')
    if (!Number.isFinite(Number(digits))) {
      ambiguous(start, 'there is a number beyond the range of a double', 'Send a smaller one, or a string')
    }
    return Number(digits)
  }
  const value = (expected: string): unknown => {
    space()
    const first = text[at] ?? ''
    if (first === '{') return object()
    if (first === '[') return array()
    if (first === '"') return string()
    if (/[-\d]/.test(first)) return number()
    const literal = match(/true|false|null/y)
    return literal === '' ? unexpected(expected) : (JSON.parse(literal) as unknown)
  }
  /** Reads a container, starting at its bracket. `next` reads one item, or one member with its key. */
  const container = (close: '}' | ']', next: () => void): void => {
    if (open.length === levels) {
      ambiguous(at, `there are more than ${levels} levels of arrays and objects`, 'Send a flatter value')
    }
    at++
    open.push(undefined)
    space()
    for (let isFirst = true; text[at] !== close; isFirst = false, space()) {
      if (!isFirst) {
        if (text[at] !== ',') unexpected(`"," or "${close}"`)
        at++
        space()
      }
      next()
    }
    at++
    open.pop()
  }
  const array = (): unknown[] => {
    const items: unknown[] = []
    container(']', () => {
      open[open.length - 1] = items.length
      items.push(value(items.length === 0 ? 'a value or "]"' : 'a value'))
    })
    return items
  }
  const object = (): Record<string, unknown> => {
    const members: Record<string, unknown> = {}
    let expected = 'a key in double quotes or "}"'
    container('}', () => {
      if (text[at] !== '"') unexpected(expected)
      expected = 'a key in double quotes'
      const start = at
      open[open.length - 1] = undefined
      const key = string()
      open[open.length - 1] = key
      if (Object.hasOwn(members, key)) ambiguous(start, 'the key comes a second time', 'Send each key once')
      space()
      if (text[at] !== ':') unexpected('":"')
      at++
      put(members, key, value('a value'))
    })
    return members
  }

  const root = value('a value')
  space()
  return at < text.length ? unexpected('the end of the text') : root
}
