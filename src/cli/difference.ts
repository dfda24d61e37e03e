import { terminalJson, terminalLine } from './host.ts'

/** How much of a value a line shows, in UTF-16 units. */
const differenceLength = 200
/** How much of a text a line shows before the first change. */
const leadLength = 30

/** Returns the changes of JSON values by name, a line each: `+` added, `-` removed, `~` changed, with its place and values. */
export function differences(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return names.flatMap((name) => {
    if (!before.has(name)) return [`+ ${terminalLine(name)}: a new tool`]
    if (!after.has(name)) return [`- ${terminalLine(name)}: the tool is gone`]
    return [...changesBetween(before.get(name), after.get(name), '')].map(([sign, pointer, values]) =>
      // The place is a server's text too.
      [sign, terminalLine(name), `${terminalLine(pointer === '' ? '/' : pointer, 300)}:`, values].join(' '),
    )
  })
}

type Difference = readonly [sign: '+' | '-' | '~', pointer: string, values: string]

function* changesBetween(before: unknown, after: unknown, pointer: string): Generator<Difference> {
  if (before === after) return
  if (!isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after)) {
    yield ['~', pointer, changedText(before, after)]
    return
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const place = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (!Object.hasOwn(before, key)) yield ['+', place, valueText(after[key])]
    else if (!Object.hasOwn(after, key)) yield ['-', place, valueText(before[key])]
    else yield* changesBetween(before[key], after[key], place)
  }
}

function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Returns both values. Of long texts only from the first change on: it may stand behind any number of equal characters. */
function changedText(before: unknown, after: unknown): string {
  if (typeof before !== 'string' || typeof after !== 'string') return `${valueText(before)} → ${valueText(after)}`
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  const start = Math.max(0, same - leadLength)
  const at = start === 0 ? '' : ` (from character ${start})`
  return `${valueText(before.slice(start))} → ${valueText(after.slice(start))}${at}`
}

function valueText(value: unknown): string {
  return terminalLine(terminalJson(value), differenceLength)
}
