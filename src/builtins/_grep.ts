import { setImmediate as yieldLoop } from 'node:timers/promises'
import { compiledPattern } from './_engine.ts'
import { globTest } from './_glob.ts'
import { binaryKind } from './_media.ts'
import type { FileAccess, Match, SearchQuery } from './sandbox.ts'

const largestFile = 1_048_576
/** Characters that are tried at once, to tell that no line of them matches. */
const longestQuick = 131_072
/** Characters times the steps of a pattern that are searched between two yields to the event loop: about 100 ms at worst. */
const mostSliceWork = 500_000
/** How long the event loop may be kept by many pieces, in milliseconds. */
const longestSlice = 15

/** Says what a search left out. */
export interface SearchLimits {
  readonly until: number
  readonly mostBytes: number
  note(text: string): void
}

/** Searches line by line, on a walk of its own. The time is linear in the text, whatever the pattern. */
export async function* searchFiles(
  files: FileAccess,
  query: SearchQuery,
  limits: SearchLimits,
): AsyncGenerator<Match, void, undefined> {
  const test = await lineTest(query)
  const matches = query.glob === undefined ? undefined : await globTest(query.glob, true)
  const onLimit = (): void => limits.note('Only the first 100,000 files and directories were searched.')
  const { signal, hidden } = query
  const decoder = new TextDecoder()
  const pace = new SearchPace()
  let bytes = 0
  let skipped = 0
  try {
    for await (const { path, size, read } of files.walk(query.path, { hidden, matches, onLimit, signal })) {
      if (size > largestFile) {
        skipped++
        continue
      }
      if (performance.now() > limits.until || (bytes += size) > limits.mostBytes) {
        limits.note('The search was ended before it had seen all files: search in fewer.')
        break
      }
      const content = await (read?.(largestFile) ?? searchedBytes(files, path, signal)).catch(() => undefined)
      if (content === undefined || binaryKind(content) !== undefined) continue
      yield* matchesIn(path, decoder.decode(content), test, query, limits, pace)
    }
  } finally {
    // The search may be left early. What it left out by then is said all the same.
    if (skipped > 0) limits.note(`${skipped} larger than 1 MiB were not searched.`)
    if (test.long > 0) limits.note(longLinesNote(test))
  }
}

function longLinesNote({ long, longest, inPieces }: LineTest): string {
  const lines = `${long === 1 ? '1 line is' : `${long} lines are`} longer than this pattern can search at once`
  return inPieces
    ? `${lines}: there, a match of more than ${longest >> 1} characters may have been missed. A smaller pattern finds longer ones.`
    : `${lines}: only the first ${longest} characters were searched there. Use a smaller pattern, or one without ^, $, \\b and the like.`
}

async function searchedBytes(files: FileAccess, path: string, signal?: AbortSignal): Promise<Uint8Array> {
  return (await files.readFile(path, { end: largestFile, signal })).bytes
}

/** Divides a search, so that other tasks of the process run too. The work is counted, since one long test cannot be ended. */
class SearchPace {
  #work = 0
  #since = performance.now()

  /** Counts the work that comes next. Returns whether to call `pause` first. */
  isDue(work: number): boolean {
    this.#work += work
    return this.#work > mostSliceWork || performance.now() - this.#since > longestSlice
  }

  /** Lets other tasks run before some work. */
  async pause(work: number): Promise<void> {
    await yieldLoop()
    this.#work = work
    this.#since = performance.now()
  }
}

interface LineTest {
  readonly test: (piece: string) => boolean
  /** Whether a text without a match can be told at once. */
  readonly quick?: ((text: string) => boolean) | undefined
  /** The worst cost of one character. */
  readonly steps: number
  /** The most characters that are tried at once. */
  readonly longest: number
  /** Whether what matches in a piece of a line matches in the line: nothing in the pattern asks what is around it. */
  readonly inPieces: boolean
  /** Whether no match can be longer than half a piece. */
  readonly isShort: boolean
  /** How many lines were not searched whole. */
  long: number
}

async function lineTest({ pattern, ignoreCase }: SearchQuery): Promise<LineTest> {
  if (!ignoreCase && !/[\\^$.*+?()[\]{}|]/.test(pattern)) {
    const has = (text: string): boolean => text.includes(pattern)
    return { test: has, quick: has, steps: 0, longest: Infinity, inPieces: true, isShort: true, long: 0 }
  }
  const machine = await compiledPattern(pattern, { ignoreCase })
  // What means the ends of the text, and not those of a line, is tried line by line alone.
  const isOfText = /\\[AzZ]|\(\?[a-zA-Z]*-/.test(pattern)
  const multilinePattern = isOfText ? undefined : await compiledPattern(`(?m)${pattern}`, { ignoreCase })
  const steps = Math.max(machine.programSize(), multilinePattern?.programSize() ?? 0)
  const longest = Math.floor(mostSliceWork / steps)
  return {
    test: (piece) => machine.test(piece),
    quick:
      multilinePattern &&
      ((text) => text.length > Math.min(longest, longestQuick) || text.includes('\r') || multilinePattern.test(text)),
    steps,
    longest,
    inPieces: !/\\[AbBzZ]|\$|(?<!\[)\^/.test(pattern),
    // Without a repeat, a character of the pattern matches one character, which is two units at most.
    isShort: !/[*+{]/.test(pattern) && pattern.length * 4 <= longest,
    long: 0,
  }
}

/** Returns what is tried of a line. Pieces overlap by half, so that each match of half a piece is whole in one. */
function linePieces(line: string, { longest, inPieces }: LineTest): readonly string[] {
  if (line.length <= longest) return [line]
  const pieces: string[] = []
  const end = inPieces ? line.length - longest / 2 : 1
  for (let start = 0; start < end; start += longest >> 1) {
    // Half a character would be another one.
    pieces.push(line.slice(start, start + longest).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, ''))
  }
  return pieces
}

async function* matchesIn(
  path: string,
  text: string,
  test: LineTest,
  { context }: SearchQuery,
  limits: SearchLimits,
  pace: SearchPace,
): AsyncGenerator<Match, void, undefined> {
  if (test.quick !== undefined) {
    const work = Math.min(text.length, test.longest) * test.steps
    if (pace.isDue(work)) await pace.pause(work)
    if (!test.quick(text)) return
  }
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  let lastLine = -1 // the last line that was given
  let after = -1 // lines up to here follow a match
  for (const [index, line] of lines.entries()) {
    let isMatch = false
    const lineText = line.replace(/\r$/, '')
    for (const piece of linePieces(lineText, test)) {
      const work = piece.length * test.steps
      if (pace.isDue(work)) {
        await pace.pause(work)
        if (performance.now() > limits.until)
          return limits.note('The search was ended in the middle of a file: it took too long.')
      }
      isMatch = test.test(piece)
      if (isMatch) break
    }
    if (lineText.length > test.longest && !(test.inPieces && (isMatch || test.isShort))) test.long++
    if (!isMatch && index > after) continue
    const from = isMatch ? Math.max(lastLine + 1, index - context) : index
    for (let each = from; each <= index; each++) {
      yield { path, line: each + 1, text: (lines[each] ?? '').replace(/\r$/, ''), isContext: !isMatch || each < index }
    }
    lastLine = index
    if (isMatch) after = index + context
  }
}
