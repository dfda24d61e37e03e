import { put } from './copy.ts'
import { InvalidToolResultError } from '../errors.ts'
import { parseJson } from './parse.ts'
import { pathText } from './uncanonical.ts'

const maximumDepth = 1_000
/** What a result may have as JSON: values, each counted as often as it is referred to, and characters of strings and names. */
const mostValues = 10_000_000
const mostCharacters = 268_435_456

/**
 * Writes a result as JSON text, and refuses what JSON would lose without a word.
 *
 * @throws `E_INVALID_TOOL_RESULT` with the path of what cannot be kept.
 */
export function jsonText(value: unknown): string {
  return textOf(readResult(value).value)
}

/** The JSON text of what `readResult` gave. */
export function textOf(value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw unwritable(cause)
  }
  if (text === undefined) throw lost(value)([])
  return text
}

/**
 * Looks at all of a result before it is written, so that none explodes into more text than its maker has values.
 *
 * @returns The value, with what `toJSON` gave in the place of each that has one, and how many values it has.
 * @throws `E_INVALID_TOOL_RESULT` with the path of what JSON cannot hold, or of where it is too much.
 */
export function readResult(value: unknown): { readonly value: unknown; readonly values: number } {
  const reading = new Reading()
  let its: unknown
  try {
    its = reading.read(value, '', 0, false)
  } catch (cause) {
    throw unwritable(cause)
  }
  if (its === refused) throw reading.refusal()
  return { value: its, values: reading.values }
}

/**
 * Refuses what explodes into too many values when it is walked, and nothing else.
 *
 * @throws `E_INVALID_TOOL_RESULT` with the path of where it is too much.
 */
export function requireBounded(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const reading = new Reading()
  try {
    if (reading.read(value, '', 0, true) !== refused) return
  } catch {
    return // it cannot be walked at all
  }
  throw reading.refusal()
}

/**
 * Reads JSON text that was written by us or kept for somebody. V8's own reader (13.6) can give a wrong key where one has an
 * escape in it: where that may be so, the strict reader goes first, and V8 reads only what its strictness refuses.
 */
export function readText(text: string): unknown {
  if (!/[{,]\s*"[^"]*\\/.test(text)) return JSON.parse(text) as unknown
  try {
    return parseJson(text, { limit: Infinity, depth: maximumDepth })
  } catch {
    return JSON.parse(text) as unknown
  }
}

type Refusal = (path: readonly PropertyKey[]) => InvalidToolResultError

/** Stands for a value that was refused. */
const refused = Symbol('refused')

/** One walk over a value, which counts what it meets. */
class Reading {
  values = 0
  #characters = 0
  #refusal: Refusal = lost(undefined)
  /** From the place of the refusal up to the root. */
  readonly #path: PropertyKey[] = []

  /** @param isLenient Whether only too much is refused: `toJSON` decides for itself what is lost. */
  read(value: unknown, key: string | number, depth: number, isLenient: boolean): unknown {
    switch (typeof value) {
      case 'string':
        this.#characters += value.length
        return value
      case 'number':
        return isLenient || Number.isFinite(value) ? value : this.#refuse(lost(value))
      case 'bigint':
      case 'function':
      case 'symbol':
        return isLenient ? value : this.#refuse(lost(value))
      case 'object':
        return value === null ? null : this.#container(value, key, depth, isLenient)
      default:
        return value // booleans, and what JSON leaves out
    }
  }

  refusal(): InvalidToolResultError {
    return this.#refusal(this.#path.toReversed())
  }

  #container(value: object, key: string | number, depth: number, isLenient: boolean): unknown {
    if (!hasMethod(value, 'toJSON')) return this.#within(value, depth, isLenient)
    const said = value.toJSON(String(key))
    return typeof said === 'object' && said !== null
      ? this.#within(said, depth, true)
      : this.read(said, key, depth, true)
  }

  #within(value: object, depth: number, isLenient: boolean): unknown {
    if (depth > maximumDepth) return isLenient ? value : this.#refuse(tooDeep)
    if (Array.isArray(value)) return this.#array(value, depth, isLenient)
    return isLenient || !isLossy(value) ? this.#object(value, depth, isLenient) : this.#refuse(lost(value))
  }

  #array(value: readonly unknown[], depth: number, isLenient: boolean): unknown {
    const { length } = value
    if (this.#isTooMuch(length)) return this.#refuse(tooMuch)
    let copy: unknown[] | undefined
    for (let index = 0; index < length; index++) {
      const item = value[index]
      const its = this.read(item, index, depth + 1, isLenient)
      if (its === refused) return this.#refusedAt(index)
      if (!Object.is(its, item)) (copy ??= Array.from({ length }, (_, at) => value[at]))[index] = its
    }
    return copy ?? value
  }

  #object(value: object, depth: number, isLenient: boolean): unknown {
    const keys = Object.keys(value)
    if (this.#isTooMuch(keys.length)) return this.#refuse(tooMuch)
    let copy: Record<string, unknown> | undefined
    for (const key of keys) {
      const member = (value as Record<string, unknown>)[key]
      this.#characters += key.length
      if (typeof member === 'string') {
        this.#characters += member.length // most members are, and are not worth a call
        continue
      }
      const its = this.read(member, key, depth + 1, isLenient)
      if (its === refused) return this.#refusedAt(key)
      if (!Object.is(its, member)) put((copy ??= { ...value }), key, its)
    }
    return copy ?? value
  }

  #isTooMuch(values: number): boolean {
    this.values += values + 1
    return this.values > mostValues || this.#characters > mostCharacters
  }

  #refuse(refusal: Refusal): symbol {
    this.#refusal = refusal
    return refused
  }

  #refusedAt(key: PropertyKey): symbol {
    this.#path.push(key)
    return refused
  }
}

function hasMethod<Name extends string>(value: object, name: Name): value is Record<Name, (key: string) => unknown> {
  return typeof (value as Record<string, unknown>)[name] === 'function'
}

/** Objects whose contents are not their own enumerable fields: as JSON they would be empty, or nonsense. */
function isLossy(value: object): boolean {
  if (value instanceof Error || ArrayBuffer.isView(value)) return true
  if (Symbol.iterator in value || Symbol.asyncIterator in value || hasMethod(value, 'getReader')) return true
  if (Object.keys(value).length > 0) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== null && Object.getPrototypeOf(prototype) !== null // an instance, of which nothing would be left
}

function lost(value: unknown): Refusal {
  return (path) => {
    const what = typeof value === 'object' && value !== null ? `a ${nameOf(value)}` : `${typeof value} ${String(value)}`
    const message = `JSON cannot hold ${what.slice(0, 80)}`
    return unkept(`${message}${placeOf(path)}. Return a plain value instead.`, message, path)
  }
}

function tooDeep(path: readonly PropertyKey[]): InvalidToolResultError {
  const message = `it is nested deeper than ${maximumDepth} levels, or refers to itself`
  return unkept(`${message}, from ${JSON.stringify(String(path[0]))} on.`, message, path.slice(0, 8))
}

function tooMuch(path: readonly PropertyKey[]): InvalidToolResultError {
  const [values, characters] = [mostValues, mostCharacters].map((most) => most.toLocaleString('en'))
  const message = `as JSON it has more than ${values} values or ${characters} characters, counted as often as they are referred to`
  return unkept(`${message}${placeOf(path)}. Return less, or text in a stream.`, message, path.slice(0, 8))
}

function placeOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? '' : ` (at ${pathText(path, 'result').slice(0, 200)})`
}

function unkept(words: string, message: string, path: readonly PropertyKey[]): InvalidToolResultError {
  return new InvalidToolResultError(`The result cannot be kept: ${words}`, { issues: [{ message, path: [...path] }] })
}

function unwritable(cause: unknown): InvalidToolResultError {
  return new InvalidToolResultError('The result cannot be written as JSON.', { cause })
}

function nameOf(value: object): string {
  const { constructor } = value as { constructor?: { name?: unknown } }
  return typeof constructor?.name === 'string' && constructor.name !== '' ? constructor.name : 'object'
}
