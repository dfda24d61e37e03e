/** Objects that are copied at most; what has more is no data that somebody would look at. */
const mostObjects = 1_000_000

/**
 * A copy that whoever gets it may change: of plain data whole, of other objects as far as they can be cloned.
 *
 * @param known A copy of args that was made before, which is given again where the value is still the same.
 * @returns Nothing, where the value is too large or breaks while it is read.
 */
export function copyOf(value: unknown, known?: unknown): unknown {
  const budget = budgetOf(fewObjects)
  try {
    return known !== undefined && !budget.isPolluted && isSame(value, known) ? known : copied(value, undefined, budget)
  } catch (cause) {
    return cause === many ? copyOfGraph(value) : undefined
  }
}

/** A copy of arrays and plain objects, in which everything else stays what it is; the value itself where it is too large. */
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

/** Whether plain data is what a copy of args holds, which is a tree of JSON. */
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
    // What JSON cannot hold is not there, or inherited.
    if (member === undefined || typeof member === 'function' || key === '__proto__') return false
    if (!isSame(value[key], member)) return false
    surplus++
  }
  for (const _own in copy) surplus--
  return surplus === 0
}

/** Thrown where a value has so many objects that some may be the same: then it is copied with a memory. */
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
  /** Whether somebody has added to what all objects inherit from: asked once, since asking for each member takes too long. */
  readonly isPolluted: boolean
  /** What becomes of objects that are not plain. */
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
 * A copy of plain JSON: what the JSON text of the value stands for, made without the text.
 *
 * @param most How many objects and elements it may have. Default: so few that a copy is better than the text.
 * @returns Nothing, where the value holds what JSON does not or where an object speaks for itself, and where there is more.
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

/** The elements as they are read by index, once: an array's own iterator may never end, and neither may its length. */
function elementsOf(array: readonly unknown[], budget: Budget): unknown[] {
  const length = Number(array.length)
  if ((budget.left -= length) < 0) throw many
  // oxlint-disable-next-line unicorn/no-new-array -- as long as it has to be, since each copy is held as long as its call
  const items: unknown[] = new Array(length)
  for (let index = 0; index < length; index++) items[index] = array[index]
  return items
}

/** Sets a member, also one whose name would change the prototype if it were assigned. */
export function put(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') define(object, key, value)
  else object[key] = value
}

/** Makes a member that is as if it had been assigned, whatever stands in its place. */
export function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

function cloneOf(value: object): unknown {
  try {
    return structuredClone(value)
  } catch {
    return value // functions, and instances of which nothing can be cloned
  }
}

/** Whether a value is an object without a class of its own. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
