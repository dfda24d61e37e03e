import { ArtifactError } from '../errors.ts'

/** A compiled pattern of a model. */
export interface Matcher {
  test(line: string): boolean
  /** Returns the approximate end of the match in a line. */
  endOf(line: string): number
  /** The worst cost of one character, relative to a search for plain text. */
  readonly cost: number
  /** The most characters of a line that are searched. */
  readonly longest: number
}

/**
 * Whether it is known, without loading it, that the engine of patterns is not installed. A bundle has its packages within
 * it, so that it finds neither this package nor the engine: there nothing is known.
 */
export function lacksEngine(): boolean {
  return isResolved('toolwright') && !isResolved('re2js')
}

function isResolved(name: string): boolean {
  try {
    // webpack and rspack, which have no resolution at run time, warn of a call of it.
    // oxlint-disable-next-line typescript/unbound-method -- it has no use for `this`
    const { resolve } = import.meta
    resolve(name)
    return true
  } catch {
    return false
  }
}

export interface PatternOptions {
  readonly flags?: string | undefined
  /** Whether the pattern is plain text. */
  readonly literal?: boolean | undefined
}

export const longestPattern = 500
/** The most counted repeats in a pattern, added up. */
const mostRepeats = 1_000
/** The most steps of a compiled pattern, since the cost of a character grows with them. */
const mostPatternSteps = 500
/** The most work for one line, in steps times characters: about 100 ms at worst. */
const mostLineWork = 500_000
const longestSearchedLine = 1_048_576
/** Compiled patterns in the cache, which serves the check of a call and its answer. One may hold 8 MB. */
const mostCompiled = 4

const compiledPatterns = new Map<string, Matcher>()

/**
 * Compiles a pattern for an engine whose time is linear in the text. Refuses patterns that the engine does not support, and
 * those that are too large.
 *
 * @returns The matcher, or the reason for the refusal, in words for the model.
 */
export async function matcherOf(
  pattern: string,
  { flags = '', literal = false }: PatternOptions,
): Promise<Matcher | string> {
  if (literal || !/[\\^$.*+?()[\]{}|]/.test(pattern)) return plainMatcher(pattern, flags.includes('i'))
  const key = `${flags}/${pattern}`
  const cachedMatcher = compiledPatterns.get(key)
  if (cachedMatcher !== undefined) return cachedMatcher
  if (pattern.length > longestPattern) return `is longer than ${longestPattern} characters`
  if (repeatsOf(pattern) > mostRepeats)
    return `has more than ${mostRepeats} counted repeats: use + or *, or smaller counts`
  const engine = await loadLinearEngine()
  if (engine === undefined)
    return 'has to be plain text here (literal: true): patterns need the package re2js, which is not installed'
  const matcher = compilePattern(pattern, flags.includes('i'), engine)
  if (typeof matcher === 'string') return matcher
  compiledPatterns.set(key, matcher)
  for (const oldest of compiledPatterns.keys()) {
    if (compiledPatterns.size <= mostCompiled) break
    compiledPatterns.delete(oldest)
  }
  return matcher
}

function plainMatcher(pattern: string, ignoresCase: boolean): Matcher {
  const sought = ignoresCase ? pattern.toLowerCase() : pattern
  const place = (line: string): number => (ignoresCase ? line.toLowerCase() : line).indexOf(sought)
  return {
    test: (line) => place(line) >= 0,
    endOf: (line) => place(line) + sought.length,
    cost: 1,
    longest: longestSearchedLine,
  }
}

/** The part of `re2js` that is used. */
interface LinearEngine {
  readonly CASE_INSENSITIVE: number
  compile(pattern: string, flags?: number): { test(text: string): boolean; programSize(): number }
}

/**
 * Loads the engine.
 *
 * @returns `undefined` if it is not installed.
 * @throws `E_ARTIFACT` if it could not be loaded, such as a part of a page while the network is away.
 */
async function loadLinearEngine(): Promise<LinearEngine | undefined> {
  try {
    return (await import('re2js')).RE2JS
  } catch (cause) {
    if (isNotInstalled(cause)) return undefined
    throw new ArtifactError('The package re2js could not be loaded. Try again.', { cause, retryable: true })
  }
}

/** Whether an import failed because there is no such package, in the words of Node, Deno, Bun, workerd and browsers. */
function isNotInstalled(cause: unknown): boolean {
  const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  const words =
    /^(?:Cannot find|No such|Failed to resolve) (?:package|module)|bare specifier|not resolve to a valid URL/
  return String(code).endsWith('MODULE_NOT_FOUND') || words.test(String(message))
}

function compilePattern(pattern: string, ignoresCase: boolean, engine: LinearEngine): Matcher | string {
  try {
    const machine = engine.compile(translated(pattern), ignoresCase ? engine.CASE_INSENSITIVE : 0)
    const cost = machine.programSize()
    if (cost > mostPatternSteps)
      return `compiles to ${cost} steps, but at most ${mostPatternSteps} are allowed: use fewer or smaller counted repeats`
    const test = (line: string): boolean => machine.test(line)
    return {
      test,
      endOf: (line) => matchEnd(line, test, cost),
      cost,
      longest: Math.max(4_096, Math.floor(mostLineWork / cost)),
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^error parsing regexp: /, '') : String(cause)
    return `is not valid in the RE2 syntax, which has no lookaround and no references to groups: ${reason.slice(0, 200)}`
  }
}

/** Translates JavaScript's escapes by code point to those of the engine. */
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
 * Finds the approximate end of the shortest matching beginning of a line. A pattern with `$` ends at the end of the line.
 *
 * @returns 0 if the search would cost too much.
 */
function matchEnd(line: string, test: (line: string) => boolean, cost: number): number {
  const tests = Math.ceil(Math.log2(line.length))
  if (tests * line.length * cost > 8 * mostLineWork) return 0
  let low = 0
  let high = line.length
  while (high - low > 16) {
    const middle = (low + high) >> 1
    if (test(line.slice(0, middle))) high = middle
    else low = middle
  }
  return high
}
