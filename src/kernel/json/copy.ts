/** The most objects that a copy may have. */
const mostObjects = 1_000_000

/**
 * Returns a copy that its reader may change. Plain data is copied whole, other objects if `structuredClone` can.
 *
 * @param known An earlier copy of args, which is returned again if the value still equals it.
 * @returns `undefined` if the value is too large, or throws while it is read.
 */
export function copyOf(value: unknown, known?: unknown): unknown {
  const budget = budgetOf(fewObjects)
  try {
    return known !== undefined && !budget.isPolluted && isSame(value, known) ? known : copied(value, undefined, budget)
  } catch (cause) {
    return cause === many ? copyOfGraph(value) : undefined
  }
}

/** Copies arrays and plain objects and shares everything else. Returns the value itself if it is too large. */
export function copyOfPlain(value: unknown): unknown {
  try {
    return copied(
      value,
      new Map(),
      budgetOf(mostObjects, (other) => other),
    )
  } catch {
    return value
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
  if (!isPlainObject(value) || !isPlainObject(copy)) return false
  let surplus = 0
  for (const key in value) {
    const member = copy[key]
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
const fewObjects = 1_000

function copyOfGraph(value: unknown): unknown {
  try {
    return copied(value, new Map(), budgetOf(mostObjects))
  } catch {
    return undefined
  }
}

interface Budget {
  /** How many objects and elements may still be copied. */
  left: number
  /** Whether `Object.prototype` has enumerable members: checked once, since a check for each member is slow. */
  readonly isPolluted: boolean
  /** Copies objects that are not plain. */
  readonly clone: (value: object) => unknown
}

function budgetOf(left: number, clone: (value: object) => unknown = cloneOf): Budget {
  let isPolluted = false
  for (const _key in Object.prototype) isPolluted = true
  return { left, isPolluted, clone }
}

function copied(value: unknown, seen: Map<object, unknown> | undefined, budget: Budget): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (--budget.left < 0) throw many
  const known = seen?.get(value)
  if (known !== undefined) return known // the same object again, or a cycle
  if (Array.isArray(value)) {
    const items = elementsOf(value, budget)
    seen?.set(value, items)
    for (let index = 0; index < items.length; index++) {
      const item = items[index]
      if (typeof item === 'object' && item !== null) items[index] = copied(item, seen, budget)
    }
    return items
  }
  if (!isPlainObject(value)) return budget.clone(value)
  const copy: Record<string, unknown> = {}
  seen?.set(value, copy)
  for (const key in value) {
    if (budget.isPolluted && !Object.hasOwn(value, key)) continue
    const member = value[key]
    const own = typeof member === 'object' && member !== null ? copied(member, seen, budget) : member
    put(copy, key, own)
  }
  return copy
}

/**
 * Copies plain JSON, as writing and parsing its text would, but without the text.
 *
 * @param most How many objects and elements it may have. Default: 1,000, up to which a copy is faster than the text.
 * @returns `undefined` if the value has more, is not plain JSON, or has an object with a `toJSON`.
 */
export function copyOfJson<Value extends object>(value: Value, most: number = fewObjects): Value | undefined {
  try {
    return copiedJson(value, budgetOf(most)) as Value
  } catch {
    return undefined
  }
}

function copiedJson(value: unknown, budget: Budget): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw noJson
      return value + 0 // JSON knows no negative zero
    case 'object':
      return value === null ? null : copiedContainer(value, budget)
    default:
      throw noJson
  }
}

const noJson = new TypeError('this is not JSON')

function copiedContainer(value: object, budget: Budget): unknown {
  if (--budget.left < 0) throw many
  if (Array.isArray(value)) {
    const items = elementsOf(value, budget)
    for (let index = 0; index < items.length; index++) {
      const item = items[index]
      if (typeof item !== 'string') items[index] = item === undefined ? null : copiedJson(item, budget)
    }
    return items
  }
  if (!isPlainObject(value) || Symbol.iterator in value || Symbol.asyncIterator in value) throw noJson
  const copy: Record<string, unknown> = {}
  for (const key in value) {
    if (budget.isPolluted && !Object.hasOwn(value, key)) continue
    const member = value[key]
    if (member === undefined) continue
    const own = copiedJson(member, budget)
    put(copy, key, own)
  }
  return copy
}

/** Reads each element once, by index: an array's own iterator, or its length, may be endless. */
function elementsOf(array: readonly unknown[], budget: Budget): unknown[] {
  const length = Number(array.length)
  if ((budget.left -= length) < 0) throw many
  // oxlint-disable-next-line unicorn/no-new-array -- allocated at its exact length, since the copy lives as long as its call
  const items: unknown[] = new Array(length)
  for (let index = 0; index < length; index++) items[index] = array[index]
  return items
}

/** Sets a member; `__proto__` becomes an own member and does not change the prototype. */
export function put(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') define(object, key, value)
  else object[key] = value
}

/** Defines a member as if it were assigned, also over an accessor or a read-only member. */
export function define(object: object, key: string, value: unknown): void {
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
