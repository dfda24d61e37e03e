/** A difference between two JSON values. `undefined` is what one of them lacks. */
export interface JsonDifference {
  readonly pointer: string
  readonly before: unknown
  readonly after: unknown
}

const mostDifferences = 100
const mostShownDifferences = 12
const shownJsonLength = 120
/** How much of a text is shown before the place at which it differs. */
const textLead = 20

/** Returns the differences of two JSON values, at most 100, by their JSON Pointers. */
export function jsonDifferences(before: unknown, after: unknown): readonly JsonDifference[] {
  const found: JsonDifference[] = []
  compareJson(before, after, '', found)
  return found
}

function compareJson(before: unknown, after: unknown, pointer: string, found: JsonDifference[]): void {
  if (found.length >= mostDifferences || Object.is(before, after)) return
  if (!isTree(before) || !isTree(after) || Array.isArray(before) !== Array.isArray(after)) {
    found.push({ pointer, before, after })
    return
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const place = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const [one, other] = [before, after].map((tree) => (Object.hasOwn(tree, key) ? tree[key] : undefined))
    compareJson(one, other, place, found)
  }
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Returns differences as lines: the place, and both values with `-` and `+`. Long texts are shown from where they part. */
export function differenceLines(differences: readonly JsonDifference[]): string {
  const lines = differences.slice(0, mostShownDifferences).map(({ pointer, before, after }) => {
    const start = partingOf(before, after)
    return `  ${pointer === '' ? '/' : pointer}\n    - ${shownValue(before, start)}\n    + ${shownValue(after, start)}`
  })
  const rest = differences.length - lines.length
  return [...lines, ...(rest > 0 ? [`  and ${rest} more`] : [])].join('\n')
}

function partingOf(before: unknown, after: unknown): number {
  if (typeof before !== 'string' || typeof after !== 'string') return 0
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  return same <= textLead * 2 ? 0 : same - textLead
}

/** Returns a value as JSON on one line, cut. `undefined` is `(absent)`. */
export function shownValue(value: unknown, start = 0): string {
  if (value === undefined) return '(absent)'
  const text = typeof value === 'string' && start > 0 ? JSON.stringify(value.slice(start)) : JSON.stringify(value)
  const lead = start > 0 ? '…' : ''
  return lead + (text.length > shownJsonLength ? `${text.slice(0, shownJsonLength - 1).toWellFormed()}…` : text)
}
