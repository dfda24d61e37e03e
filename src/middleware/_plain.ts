/** Returns whether a value is an array or a plain object. */
export function isPlainValue(value: object): boolean {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Returns the own enumerable members of an object, with symbols, since `json()` and `content()` mark a result with one. */
export function membersOf(value: object): (readonly [key: string | symbol, value: unknown])[] {
  if (Array.isArray(value)) return value.map((item: unknown, index) => [String(index), item])
  return Reflect.ownKeys(value)
    .filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))
    .map((key) => [key, (value as Record<string | symbol, unknown>)[key]])
}

/** Makes an array or plain object with the given members; `__proto__` is an ordinary key. */
export function plainLike(
  value: object,
  members: readonly (readonly [key: string | symbol, value: unknown])[],
): object {
  if (Array.isArray(value)) return members.map(([, item]) => item)
  const copy = Object.create(Object.getPrototypeOf(value) as object | null) as object
  for (const [key, item] of members) {
    Object.defineProperty(copy, key, { value: item, writable: true, enumerable: true, configurable: true })
  }
  return copy
}
