import type { Received } from '../call/parcel.ts'
import { ToolNotFoundError } from '../errors.ts'
import type { RunContext } from '../executor-context.ts'
import { canBeDescribed, type ToolDefinition } from '../tool/definition.ts'
import type { ToolRegistry } from '../tool/registry.ts'
import { oneLine } from './failure.ts'

const mostListed = 20
const longestWord = 64
const mostEdits = 8
/** The most steps of all comparisons for one answer: about 2 ms. */
const mostComparisons = 200_000
const runHere: readonly string[] = ['server', 'mcp', 'client', 'output']

/** Makes the error for a tool that the registry lacks, or that the caller may not see. Names those that it could call, the most similar first. */
export function notFound(
  { call, caller }: Received,
  registry: ToolRegistry,
  kernel: Pick<RunContext, 'runners'>,
): ToolNotFoundError {
  const isRunnable = ({ type }: ToolDefinition): boolean => runHere.includes(type) || kernel.runners.has(type)
  const runnable = Array.from(registry.list(caller).filter(isRunnable), ({ name }) => name)
  const names = nearestFirst(runnable, call.name)
  const shownNames: string[] = []
  let checked = 0
  while (shownNames.length < mostListed && checked < names.length) {
    const name = names[checked++]!
    const tool = registry.get(name)
    if (tool !== undefined && canBeDescribed(tool, () => {})) shownNames.push(name)
  }
  const rest = names.length > checked ? ` and ${names.length - checked} more` : ''
  const available = shownNames.length === 0 ? 'no tools' : shownNames.join(', ') + rest
  return new ToolNotFoundError(`There is no tool ${JSON.stringify(oneLine(call.name, 64))}. Available: ${available}.`, {
    recommendations: [
      'Call one of the tools that are available, by its exact name.',
      'Go on without this tool if none of them does the same.',
    ],
  })
}

/** Makes the error for a tool that was to be invoked and is not the executor's. @param isAnother Whether it has another of the name. */
export function notInvocable(name: string, isAnother: boolean): ToolNotFoundError {
  const tool = JSON.stringify(name)
  if (!isAnother) {
    return new ToolNotFoundError(
      `The executor has no tool ${tool}, so nothing was run. Add it to the executor's \`tools\`.`,
    )
  }
  return new ToolNotFoundError(
    `The executor's tool ${tool} is another than the one to invoke, so nothing was run. Invoke the one that was added, such as what \`with\` returned, or execute it by name.`,
  )
}

/**
 * Returns the names, those most similar to a word first: in another spelling, a few edits away, or containing the word. The others
 * keep their order. Compares the names with most characters in common first, and takes a bounded number of steps.
 */
function nearestFirst(names: readonly string[], word: string): string[] {
  const wanted = plain(word)
  const counts = countsOf(wanted)
  const entries = names.map((name) => {
    const spelling = plain(name)
    const limit = Math.min(mostEdits, Math.floor(Math.max(spelling.length, wanted.length) / 3))
    const tooFar = Math.abs(spelling.length - wanted.length) > limit
    const least = tooFar ? longestWord : leastEdits(spelling, wanted.length, counts)
    return { name, spelling, limit, least, apart: longestWord * 2 }
  })
  let steps = 0
  for (const entry of entries.toSorted((one, other) => one.least - other.least)) {
    const { spelling, limit, least } = entry
    const isCompared = least <= limit && (steps += spelling.length * (2 * limit + 1)) <= mostComparisons
    const edits = isCompared ? editsBetween(spelling, wanted, limit) : limit + 1
    const [short, long] = spelling.length < wanted.length ? [spelling, wanted] : [wanted, spelling]
    if (edits <= limit) entry.apart = edits
    else if (short.length >= 3 && long.includes(short)) entry.apart = mostEdits + long.length - short.length
  }
  return entries.toSorted((one, other) => one.apart - other.apart).map(({ name }) => name)
}

/** Drops case and separators, which models mix up: `getForecast`, `get-forecast` and `get_forecast` are equal. */
function plain(name: string): string {
  return name
    .slice(0, longestWord)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/** Counts the characters of a word. Some share a count, so that there are few. */
function countsOf(word: string): Int8Array {
  const counts = new Int8Array(64)
  for (let index = 0; index < word.length; index++) counts[word.charCodeAt(index) & 63]!++
  return counts
}

/** Returns how many edits a word is apart at least from one with other counts: each edit changes one character. */
function leastEdits(word: string, length: number, counts: Int8Array): number {
  const left = counts.slice()
  let common = 0
  for (let index = 0; index < word.length; index++) if (left[word.charCodeAt(index) & 63]!-- > 0) common++
  return Math.max(word.length, length) - common
}

/** Returns the edit distance of two words, or more than `most` if it is larger than `most`. */
function editsBetween(one: string, other: string, most: number): number {
  let before = Array.from({ length: other.length + 1 }, (_, index) => index)
  let now = before.slice()
  for (let row = 1; row <= one.length; row++) {
    const first = Math.max(1, row - most)
    const last = Math.min(other.length, row + most)
    now[first - 1] = first === 1 ? row : most + 1
    let least = now[first - 1]!
    for (let column = first; column <= last; column++) {
      const changed = before[column - 1]! + (one[row - 1] === other[column - 1] ? 0 : 1)
      // The column beyond the last of the row before was not counted there.
      const removed = column === row + most ? most + 1 : before[column]! + 1
      now[column] = Math.min(changed, removed, now[column - 1]! + 1)
      least = Math.min(least, now[column]!)
    }
    if (least > most) return most + 1
    const former = before
    before = now
    now = former
  }
  return before[other.length]!
}
