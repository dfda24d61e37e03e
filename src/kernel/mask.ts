/** What stands where a secret was. */
export const mask = '[secret]'

/** A copy in which the values at the given JSON Pointers are masked; the value itself where there are none. */
export function masked(value: unknown, secrets: readonly string[]): unknown {
  let copy = value
  for (const pointer of secrets) copy = maskedAt(copy, pointer.split('/').slice(1), 0)
  return copy
}

function maskedAt(value: unknown, steps: readonly string[], depth: number): unknown {
  const step = steps[depth]
  if (step === undefined) return mask
  if (typeof value !== 'object' || value === null) return value
  const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
  if (!Object.hasOwn(value, key) || (Array.isArray(value) && !/^\d+$/.test(key))) return value
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>
  copy[key] = maskedAt(copy[key], steps, depth + 1)
  return copy
}
