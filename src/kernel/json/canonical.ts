import { sha256 } from '#sha256'
import { UncanonicalArgsError } from '../errors.ts'
import { isLonger, isWellFormed, pathText } from './text.ts'

/** How deeply arrays and objects in args may nest. */
export const deepest = 256

// No engine makes a longer string, so this means "no limit"; small enough to compare as an integer.
const unlimited = 0x3fff_ffff

/**
 * Writes a value as canonical JSON: the one text that equal values have in every language.
 *
 * As in JSON, `undefined` drops out of objects and becomes `null` in arrays. `toJSON` is not called.
 *
 * @param value Null, a boolean, a finite number, a string, or an array or plain object of these, at most 256 deep.
 * @param limit The maximum length of the text in bytes of UTF-8. Default: none.
 * @returns The text, byte for byte as in RFC 8785.
 * @throws `E_UNCANONICAL_ARGS` if the value is not JSON, refers to itself, or is too deep or too large;
 *   `issues` holds the one place at which writing stopped.
 * @example
 * canonicalize({ b: 1.0, a: [undefined] }) // '{"a":[null],"b":1}'
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export function canonicalize(value: unknown, limit: number = unlimited): string {
  const text = write(value, limit < unlimited ? limit : unlimited)
  if (isLonger(text, limit)) throw tooLarge(limit)
  return text
}

/** Counts no bytes: a program that only identifies calls carries no code for that. */
function write(value: unknown, limit = unlimited): string {
  const writer = spare ?? new Writer()
  spare = undefined
  const text = writer.whole(value, limit)
  spare = writer
  return text
}

/** An idle writer for the next text. It is taken out while it writes, since a getter may canonicalize another value. */
let spare: Writer | undefined

/** Returns what `computeCallId` does for args that are canonical already. */
export function callIdOf(toolName: string, canonicalArgs: string): string {
  return identityOf(toolName, canonicalArgs, undefined).callId
}

/** How the hashed text of the last call ended. */
let ending = { tool: {} as unknown, text: '' }

/** Returns also the text as a part of what was hashed: as many pieces it would take far more memory. */
export function identityOf(
  toolName: string,
  canonicalArgs: string,
  args: unknown,
): { callId: string; text: string; args: unknown } {
  if (ending.tool !== toolName) ending = { tool: toolName, text: ',"tool":' + write(toolName) + '}' }
  const text = '{"args":' + canonicalArgs + ending.text
  return { callId: sha256(text), text: text.slice(8, 8 + canonicalArgs.length), args }
}

/**
 * Returns the content identity of a call: the same for the same tool and args on every machine, in any key order.
 *
 * @param toolName The resolved tool's own name, never an alias.
 * @param args The args before validation; `undefined` counts as `{}`.
 * @returns 64 lower-case hex digits: the SHA-256 of the canonical text of `{ args, tool }`.
 * @throws `E_UNCANONICAL_ARGS` if the args are not JSON, refer to themselves, or are too deep.
 * @see https://www.rfc-editor.org/rfc/rfc8785
 * @example
 * computeCallId('get_forecast', { city: 'Oslo' }) === computeCallId('get_forecast', JSON.parse('{ "city": "Oslo" }'))
 */
export function computeCallId(toolName: string, args: unknown): string {
  return callIdOf(toolName, args === undefined ? '{}' : write(args))
}

/** The text of a member's name, with what stands before it. Fewer pieces of text take less memory. */
interface MemberName {
  readonly first: string
  readonly next: string
  /** With the quote that closes the text before it. */
  readonly afterText: string
  /** The same with the quote that opens the text after it. */
  readonly firstOfText: string
  readonly nextOfText: string
  readonly textAfterText: string
}

/** A cache of written names: the args of a tool have the same few each time. */
const names = new Map<string, MemberName>()
const mostNames = 1_000

class Writer {
  limit = 0
  /** How many containers are being written. */
  depth = 0
  /** The containers that are being written, outermost first. */
  readonly open: (object | undefined)[] = []
  /** For each of them the key of the member that is being written; `undefined` before the first. */
  readonly path: (PropertyKey | undefined)[] = []
  refusal: UncanonicalArgsError | undefined = undefined

  whole(value: unknown, limit: number): string {
    this.limit = limit
    try {
      return this.write('', value)
    } catch (thrown) {
      throw this.refusal ?? this.refuse('this cannot be read. Pass plain data', thrown)
    }
  }

  /** Appends to the text instead of returning pieces, so that its length is the running count for the limit. */
  write(text: string, value: unknown): string {
    if (text.length > this.limit) throw (this.refusal = tooLarge(this.limit))
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
      default:
        throw this.refuse(whyNotJson(value))
    }
  }

  writeContainer(text: string, container: object): string {
    const { open, path, depth: level } = this
    if (!Array.isArray(container) && !isPlain(container)) throw this.refuse(whyNotJson(container))
    for (let outer = 0; outer < level; outer++) {
      if (open[outer] === container) {
        throw this.refuse(`this refers to itself, being ${pathText(path.slice(0, outer))}. Leave it out`)
      }
    }
    if (level === deepest) throw this.refuse(`this is nested deeper than ${deepest} levels. Pass a flatter value`)
    open[level] = container
    path[level] = undefined
    this.depth++
    text = Array.isArray(container) ? this.writeArray(text, container, level) : this.writeObject(text, container, level)
    this.depth--
    open[level] = undefined
    path[level] = undefined
    return text
  }

  writeArray(text: string, array: readonly unknown[], level: number): string {
    const { length } = array
    let isText = false // whether the element before is text that lacks its closing quote
    text += '['
    for (let index = 0; index < length; index++) {
      this.path[level] = index
      const element = array[index]
      if (typeof element === 'string' && this.isPlainText(text, element)) {
        text = text + (index === 0 ? '"' : isText ? '","' : ',"') + element
        isText = true
        continue
      }
      if (index > 0) text += isText ? '",' : ','
      text = this.write(text, element === undefined ? null : element)
      isText = false
    }
    return text + (isText ? '"]' : ']')
  }

  writeObject(text: string, object: Record<string, unknown>, level: number): string {
    const keys = inOrder(Object.keys(object))
    let isFirst = true
    let isText = false // whether the member before is text that lacks its closing quote
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!
      this.path[level] = key
      // Read once: a getter must not show one value here and another below.
      const member = object[key]
      if (member === undefined) continue
      const name = this.nameOf(key)
      if (typeof member === 'string' && this.isPlainText(text, member)) {
        text = text + (isFirst ? name.firstOfText : isText ? name.textAfterText : name.nextOfText) + member
        isText = true
      } else {
        text = this.write(text + (isFirst ? name.first : isText ? name.afterText : name.next), member)
        isText = false
      }
      isFirst = false
    }
    return text + (isFirst ? '{}' : isText ? '"}' : '}')
  }

  /** Whether a string fits behind a text, and needs no escapes. */
  isPlainText(text: string, value: string): boolean {
    if (text.length > this.limit || value.length > this.limit) throw (this.refusal = tooLarge(this.limit))
    return isPlainText(value)
  }

  quote(value: string): string {
    if (isPlainText(value)) return '"' + value + '"'
    if (!isWellFormed(value)) {
      throw this.refuse('a string with a lone surrogate has no UTF-8. Remove it, as toWellFormed() does')
    }
    return JSON.stringify(value)
  }

  nameOf(key: string): MemberName {
    const cachedName = names.get(key)
    if (cachedName !== undefined) return cachedName
    const text = this.quote(key) + ':'
    const name = {
      first: '{' + text,
      next: ',' + text,
      afterText: '",' + text,
      firstOfText: '{' + text + '"',
      nextOfText: ',' + text + '"',
      textAfterText: '",' + text + '"',
    }
    if (key.length <= 64) {
      if (names.size >= mostNames) names.clear()
      names.set(key, name)
    }
    return name
  }

  refuse(reason: string, cause?: unknown): UncanonicalArgsError {
    return (this.refusal = uncanonical(reason, this.path.slice(0, this.depth), cause))
  }
}

// Cold code takes long to find a global.
const prototypeOf = Object.getPrototypeOf

// Also the plain objects of another realm: their prototype ends its chain, and has a member that only an `Object.prototype` has.
function isPlain(object: object): object is Record<string, unknown> {
  const prototype: object | null = prototypeOf(object)
  if (prototype === Object.prototype || prototype === null) return true
  return prototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf')
}

/** Sorts by UTF-16 code units, as the RFC requires. Insertion sort is faster for the few keys of most objects. */
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

/** Whether a string needs no escapes in JSON. A loop is as fast only once it is compiled. */
function isPlainText(value: string): boolean {
  return !special.test(value)
}

/** Makes the error for args that have no canonical form. The reason is a clause that also says what to do next. */
export function uncanonical(
  reason: string,
  path: readonly (PropertyKey | undefined)[],
  cause?: unknown,
): UncanonicalArgsError {
  const steps = path.filter((key) => key !== undefined)
  const place = steps.length > 0 ? ` at ${pathText(steps)}` : ''
  const issues = [{ message: reason, path: steps }]
  return new UncanonicalArgsError(`The args cannot be identified${place}: ${reason}.`, { issues, cause })
}

export function tooLarge(limit: number): UncanonicalArgsError {
  return uncanonical(`they are larger than ${limit} bytes of JSON. Send less, or a reference to it`, [])
}

const instead = new Map([
  ['Date', 'its toISOString()'],
  ['Map', 'Object.fromEntries(map)'],
  ['Set', 'an array of its values'],
  ['Promise', 'what it resolves to: await it'],
  ['Response', 'what its json() resolves to'],
  ['ArrayBuffer', 'base64 text'],
  ['bigint', 'a string of its digits'],
  ['undefined', 'null, or {}'],
])

/** Says what is no JSON, and what to give instead. */
export function strangerOf(value: unknown): readonly [what: string, next: string | undefined] {
  let kind: string = typeof value
  if (typeof value === 'object') {
    const name: unknown = value?.constructor?.name
    kind = typeof name === 'string' && name !== '' ? name.slice(0, 64) : 'class instance'
  }
  const article = kind === 'undefined' ? '' : /^[aeiou]/i.test(kind) ? 'an ' : 'a '
  return [article + kind, instead.get(ArrayBuffer.isView(value) ? 'ArrayBuffer' : kind)]
}

function whyNotJson(value: unknown): string {
  const [what, next = typeof value === 'object' ? 'a plain object' : 'data, or leave it out'] = strangerOf(value)
  return `${what} is not JSON. Pass ${next}`
}
