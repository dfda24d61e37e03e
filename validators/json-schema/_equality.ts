import { checkDepth, type Run, spend } from './_run.ts'

/** Whether two JSON values are equal; the order of members does not count. */
export function isEqual(one: unknown, other: unknown, run: Run): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  // The second value is the schema's, whose depth is bounded, so this ends before the stack does.
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

/** A text that equal values share and others do not. */
export function textOf(value: unknown, run: Run, depth = 0): string {
  spend(run, typeof value === 'string' ? 1 + (value.length >> 6) : 1)
  if (typeof value === 'string') return JSON.stringify(value)
  // Not every value here is JSON: the type keeps `1n` and 1 apart.
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
