import { setImmediate as turn } from 'node:timers/promises'
import { compiled } from './_engine.ts'
import { globTest } from './_glob.ts'
import { binaryKind } from './_media.ts'
import type { FileAccess, Match, SearchQuery } from './sandbox.ts'

const largestFile = 1_048_576
/** Characters of a line that are searched. */
const longestLine = 65_536
/** Characters that are tried at once, to tell that no line of them matches. */
const longestQuick = 131_072
/** Characters times the steps of a pattern that are tried at once. */
const quickWork = 4_000_000
/** How long the event loop may be kept, in milliseconds. */
const longestTurn = 15

/** Says what a search left out. */
export interface Limits {
  readonly until: number
  readonly mostBytes: number
  note(text: string): void
}

/** Searches line by line, on a walk of its own. The time is linear in the text, whatever the pattern. */
export async function* searchFiles(
  files: FileAccess,
  query: SearchQuery,
  limits: Limits,
): AsyncGenerator<Match, void, undefined> {
  const test = await testOf(query)
  const matches = query.glob === undefined ? undefined : await globTest(query.glob, true)
  const onLimit = (): void => limits.note('Only the first 100,000 files and directories were searched.')
  const { signal, hidden } = query
  const decoder = new TextDecoder()
  let bytes = 0
  let skipped = 0
  for await (const { path, size, read } of files.walk(query.path, { hidden, matches, onLimit, signal })) {
    if (size > largestFile) {
      skipped++
      continue
    }
    if (performance.now() > limits.until || (bytes += size) > limits.mostBytes) {
      limits.note('The search was ended before it had seen all files: search in fewer.')
      break
    }
    const content = await (read?.(largestFile) ?? bytesOf(files, path, signal)).catch(() => undefined)
    if (content === undefined || binaryKind(content) !== undefined) continue
    yield* matchesIn(path, decoder.decode(content), test, query, limits)
  }
  if (skipped > 0) limits.note(`${skipped} larger than 1 MiB were not searched.`)
}

async function bytesOf(files: FileAccess, path: string, signal?: AbortSignal): Promise<Uint8Array> {
  return (await files.readFile(path, { end: largestFile, signal })).bytes
}

interface LineTest {
  (line: string): boolean
  /** Whether a text without a match can be told at once. */
  readonly quick?: (text: string) => boolean
}

async function testOf({ pattern, ignoreCase }: SearchQuery): Promise<LineTest> {
  if (!ignoreCase && !/[\\^$.*+?()[\]{}|]/.test(pattern)) {
    const has = (text: string): boolean => text.includes(pattern)
    return Object.assign((line: string) => line.includes(pattern), { quick: has })
  }
  const machine = await compiled(pattern, { ignoreCase })
  const test = (line: string): boolean => machine.test(line)
  // What means the ends of the text, and not those of a line, is tried line by line alone.
  if (/\\[AzZ]|\(\?[a-zA-Z]*-/.test(pattern)) return test
  const whole = await compiled(`(?m)${pattern}`, { ignoreCase })
  const most = Math.min(longestQuick, quickWork / whole.programSize())
  const quick = (text: string): boolean => text.length > most || text.includes('\r') || whole.test(text)
  return Object.assign(test, { quick })
}

async function* matchesIn(
  path: string,
  text: string,
  test: LineTest,
  { context }: SearchQuery,
  limits: Limits,
): AsyncGenerator<Match, void, undefined> {
  if (test.quick?.(text) === false) return
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  let shown = -1 // the last line that was given
  let after = -1 // lines up to here follow a match
  let since = performance.now()
  for (const [index, line] of lines.entries()) {
    if (performance.now() - since > longestTurn) {
      await turn()
      since = performance.now()
      if (since > limits.until) return limits.note('The search was ended in the middle of a file: it took too long.')
    }
    const isMatch = test((line.length > longestLine ? line.slice(0, longestLine) : line).replace(/\r$/, ''))
    if (!isMatch && index > after) continue
    const from = isMatch ? Math.max(shown + 1, index - context) : index
    for (let each = from; each <= index; each++) {
      yield { path, line: each + 1, text: (lines[each] ?? '').replace(/\r$/, ''), isContext: !isMatch || each < index }
    }
    shown = index
    if (isMatch) after = index + context
  }
}
