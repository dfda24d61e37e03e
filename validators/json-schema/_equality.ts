import { checkDepth, type Run, spend } from './_run.ts'

/** Returns whether two JSON values are equal, regardless of the order of members. */
export function isEqual(one: unknown, other: unknown, run: Run): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  // The second value is part of the schema. The schema's depth is bounded, so the stack cannot overflow.
  const names = Object.keys(one)
  const { length } = Object.keys(other)
  spend(run, 1 + names.length + length)
  return (
    names.length === length &&
    names.every(
      (name) =>
        Object.hasOwn(other, name) &&
        isEqual((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name], run),
    )
  )
}

/** Returns a text that is the same for equal values only. */
export function textOf(value: unknown, run: Run, depth = 0): string {
  spend(run, typeof value === 'string' ? 1 + (value.length >> 6) : 1)
  if (typeof value === 'string') return JSON.stringify(value)
  // Values may be other than JSON: the type distinguishes `1n` from 1.
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`
  checkDepth(depth)
  if (Array.isArray(value)) {
    spend(run, value.length)
    return `[${value.map((item) => textOf(item, run, depth + 1)).join()}]`
  }
  const members = Object.keys(value).toSorted()
  const texts = members.map(
    (name) => `${textOf(name, run, depth)}:${textOf((value as Record<string, unknown>)[name], run, depth + 1)}`,
  )
  return `{${texts.join()}}`
}
