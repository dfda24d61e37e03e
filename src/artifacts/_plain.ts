import { ArtifactError } from '../errors.ts'

/** How deep a value may be nested. What reads it goes down by calls. */
const deepestValue = 1_000

/**
 * Returns a parsed value as JSON can write it: numbers that JSON lacks become the strings `NaN`, `Infinity` and `-Infinity`.
 * It changes the objects that the parser made.
 *
 * @throws `E_ARTIFACT` if the value is nested more than 1,000 deep.
 */
export function plainValue(value: unknown): unknown {
  const root = { value }
  let level: object[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepestValue)
      throw new ArtifactError(`The artifact is nested more than ${deepestValue.toLocaleString('en')} deep.`)
    const next: object[] = []
    for (const holder of level) {
      for (const [key, member] of Object.entries(holder) as [string, unknown][]) {
        if (typeof member === 'object' && member !== null) next.push(member)
        else if (typeof member === 'number' && !Number.isFinite(member)) {
          Object.defineProperty(holder, key, {
            value: String(member),
            enumerable: true,
            writable: true,
            configurable: true,
          })
        }
      }
    }
    level = next
  }
  return root.value
}
