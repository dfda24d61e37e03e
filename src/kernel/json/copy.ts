/** The most objects and elements of a copy. */
const mostObjects = 1_000_000
/** Up to so many, none is likely to be shared, and a copy of JSON is faster than its text. */
const fewObjects = 1_000

/** Whether a value is an `ArrayBuffer` of any realm, or says so. */
export function isArrayBuffer(value: object): value is ArrayBuffer {
  return Object.prototype.toString.call(value) === '[object ArrayBuffer]'
}

/**
 * Returns a copy that its reader may change, or `undefined` if the value is too large, or throws while it is read. Plain data is
 * copied whole, other objects if `structuredClone` can.
 *
 * @param known An earlier copy of args, which is returned again if the value still equals it.
 */
export function copyOf(value: unknown, formerCopy?: unknown): unknown {
  const rules = rulesOf(fewObjects, cloneOf)
  try {
    return formerCopy !== undefined && !rules.isPolluted && isSame(value, formerCopy)
      ? formerCopy
      : copied(value, rules)
  } catch (cause) {
    return cause === many ? copyOfGraph(value, cloneOf) : undefined
  }
}

/**
 * Copies arrays and plain objects, and shares the rest. Returns the value itself if it is too large, or throws while it is read.
 *
 * @param other Returns what stands in the copy for an object that is not plain.
 * @param most How many objects and elements the value may have.
 */
export function copyOfPlain(
  value: unknown,
  other: (object: object) => unknown = (object) => object,
  most?: number,
): unknown {
  return copyOfGraph(value, other, most) ?? value
}

/**
 * Copies plain JSON, as writing and parsing its text would, but without the text. Returns `undefined` if the value is no plain
 * JSON, has an object with a `toJSON`, or has more than so many objects and elements.
 */
export function copyOfJson<Value extends object>(value: Value, most: number = fewObjects): Value | undefined {
  try {
    return copied(value, rulesOf(most)) as Value
  } catch {
    return undefined
  }
}

/** Whether plain data equals a copy of args, which is a tree of JSON. */
function isSame(value: unknown, copy: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Object.is(value, copy)
  if (typeof copy !== 'object' || copy === null) return false
  if (Array.isArray(value)) {
    if (!Array.isArray(copy) || value.length !== copy.length) return false
    for (let index = 0; index < copy.length; index++) if (!isSame(value[index], copy[index])) return false
    return true
  }
  if (!isPlainObject(value) || Array.isArray(copy)) return false
  let surplus = 0
  for (const key in value) {
    const member = (copy as Record<string, unknown>)[key]
    // The copy lacks what JSON cannot hold, or inherits it.
    if (member === undefined || typeof member === 'function' || key === '__proto__') return false
    if (!isSame(value[key], member)) return false
    surplus++
  }
  for (const _own in copy) surplus--
  return surplus === 0
}

/** Thrown if a value has so many objects that some may be shared: it is then copied with a map of those seen. */
const many = new RangeError('many objects')
const noJson = new TypeError('this is not JSON')

function copyOfGraph(value: unknown, other: (object: object) => unknown, most: number = mostObjects): unknown {
  try {
    return copied(value, rulesOf(most, other, new Map()))
  } catch {
    return undefined
  }
}

interface Rules {
  /** How many objects and elements may still be copied. */
  left: number
  /** Copies objects that are not plain. Without it the copy is of JSON, and anything else is refused. */
  readonly other: ((object: object) => unknown) | undefined
  /** The copies by their originals, if some may be shared. */
  readonly copies: Map<object, unknown> | undefined
  /** Whether `Object.prototype` has enumerable members: checked once, since a check for each member is slow. */
  readonly isPolluted: boolean
}

function rulesOf(left: number, other?: (object: object) => unknown, copies?: Map<object, unknown>): Rules {
  let isPolluted = false
  for (const _key in Object.prototype) isPolluted = true
  return { left, other, copies, isPolluted }
}

function copied(value: unknown, rules: Rules): unknown {
  if (typeof value !== 'object' || value === null) return rules.other === undefined ? scalarOfJson(value) : value
  if (--rules.left < 0) throw many
  const formerCopy = rules.copies?.get(value)
  if (formerCopy !== undefined) return formerCopy // the same object again, or a cycle
  const isJson = rules.other === undefined
  if (Array.isArray(value)) {
    // Read by index: an array's own iterator, or its length, may be endless.
    const length = Number(value.length)
    if ((rules.left -= length) < 0) throw many
    // oxlint-disable-next-line unicorn/no-new-array -- of its exact length: a copy lives as long as its call
    const items: unknown[] = new Array(length)
    rules.copies?.set(value, items)
    for (let index = 0; index < length; index++) {
      const item: unknown = value[index]
      items[index] = typeof item === 'string' ? item : isJson && item === undefined ? null : copied(item, rules)
    }
    return items
  }
  if (!isPlainObject(value)) return isJson ? refuse() : rules.other(value)
  if (isJson && (Symbol.iterator in value || Symbol.asyncIterator in value)) refuse()
  const copy: Record<string, unknown> = {}
  rules.copies?.set(value, copy)
  for (const key in value) {
    if (rules.isPolluted && !Object.hasOwn(value, key)) continue
    const member = value[key]
    if (isJson && member === undefined) continue
    put(copy, key, typeof member === 'string' ? member : copied(member, rules))
  }
  return copy
}

function scalarOfJson(value: unknown): unknown {
  if (typeof value === 'number' && Number.isFinite(value)) return value + 0 // JSON knows no negative zero
  return value === null || typeof value === 'string' || typeof value === 'boolean' ? value : refuse()
}

function refuse(): never {
  throw noJson
}

/** Sets a member; `__proto__` becomes an own member and does not change the prototype. */
export function put(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') defineMember(object, key, value)
  else object[key] = value
}

/** Defines a member as if it were assigned, also over an accessor or a read-only member. */
export function defineMember(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

function cloneOf(value: object): unknown {
  try {
    return structuredClone(value)
  } catch {
    return value // functions, and instances that cannot be cloned
  }
}

/** Whether a value is an object without a class of its own. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
