import { pointerSteps } from '../kernel/json/text.ts'

/** Replaces a secret. */
export const mask = '[secret]'

/**
 * Returns a copy in which the values at the given JSON Pointers are masked. Returns the value itself if there are no pointers.
 *
 * If a pointer's step is not an index, it applies to each item of an array. Text in place of an object or an array is masked
 * whole, since it may be JSON of either. So is every item that is not an object, if a pointer applies to it.
 */
export function masked(value: unknown, secrets: readonly string[]): unknown {
  return maskedBy(value, secrets)
}

/**
 * Masks the values at the pointers.
 *
 * @param hide Called with each masked value.
 * @param read Masks text at the root, or in an array at the root. Default: the text is masked whole.
 */
export function maskedBy(
  value: unknown,
  secrets: readonly string[],
  hide?: (hidden: unknown) => void,
  read?: (text: string) => string,
): unknown {
  return secrets.reduce<unknown>((copy, pointer) => maskedAt(copy, pointerSteps(pointer)), value)

  function maskedAt(its: unknown, steps: readonly string[], isItem = false, depth = 0): unknown {
    const key = steps[depth]
    if (key === undefined || typeof its === 'string') {
      if (its === mask) return its
      if (key !== undefined && depth === 0 && read !== undefined) return read(its as string)
      hide?.(its)
      return mask
    }
    if (typeof its !== 'object' || its === null) {
      if (!isItem || its === null || read !== undefined) return its
      hide?.(its)
      return mask
    }
    if (Array.isArray(its) && !/^\d+$/.test(key)) return its.map((item: unknown) => maskedAt(item, steps, true, depth))
    if (!Object.hasOwn(its, key)) return its
    const copy = (Array.isArray(its) ? [...(its as unknown[])] : { ...its }) as Record<string, unknown>
    copy[key] = maskedAt(copy[key], steps, false, depth + 1)
    return copy
  }
}
