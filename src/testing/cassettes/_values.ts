// Any value as JSON, and back. What JSON lacks becomes an object with the member `$`.
import { isArrayBuffer, isPlainObject } from '../../kernel/json/copy.ts'
import { readText } from '../../kernel/json/json-text.ts'

interface Tag {
  readonly $: string
  readonly is?: unknown
}

/** The most values of a result, as in the kernel, which refuses a larger one. */
const mostTagged = 10_000_000
const deepestTagged = 1_000
/** How much of a function's source the kernel shows at most. */
const mostOfFunction = 128

/**
 * Returns a value as plain JSON. An instance becomes what its `toJSON` gives, else a plain object of its fields. What the kernel
 * refuses in a result becomes a tag of which `untagged` makes what the kernel refuses in the same words.
 */
export function taggedValue(value: unknown): unknown {
  return new Tagger().read(value, '')
}

class Tagger {
  readonly #ancestors: object[] = []
  #count = 0

  read(value: unknown, key: string): unknown {
    switch (typeof value) {
      case 'number':
        return Number.isFinite(value) ? value : { $: 'number', is: String(value) }
      case 'bigint':
        return { $: 'bigint', is: String(value) }
      case 'undefined':
        return { $: 'undefined' }
      case 'function':
        return { $: 'function', is: String(value).slice(0, mostOfFunction) }
      case 'symbol':
        return { $: 'symbol', is: value.description ?? '' }
      case 'object':
        return value === null ? null : this.#object(value, key)
      default:
        return value
    }
  }

  #object(value: object, key: string): unknown {
    const place = this.#ancestors.lastIndexOf(value)
    if (place >= 0) return { $: 'cycle', is: this.#ancestors.length - 1 - place }
    if (this.#ancestors.length >= deepestTagged) return { $: 'deep' }
    this.#ancestors.push(value)
    try {
      return this.#container(value, key)
    } catch {
      return { $: 'unreadable' }
    } finally {
      this.#ancestors.pop()
    }
  }

  #container(value: object, key: string): unknown {
    if (value instanceof Date) return { $: 'date', is: Number.isNaN(value.getTime()) ? null : value.toISOString() }
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return this.#json(value, key)
    if (Array.isArray(value)) {
      if ((this.#count += value.length) > mostTagged) return { $: 'large' }
      return Array.from(value, (item, index) => this.read(item, String(index)))
    }
    if (hasNoFields(value)) return { $: 'instance', is: value.constructor?.name ?? '' }
    const entries = Object.entries(value)
    if ((this.#count += entries.length) > mostTagged) return { $: 'large' }
    const own = Object.fromEntries(entries.map(([name, member]) => [name, this.read(member, name)]))
    if (Object.hasOwn(own, '__proto__')) return { $: 'entries', is: Object.entries(own) } // a tape has no such member
    return Object.hasOwn(own, '$') ? { $: 'object', is: own } : own
  }

  /** The JSON of an object with a `toJSON`, as the kernel reads it. */
  #json(value: object, key: string): unknown {
    const text = JSON.stringify((value as { toJSON(name: string): unknown }).toJSON(key)) as string | undefined
    return text === undefined ? { $: 'undefined' } : readText(text)
  }
}

/** Whether the contents of an object are not its own members, as those of a `Map`. */
function hasNoFields(value: object): boolean {
  if (ArrayBuffer.isView(value) || isArrayBuffer(value)) return true
  if (Symbol.iterator in value || Symbol.asyncIterator in value || 'getReader' in value) return true
  if (isPlainObject(value)) return false
  return value instanceof Error || Object.keys(value).length === 0
}

/** Makes the value again of what `tagged` returned. */
export function untagged(json: unknown): unknown {
  return valueOfTags(json, [])
}

function valueOfTags(json: unknown, ancestors: unknown[]): unknown {
  if (typeof json !== 'object' || json === null) return json
  if (Array.isArray(json)) {
    const list: unknown[] = []
    ancestors.push(list)
    for (const item of json) list.push(valueOfTags(item, ancestors))
    ancestors.pop()
    return list
  }
  if (!Object.hasOwn(json, '$')) return objectOfTags(Object.entries(json), ancestors)
  const { $: tag, is } = json as Tag
  if (tag === 'object' && typeof is === 'object' && is !== null) return objectOfTags(Object.entries(is), ancestors)
  if (tag === 'entries' && Array.isArray(is)) return objectOfTags(is.filter(isTaggedEntry), ancestors)
  return ofTag(tag, is, ancestors)
}

function isTaggedEntry(value: unknown): value is [string, unknown] {
  return Array.isArray(value) && typeof value[0] === 'string'
}

function objectOfTags(members: readonly [string, unknown][], ancestors: unknown[]): object {
  const object: Record<string, unknown> = {}
  ancestors.push(object)
  for (const [name, member] of members) {
    const value = valueOfTags(member, ancestors)
    if (name === '__proto__')
      Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
    else object[name] = value
  }
  ancestors.pop()
  return object
}

function ofTag(tag: string, is: unknown, ancestors: readonly unknown[]): unknown {
  switch (tag) {
    case 'date':
      return new Date(typeof is === 'string' ? is : Number.NaN)
    case 'bigint':
      return /^-?\d{1,100000}$/.test(String(is)) ? BigInt(String(is)) : undefined
    case 'number':
      return Number(is)
    case 'function':
      return Object.assign(() => {}, { toString: () => String(is) })
    case 'symbol':
      return Symbol(String(is))
    case 'cycle':
      return ancestors[ancestors.length - 1 - Number(is)]
    case 'deep':
      return selfReference()
    case 'large':
      return Object.assign([], { length: mostTagged + 1 })
    case 'instance':
      return Object.create(Object.create(Object.prototype, { constructor: { value: { name: String(is) } } }) as object)
    case 'unreadable':
      return Object.defineProperty({}, 'value', { enumerable: true, get: refuseReading })
    default:
      return undefined
  }
}

function selfReference(): unknown {
  const list: unknown[] = []
  list.push(list)
  return list
}

function refuseReading(): never {
  throw new TypeError('This could not be read when it was recorded.')
}
