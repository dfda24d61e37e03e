import { sha256 } from '#sha256'
import { UncanonicalArgsError } from './errors.ts'
import { isWellFormed, utf8Length } from './text.ts'

/** How deeply arrays and objects may nest, in args of any origin. */
export const deepest = 256

// No engine makes a longer string, so this is "no limit", and small enough to be compared as an integer.
const unlimited = 0x3fff_ffff

/**
 * Writes a value as canonical JSON: the one text that equal values have in every language.
 *
 * Members that are `undefined` drop out of objects and become `null` in arrays, as in JSON. `toJSON` is not asked.
 *
 * @param value Null, a boolean, a finite number, a string, or an array or plain object of these, at most 256 deep.
 * @param limit The most that the text may have, in bytes of UTF-8. Default: none.
 * @returns The text, byte for byte that of RFC 8785.
 * @throws {UncanonicalArgsError} E_UNCANONICAL_ARGS: the value is not JSON, refers to itself, or is too deep or too large;
 *   `issues` holds the one place where writing stopped.
 * @example
 * canonicalize({ b: 1.0, a: [undefined] }) // '{"a":[null],"b":1}'
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export function canonicalize(value: unknown, limit: number = unlimited): string {
  return written(value, new Writer(limit, false), limit)
}

/**
 * Writes a value as canonical JSON, and gives the value that the text stands for: made of what was read for the text, so that
 * nobody who holds the first value can make the two differ.
 *
 * @throws {UncanonicalArgsError} E_UNCANONICAL_ARGS, as `canonicalize`.
 */
export function snapshot(value: unknown, limit: number): { readonly text: string; readonly value: unknown } {
  const writer = new Writer(limit, true)
  return { text: written(value, writer, limit), value: writer.copy }
}

function written(value: unknown, writer: Writer, limit: number): string {
  let text: string
  try {
    text = writer.write('', value)
  } catch (thrown) {
    throw writer.refusal ?? writer.refuse('this cannot be read. Pass plain data', thrown)
  }
  if (text.length * 3 > limit && utf8Length(text) > limit) throw tooLarge(limit)
  return text
}

/**
 * Gives the content identity of a call whose args are canonical already.
 *
 * @param toolName The resolved tool's own name, never an alias.
 * @param canonicalArgs What `canonicalize` made of the args.
 * @returns 64 lower-case hex digits: the SHA-256 of the canonical text of `{ args, tool }`.
 * @throws {UncanonicalArgsError} E_UNCANONICAL_ARGS: the name holds a lone surrogate.
 * @example
 * callIdOf('get_forecast', canonicalize({ city: 'Oslo' }))
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export function callIdOf(toolName: string, canonicalArgs: string): string {
  return sha256('{"args":' + canonicalArgs + ',"tool":' + canonicalize(toolName) + '}')
}

/**
 * Gives the content identity of a call: the same for the same tool and args on every machine, whatever their key order.
 *
 * @param toolName The resolved tool's own name, never an alias.
 * @param args The args before validation; `undefined` counts as `{}`.
 * @returns 64 lower-case hex digits: the SHA-256 of the canonical text of `{ args, tool }`.
 * @throws {UncanonicalArgsError} E_UNCANONICAL_ARGS: the args are not JSON, refer to themselves, or are too deep.
 * @example
 * computeCallId('get_forecast', { city: 'Oslo' }) === computeCallId('get_forecast', JSON.parse('{ "city": "Oslo" }'))
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export function computeCallId(toolName: string, args: unknown): string {
  return callIdOf(toolName, args === undefined ? '{}' : canonicalize(args))
}

class Writer {
  readonly limit: number
  /** The containers that are being written, outermost first. */
  readonly open: object[] = []
  /** For each of them the key of the member that is being written; `undefined` before the first. */
  readonly path: (PropertyKey | undefined)[] = []
  refusal: UncanonicalArgsError | undefined
  /** Whether the value is copied while it is written, and the copy of what was written last. */
  readonly copies: boolean
  copy: unknown = undefined

  constructor(limit: number, copies: boolean) {
    this.limit = Math.min(limit, unlimited)
    this.copies = copies
  }

  /** Appends to the text instead of returning pieces, so that its length is the running count for the limit. */
  write(text: string, value: unknown): string {
    if (text.length > this.limit) throw (this.refusal = tooLarge(this.limit))
    if (this.copies) this.copy = value // of arrays and objects, replaced below
    switch (typeof value) {
      case 'string':
        if (value.length > this.limit) throw (this.refusal = tooLarge(this.limit))
        return text + this.quote(value)
      case 'number':
        if (!Number.isFinite(value)) throw this.refuse(`${value} is not JSON. Pass a finite number or null`)
        return text + value
      case 'boolean':
        return text + value
      case 'object':
        return value === null ? text + 'null' : this.writeContainer(text, value)
      case 'undefined':
      case 'bigint':
      case 'symbol':
      case 'function':
        break
    }
    throw this.refuse(describe(value))
  }

  writeContainer(text: string, container: object): string {
    const { open, path } = this
    const level = open.length
    if (!Array.isArray(container) && !isPlain(container)) throw this.refuse(describe(container))
    for (let outer = 0; outer < level; outer++) {
      if (open[outer] === container) {
        throw this.refuse(`this refers to itself, being ${pathText(path.slice(0, outer))}. Leave the reference out`)
      }
    }
    if (level === deepest) throw this.refuse(`this is nested deeper than ${deepest} levels. Pass a flatter value`)
    open.push(container)
    path[level] = undefined
    text = Array.isArray(container) ? this.writeArray(text, container, level) : this.writeObject(text, container, level)
    open.pop()
    return text
  }

  writeArray(text: string, array: readonly unknown[], level: number): string {
    const { length } = array
    const copy: unknown[] = []
    text += '['
    for (let index = 0; index < length; index++) {
      this.path[level] = index
      const element = array[index]
      if (index > 0) text += ','
      text = this.write(text, element === undefined ? null : element)
      if (this.copies) copy.push(this.copy)
    }
    this.copy = copy
    return text + ']'
  }

  writeObject(text: string, object: Record<string, unknown>, level: number): string {
    const keys = inOrder(Object.keys(object))
    const copy: Record<string, unknown> = {}
    let before = '{"'
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!
      this.path[level] = key
      // Read once: a getter must not show one value here and another below.
      const member = object[key]
      if (member === undefined) continue
      const name = isPlainText(key) ? before + key + '":' : before.slice(0, 1) + this.quote(key) + ':'
      text = this.write(text + name, member)
      if (this.copies) put(copy, key, this.copy)
      before = ',"'
    }
    this.copy = copy
    return before === '{"' ? text + '{}' : text + '}'
  }

  quote(value: string): string {
    if (isPlainText(value)) return '"' + value + '"'
    if (!isWellFormed(value)) {
      throw this.refuse('a string with a lone surrogate has no UTF-8. Remove it, for example with toWellFormed()')
    }
    return JSON.stringify(value)
  }

  refuse(reason: string, cause?: unknown): UncanonicalArgsError {
    return (this.refusal = uncanonical(reason, this.path.slice(0, this.open.length), cause))
  }
}

// Also another realm's plain objects: their prototype is not ours, but ends its chain and has what only `Object.prototype` has.
function isPlain(object: object): object is Record<string, unknown> {
  const prototype: object | null = Object.getPrototypeOf(object)
  if (prototype === Object.prototype || prototype === null) return true
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf')
}

/** Sets a member, also one whose name would change the prototype if it were assigned. */
function put(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  } else object[key] = value
}

/** Sorts by UTF-16 code units, as the RFC wants; most objects have few keys or are in order. */
function inOrder(keys: string[]): string[] {
  if (keys.length > 24) return keys.toSorted()
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index]!
    let place = index
    while (place > 0 && keys[place - 1]! > key) keys[place] = keys[--place]!
    keys[place] = key
  }
  return keys
}

const special = /[^ !#-[\]-\ud7ff\ue000-\uffff]/

/** Whether a string is its own JSON between quotes. A loop is faster than a call into the engine where it ends soon. */
function isPlainText(value: string): boolean {
  if (value.length > 32) return !special.test(value)
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index)
    if (code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) return false
  }
  return true
}

/** Writes a path as code would read it: `args.items[3].when`. */
export function pathText(path: readonly (PropertyKey | undefined)[], root = 'args'): string {
  let text = root
  for (const key of path) {
    if (text.length > 160) return text + '…'
    if (typeof key === 'number') text += `[${key}]`
    else if (/^[\p{ID_Start}$_][\p{ID_Continue}$]{0,63}$/u.test(String(key))) text += `.${String(key)}`
    else text += `[${JSON.stringify(String(key).slice(0, 64))}]`
  }
  return text
}

/** Makes the error for args that have no canonical form; the reason is a clause, and tells what to do next. */
export function uncanonical(
  reason: string,
  path: readonly (PropertyKey | undefined)[],
  cause?: unknown,
): UncanonicalArgsError {
  const known = path.filter((key) => key !== undefined)
  const place = known.length > 0 ? ` at ${pathText(known)}` : ''
  const issues = [{ message: reason, path: known }]
  return new UncanonicalArgsError(`The args cannot be identified${place}: ${reason}.`, { issues, cause })
}

/** Makes the error for args that are over the limit. */
export function tooLarge(limit: number): UncanonicalArgsError {
  return uncanonical(`they are larger than ${limit} bytes of JSON. Send less, or a reference to it`, [])
}

const instead = new Map([
  ['Date', 'its toISOString()'],
  ['Map', 'Object.fromEntries(map)'],
  ['Set', 'an array of its values'],
  ['Promise', 'what it resolves to'],
  ['ArrayBuffer', 'base64 text'],
  ['bigint', 'a string of its digits'],
  ['undefined', 'null, or {} for no args'],
])

function describe(value: unknown): string {
  let kind: string = typeof value
  if (typeof value === 'object') {
    const name: unknown = value?.constructor?.name
    kind = typeof name === 'string' && name !== '' ? name.slice(0, 64) : 'class instance'
  }
  const next =
    instead.get(ArrayBuffer.isView(value) ? 'ArrayBuffer' : kind) ??
    (typeof value === 'object' ? 'a plain object' : 'data, or leave it out')
  const article = kind === 'undefined' ? '' : /^[aeiou]/i.test(kind) ? 'an ' : 'a '
  return `${article}${kind} is not JSON. Pass ${next}`
}
