/** Returns whether two lists hold identical items in the same order. */
export function areSameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index])
}
