import { readText } from '../kernel/json/json-text.ts'
import { mask, maskedBy } from './masked.ts'

/** Shorter values stay in texts, since they match everywhere. */
const shortestSecret = 3
/** If a call has more secret values, its texts are masked whole, so that no search takes long. */
const mostSecretValues = 1_000

/**
 * Returns the secret values of args in each form that a text may have, longest first. Returns `undefined` if they are too many
 * or cannot be read.
 */
export function secretValues(args: () => string, secrets: readonly string[]): readonly string[] | undefined {
  const texts = new Set<string>()
  const collect = (value: unknown): void => {
    if (texts.size > mostSecretValues) return
    if (typeof value === 'object' && value !== null) return Object.values(value).forEach(collect)
    if (typeof value !== 'string' && typeof value !== 'number') return
    const plain = String(value)
    if (plain.length < shortestSecret || mask.includes(plain)) return
    texts.add(plain).add(JSON.stringify(plain).slice(1, -1)).add(encodeURIComponent(plain.toWellFormed()))
    if (!/^\s*[[{"]/.test(plain)) return
    try {
      collect(readText(plain))
    } catch {
      // it is not JSON
    }
  }
  try {
    maskedBy(readText(args()), secrets, collect)
  } catch {
    return undefined // the application's own args, which are not JSON
  }
  return texts.size > mostSecretValues ? undefined : [...texts].toSorted((one, other) => other.length - one.length)
}
