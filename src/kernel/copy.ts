const deepest = 1_000

/** A copy that whoever gets it may change: of plain data whole, of other objects as far as they can be cloned. */
export function copyOf(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > deepest) return value
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return cloneOf(value)
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (key !== '__proto__') copy[key] = copyOf(item, depth + 1)
    else Object.defineProperty(copy, key, { value: copyOf(item, depth + 1), enumerable: true, writable: true })
  }
  return copy
}

function cloneOf(value: object): unknown {
  try {
    return structuredClone(value)
  } catch {
    return value // functions, and instances of which nothing can be cloned
  }
}
