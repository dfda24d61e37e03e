import { shortened } from './shortened.ts'
import { isLonger, pathText, utf8Length } from './text.ts'
import { InvalidToolResultError } from '../errors.ts'
import { strangerOf } from './canonical.ts'
import { isPlainObject, put } from './copy.ts'
import { parseJson } from './parse.ts'

const maximumDepth = 1_000
/** The limits of a result as JSON: values, each counted for every reference to it, and characters of strings and keys. */
const mostValues = 10_000_000
const mostCharacters = 268_435_456
const unwritable = 'The result cannot be written as JSON.'

/** Writes a result as JSON text. Throws `E_INVALID_TOOL_RESULT` with the path of what JSON would lose silently. */
export function jsonText(value: unknown): string {
  return textOf(readResult(value).value)
}

export function textOf(value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw new InvalidToolResultError(unwritable, { cause })
  }
  if (text === undefined) throw lost(value, [])
  return text
}

/**
 * Walks a result before it is written, since shared objects can expand into a huge text. Returns the value, in which the result
 * of a `toJSON` replaces its object, and the number of values. Throws `E_INVALID_TOOL_RESULT` as `jsonText` does.
 */
export function readResult(value: unknown): { readonly value: unknown; readonly values: number } {
  const reading = new ResultReader()
  try {
    const plain = reading.read(value, '', 0, false)
    return { value: plain, values: reading.values }
  } catch (cause) {
    throw reading.refusal ?? new InvalidToolResultError(unwritable, { cause })
  }
}

/** Throws `E_INVALID_TOOL_RESULT` for a value that expands beyond the limits of a result, and for nothing else. */
export function requireBounded(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const reading = new ResultReader()
  try {
    reading.read(value, '', 0, true)
  } catch {
    if (reading.refusal !== undefined) throw reading.refusal // else reading it throws, which is found later
  }
}

/**
 * Parses JSON text that this package wrote or stored. V8 13.6 can return a wrong key if a key has an escape. Such text goes to
 * the strict parser first, and to V8 only if the strict parser refuses it.
 */
export function readText(text: string): unknown {
  if (!/[{,]\s*"[^"]*\\/.test(text)) return JSON.parse(text) as unknown
  try {
    return parseJson(text, { limit: Infinity, depth: maximumDepth })
  } catch {
    return JSON.parse(text) as unknown
  }
}

/** One walk over a value, which counts values and characters. It throws at the first that cannot be kept. */
export class ResultReader {
  values = 0
  refusal: InvalidToolResultError | undefined = undefined
  #characters = 0
  readonly #isPolluted = hasInheritedNames()
  /** The keys from the root to the value that is being read. */
  readonly #path: PropertyKey[] = []

  /** @param isLenient Whether only the limits are checked: a `toJSON` may drop what it likes. */
  read(value: unknown, key: string | number, depth: number, isLenient: boolean): unknown {
    switch (typeof value) {
      case 'string':
        this.#characters += value.length
        return value
      case 'number':
        if (isLenient || Number.isFinite(value)) return value
        break
      case 'bigint':
      case 'function':
      case 'symbol':
        if (isLenient) return value
        break
      case 'object':
        return value === null ? null : this.#container(value, key, depth, isLenient)
      default:
        return value // booleans, and `undefined`, which JSON leaves out
    }
    throw this.#refuse(lost(value, this.#path.slice(0, depth)))
  }

  #container(value: object, key: string | number, depth: number, isLenient: boolean): unknown {
    if (!hasJsonForm(value)) return this.#within(value, depth, isLenient)
    const jsonForm = value.toJSON(String(key))
    if (typeof jsonForm !== 'object' || jsonForm === null) return this.read(jsonForm, key, depth, true)
    this.#count(20, depth) // it may make ever new ones, which are all kept
    return this.#within(jsonForm, depth, true)
  }

  #within(value: object, depth: number, isLenient: boolean): unknown {
    if (depth > maximumDepth) {
      if (isLenient) return value
      const message = `it is nested deeper than ${maximumDepth} levels, or refers to itself`
      throw this.#refuse(unkept(message, this.#path.slice(0, 8), 'Return a flatter value.'))
    }
    if (Array.isArray(value)) return this.#array(value, depth, isLenient)
    const isPlain = isPlainObject(value)
    if (!isLenient && isLossy(value, isPlain)) throw this.#refuse(lost(value, this.#path.slice(0, depth)))
    return this.#object(value, !isPlain || this.#isPolluted, depth, isLenient)
  }

  #array(value: readonly unknown[], depth: number, isLenient: boolean): unknown {
    const { length } = value
    this.#count(length, depth)
    let copy: unknown[] | undefined
    for (let index = 0; index < length; index++) {
      this.#path[depth] = index
      const item = value[index]
      const memberValue = this.read(item, index, depth + 1, isLenient)
      if (!Object.is(memberValue, item)) (copy ??= Array.from({ length }, (_, at) => value[at]))[index] = memberValue
    }
    return copy ?? value
  }

  #object(value: object, mayInherit: boolean, depth: number, isLenient: boolean): unknown {
    // A copy inherits no names. Engines read a member fastest by the very name that the loop gives.
    const own = (mayInherit ? { ...value, __proto__: null } : value) as Record<string, unknown>
    let copy: Record<string, unknown> | undefined
    for (const key in own) {
      const member = own[key]
      this.values++
      this.#characters += key.length
      if (typeof member === 'string') {
        this.#characters += member.length // most members are strings or numbers: this saves a call for each
        continue
      }
      if (Number.isFinite(member)) continue
      this.#path[depth] = key
      const memberValue = this.read(member, key, depth + 1, isLenient)
      if (!Object.is(memberValue, member)) put((copy ??= { ...own }), key, memberValue)
    }
    this.#count(0, depth)
    return copy ?? value
  }

  #count(values: number, depth: number): void {
    this.values += values + 1
    if (this.values <= mostValues && this.#characters <= mostCharacters) return
    const [most, characters] = [mostValues, mostCharacters].map((limit) => limit.toLocaleString('en'))
    const message = `as JSON it has more than ${most} values or ${characters} characters, counted as often as they are referred to`
    throw this.#refuse(unkept(message, this.#path.slice(0, depth), 'Return less, or text in a stream.'))
  }

  #refuse(refusal: InvalidToolResultError): InvalidToolResultError {
    return (this.refusal = refusal)
  }
}

/** Whether `for … in` gives names that plain objects inherit. */
function hasInheritedNames(): boolean {
  for (const _key in Object.prototype) return true
  return false
}

// The two methods have a function each: engines read a name that they know faster.
function hasJsonForm(value: object): value is { readonly toJSON: (key: string) => unknown } {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === 'function'
}
function isStreamLike(value: object): boolean {
  return typeof (value as { readonly getReader?: unknown }).getReader === 'function'
}

/** Whether the contents of an object are not its own enumerable fields, so that its JSON would be empty or nonsense. */
function isLossy(value: object, isPlain: boolean): boolean {
  if (ArrayBuffer.isView(value) || (!isPlain && value instanceof Error)) return true
  if (Symbol.iterator in value || Symbol.asyncIterator in value || isStreamLike(value)) return true
  if (isPlain || Object.keys(value).length > 0) return false
  return Object.getPrototypeOf(Object.getPrototypeOf(value)) !== null // an instance without fields
}

function lost(value: unknown, path: readonly PropertyKey[]): InvalidToolResultError {
  const isGenerator = Object.prototype.toString.call(value) === '[object Generator]'
  const [kind, next = 'a plain value, bytes or a stream'] = isGenerator
    ? ['a generator', 'its values, or let the handler be an async function*']
    : strangerOf(value)
  const what = Object(value) === value ? kind : `${typeof value} ${String(value)}`
  const advice = value instanceof Error ? 'Throw it.' : `Return ${next}.`
  return unkept(`JSON cannot hold ${what.slice(0, 80)}`, path, advice)
}

function unkept(message: string, path: readonly PropertyKey[], next: string): InvalidToolResultError {
  const place = path.length === 0 ? '' : ` (at ${pathText(path, 'result').slice(0, 200)})`
  return new InvalidToolResultError(`The result cannot be kept: ${message}${place}. ${next}`, {
    issues: [{ message, path }],
  })
}

const headLength = 1_024

interface Measure {
  readonly limit: number
  size: number
  head: string
}

/**
 * Returns the value itself if it has at most `limit` bytes as JSON, else what stands for it in events and records: its `byteLength`
 * and its beginning as `head`. The count stops at the limit, so cycles and repeated objects cost no more, and `byteLength` is exact
 * for texts alone. An escape counts as the character that it stands for.
 */
export function bounded(value: unknown, limit: number): unknown {
  if (typeof value === 'string') {
    if (!isLonger(value, limit)) return value
    return { truncated: true, byteLength: utf8Length(value), head: shortened(value, headLength) }
  }
  if (typeof value !== 'object' || value === null) return value
  const measure: Measure = { limit, size: 0, head: '' }
  try {
    if (fits(value, measure)) return value
  } catch {
    // it is too deep, or throws while it is read
  }
  return { truncated: true, byteLength: measure.size, head: shortened(measure.head, headLength) }
}

function fits(value: unknown, measure: Measure): boolean {
  if (typeof value === 'string')
    return add(measure, quoted(value), (value.length > measure.limit ? value.length : utf8Length(value)) + 2)
  if (typeof value !== 'object' || value === null) return add(measure, String(value))
  if (ArrayBuffer.isView(value)) return add(measure, '[bytes]', value.byteLength)
  if (Array.isArray(value)) {
    if (!add(measure, '[')) return false
    for (let index = 0; index < value.length; index++) {
      if ((index > 0 && !add(measure, ',')) || !fits(value[index], measure)) return false
    }
    return add(measure, ']')
  }
  if (!add(measure, '{')) return false
  let separator = ''
  for (const key of Object.keys(value)) {
    if (!add(measure, `${separator}${quoted(key)}:`, key.length + 4)) return false
    if (!fits((value as Record<string, unknown>)[key], measure)) return false
    separator = ','
  }
  return add(measure, '}')
}

function add(measure: Measure, text: string, bytes = text.length): boolean {
  measure.size += bytes
  if (measure.head.length < headLength) measure.head += text
  return measure.size <= measure.limit
}

function quoted(text: string): string {
  return JSON.stringify(shortened(text, headLength))
}
