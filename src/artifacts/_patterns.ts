/** A pattern that was written by a model, ready to be asked about lines. */
export interface Matcher {
  test(line: string): boolean
  /** Where the text that made a line match ends, about. */
  endOf(line: string): number
  /** What it costs to look at one character, at worst, against a search for plain text. */
  readonly cost: number
  /** Characters of a line that are looked at; what stands beyond them is not. */
  readonly longest: number
}

export interface PatternOptions {
  readonly flags?: string | undefined
  /** Whether the pattern is plain text. */
  readonly literal?: boolean | undefined
}

export const longestPattern = 500
/** All counted repeats of a pattern, added up. */
const mostRepeats = 1_000
/** Steps of the machine that a pattern becomes: what it costs to look at a character grows with it. */
const mostSteps = 500
/** Steps times characters: about a tenth of a second at worst, which is what one line may cost. */
const mostWork = 500_000
const longestLine = 1_048_576
/** Patterns that are kept compiled, from the check of a call to its answer; one may hold 8 MB of what it has learnt. */
const kept = 4

const compiled = new Map<string, Matcher>()

/**
 * Compiles a pattern for an engine whose time grows with the text and never with its combinations; what such an engine
 * cannot do, and what is too large for it, is refused.
 *
 * @returns The matcher, or why there is none, in words for the model.
 */
export async function matcherOf(
  pattern: string,
  { flags = '', literal = false }: PatternOptions,
): Promise<Matcher | string> {
  if (literal || !/[\\^$.*+?()[\]{}|]/.test(pattern)) return plain(pattern, flags.includes('i'))
  const key = `${flags}/${pattern}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  if (pattern.length > longestPattern) return `is longer than ${longestPattern} characters`
  if (repeatsOf(pattern) > mostRepeats)
    return `counts up to more than ${mostRepeats} repeats: use + or *, or smaller counts`
  const engine = await loadEngine()
  if (engine === undefined)
    return 'has to be plain text here (literal: true): patterns need the package re2js, which is not installed'
  const matcher = compile(pattern, flags.includes('i'), engine)
  if (typeof matcher === 'string') return matcher
  compiled.set(key, matcher)
  for (const oldest of compiled.keys()) {
    if (compiled.size <= kept) break
    compiled.delete(oldest)
  }
  return matcher
}

function plain(pattern: string, ignoresCase: boolean): Matcher {
  const sought = ignoresCase ? pattern.toLowerCase() : pattern
  const place = (line: string): number => (ignoresCase ? line.toLowerCase() : line).indexOf(sought)
  return {
    test: (line) => place(line) >= 0,
    endOf: (line) => place(line) + sought.length,
    cost: 1,
    longest: longestLine,
  }
}

/** What is used of `re2js`. */
interface LinearEngine {
  readonly CASE_INSENSITIVE: number
  compile(pattern: string, flags?: number): { test(text: string): boolean; programSize(): number }
}

async function loadEngine(): Promise<LinearEngine | undefined> {
  try {
    return (await import('re2js')).RE2JS
  } catch {
    return undefined
  }
}

function compile(pattern: string, ignoresCase: boolean, engine: LinearEngine): Matcher | string {
  try {
    const machine = engine.compile(translated(pattern), ignoresCase ? engine.CASE_INSENSITIVE : 0)
    const cost = machine.programSize()
    if (cost > mostSteps)
      return `comes to ${cost} steps, and ${mostSteps} are the most: use fewer or smaller counted repeats`
    const test = (line: string): boolean => machine.test(line)
    return {
      test,
      endOf: (line) => endOf(line, test, cost),
      cost,
      longest: Math.max(4_096, Math.floor(mostWork / cost)),
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^error parsing regexp: /, '') : String(cause)
    return `is no pattern of the RE2 syntax, which has no lookaround and no references to groups: ${reason.slice(0, 200)}`
  }
}

/** Escapes by number, as JavaScript has them, in the form that the engine knows. */
function translated(pattern: string): string {
  return pattern.replace(
    /\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|[^])/g,
    (all: string, long: string | undefined, short: string | undefined) =>
      long === undefined && short === undefined ? all : `\\x{${long ?? short}}`,
  )
}

function repeatsOf(pattern: string): number {
  let repeats = 0
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) repeats += Number(most || least)
  return repeats
}

/**
 * Where the shortest beginning that matches ends, about: a pattern that asks for the end of the line is found there.
 *
 * @returns 0 where it would cost too much to find out.
 */
function endOf(line: string, test: (line: string) => boolean, cost: number): number {
  const tests = Math.ceil(Math.log2(line.length))
  if (tests * line.length * cost > 8 * mostWork) return 0
  let low = 0
  let high = line.length
  while (high - low > 16) {
    const middle = (low + high) >> 1
    if (test(line.slice(0, middle))) high = middle
    else low = middle
  }
  return high
}
