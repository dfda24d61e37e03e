import { pointerSteps } from '../kernel/json/text.ts'

/** Replaces a secret. */
export const mask = '[secret]'

/**
 * Returns a copy with the values at these JSON Pointers masked, or the value itself if there are no pointers.
 *
 * If a pointer's step is not an index, it applies to each item of an array. Text in place of an object or an array is masked
 * whole, since it may be JSON of either. So is an item that is no object, if a pointer applies to it.
 * @example masked({ cards: [{ pin: 4711 }] }, ['/cards/pin']) // { cards: [{ pin: '[secret]' }] }
 */
export function masked(value: unknown, secrets: readonly string[]): unknown {
  return maskedBy(value, secrets)
}

/**
 * Masks the values at the pointers, and calls `hide` with each.
 *
 * @param read Masks text at the root, or in an array at the root. Default: the text is masked whole.
 */
export function maskedBy(
  value: unknown,
  secrets: readonly string[],
  hide?: (hidden: unknown) => void,
  read?: (text: string) => string,
): unknown {
  return secrets.reduce<unknown>((copy, pointer) => maskedAt(copy, pointerSteps(pointer)), value)

  function maskedAt(node: unknown, steps: readonly string[], isItem = false, depth = 0): unknown {
    const key = steps[depth]
    if (key === undefined || typeof node === 'string') {
      if (node === mask) return node
      if (key !== undefined && depth === 0 && read !== undefined) return read(node as string)
      hide?.(node)
      return mask
    }
    if (typeof node !== 'object' || node === null) {
      if (!isItem || node === null || read !== undefined) return node
      hide?.(node)
      return mask
    }
    if (Array.isArray(node) && !/^\d+$/.test(key))
      return node.map((item: unknown) => maskedAt(item, steps, true, depth))
    if (!Object.hasOwn(node, key)) return node
    const copy = (Array.isArray(node) ? [...(node as unknown[])] : { ...node }) as Record<string, unknown>
    copy[key] = maskedAt(copy[key], steps, false, depth + 1)
    return copy
  }
}
