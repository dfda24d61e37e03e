import type { Received } from '../call/parcel.ts'
import { ToolNotFoundError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { canBeDescribed, type ToolDefinition } from '../tool/definition.ts'
import type { ToolRegistry } from '../tool/registry.ts'
import { oneLine } from './failure.ts'

const mostListed = 20
const longestWord = 64
const mostEdits = 8
const runHere: readonly string[] = ['server', 'mcp', 'client', 'output']

/** Makes the error for a tool that the registry lacks, or that the caller may not see. Names those that it could call, the most similar first. */
export function notFound({ call, caller }: Received, registry: ToolRegistry, kernel: Kernel): ToolNotFoundError {
  const isRunnable = ({ type }: ToolDefinition): boolean => runHere.includes(type) || kernel.runners.has(type)
  const runnable = Array.from(registry.list(caller).filter(isRunnable), ({ name }) => name)
  const names = nearestFirst(runnable, call.name)
  const shown: string[] = []
  let checked = 0
  while (shown.length < mostListed && checked < names.length) {
    const name = names[checked++]!
    const tool = registry.get(name)
    if (tool !== undefined && canBeDescribed(tool, () => {})) shown.push(name)
  }
  const rest = names.length > checked ? ` and ${names.length - checked} more` : ''
  const available = shown.length === 0 ? 'no tools' : shown.join(', ') + rest
  return new ToolNotFoundError(`There is no tool ${JSON.stringify(oneLine(call.name, 64))}. Available: ${available}.`, {
    recommendations: [
      'Call one of the tools that are available, by its exact name.',
      'Go on without this tool if none of them does the same.',
    ],
  })
}

/**
 * Returns the names, those most similar to a word first: in another spelling, a few edits away, or containing the word. The others
 * keep their order. Takes at most about a thousand steps for each name.
 */
function nearestFirst(names: readonly string[], word: string): string[] {
  const wanted = plain(word)
  return names
    .map((name) => ({ name, apart: apart(plain(name), wanted) }))
    .toSorted((one, other) => one.apart - other.apart)
    .map(({ name }) => name)
}

/** Drops case and separators, which models mix up: `getForecast`, `get-forecast` and `get_forecast` are equal. */
function plain(name: string): string {
  return name
    .slice(0, longestWord)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}

function apart(name: string, word: string): number {
  const limit = Math.min(mostEdits, Math.floor(Math.max(name.length, word.length) / 3))
  const edits = editsBetween(name, word, limit)
  if (edits <= limit) return edits
  const [short, long] = name.length < word.length ? [name, word] : [word, name]
  return short.length >= 3 && long.includes(short) ? mostEdits + long.length - short.length : longestWord * 2
}

/** Returns the edit distance of two words, or `most + 1` if it is larger than `most`. */
function editsBetween(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1
  let before = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const now = Array.from(before, () => most + 1)
    now[0] = row
    let least = row
    for (let column = Math.max(1, row - most); column <= Math.min(other.length, row + most); column++) {
      const changed = before[column - 1]! + (one[row - 1] === other[column - 1] ? 0 : 1)
      now[column] = Math.min(changed, before[column]! + 1, now[column - 1]! + 1)
      least = Math.min(least, now[column]!)
    }
    if (least > most) return most + 1
    before = now
  }
  return before[other.length]!
}
