// Names that differ so little that one of them is a slip of the pen.
import { InvalidConfigurationError } from '../errors.ts'
import type { KeptLog } from './_log.ts'
import { valueWords } from './_words.ts'

const longestSlip = 64

/** @throws `E_INVALID_CONFIGURATION` if the executor lacks the tool and has one of nearly this name: `not` would pass for no reason. */
export function requireNoSlip(owner: string, { calls, toolsOf }: KeptLog, tool: string): void {
  if (toolsOf === undefined) return
  const names = new Set(['', ...calls.map(({ session }) => session)].flatMap((session) => [...toolsOf(session)]))
  const near = names.has(tool) ? [] : [...names].filter((name) => isSlip(name, tool))
  if (near.length === 0) return
  throw new InvalidConfigurationError(
    `${owner} takes the name of a tool. The executor has no ${valueWords(tool, 60)}, and nothing called it: is ${near.slice(0, 3).join(' or ')} meant?`,
  )
}

/** Whether two names are not the same, and differ in case, separators, or one or two letters. Other numbers are other names. */
function isSlip(one: string, other: string): boolean {
  if (one === other || one.replace(/\D/g, '') !== other.replace(/\D/g, '')) return false
  const [first, second] = [lettersIn(one), lettersIn(other)]
  const most = Math.min(2, Math.floor(Math.min(first.length, second.length) / 4))
  return Math.abs(first.length - second.length) <= most && slipsBetween(first, second) <= most
}

function lettersIn(name: string): string {
  return name
    .slice(0, longestSlip)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/** Returns how many letters have to be put in, left out, replaced, or exchanged with the next one. */
function slipsBetween(one: string, other: string): number {
  let earlier: number[] = []
  let before = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const now = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      const isExchanged = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      now[column] = Math.min(
        countAt(before, column - 1) + (isSame ? 0 : 1),
        countAt(before, column) + 1,
        countAt(now, column - 1) + 1,
        isExchanged ? countAt(earlier, column - 2) + 1 : Infinity,
      )
    }
    earlier = before
    before = now
  }
  return countAt(before, other.length)
}

function countAt(row: readonly number[], column: number): number {
  return row[column] ?? Infinity
}
