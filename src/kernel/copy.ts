/** Objects that are copied at most; what has more is no data that somebody would look at. */
const mostObjects = 1_000_000

/**
 * A copy that whoever gets it may change: of plain data whole, of other objects as far as they can be cloned.
 *
 * @returns Nothing, where the value is too large or breaks while it is read.
 */
export function copyOf(value: unknown): unknown {
  try {
    return copied(value, undefined, { left: fewObjects })
  } catch (cause) {
    return cause === many ? copyOfGraph(value) : undefined
  }
}

/** Thrown where a value has so many objects that some may be the same: then it is copied with a memory. */
const many = new RangeError('many objects')
const fewObjects = 1_000

function copyOfGraph(value: unknown): unknown {
  try {
    return copied(value, new Map(), { left: mostObjects })
  } catch {
    return undefined
  }
}

function copied(value: unknown, seen: Map<object, unknown> | undefined, budget: { left: number }): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (--budget.left < 0) throw many
  const known = seen?.get(value)
  if (known !== undefined) return known // the same object again, or a cycle
  if (Array.isArray(value)) {
    if ((budget.left -= value.length) < 0) throw many
    const items: unknown[] = [...value]
    seen?.set(value, items)
    for (let index = 0; index < items.length; index++) {
      const item = items[index]
      if (typeof item === 'object' && item !== null) items[index] = copied(item, seen, budget)
    }
    return items
  }
  if (!isPlainObject(value)) return cloneOf(value)
  // The engine copies an object at once faster than we do member by member; most members are no objects.
  const copy: Record<string, unknown> = { ...value }
  seen?.set(value, copy)
  for (const key in copy) {
    const member = copy[key]
    if (typeof member !== 'object' || member === null) continue
    const own = copied(member, seen, budget)
    if (key === '__proto__') Object.defineProperty(copy, key, { value: own })
    else copy[key] = own
  }
  for (const symbol of Object.getOwnPropertySymbols(copy)) delete copy[symbol as never] // no data, and not copied
  return copy
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
