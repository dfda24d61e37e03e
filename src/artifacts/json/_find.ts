import type { JsonArtifact } from '../../index.ts'
import { ArtifactError, isToolError } from '../../errors.ts'
import { WorkPace } from '../_pace.ts'
import { longestPattern, matcherOf, type Matcher } from '../_patterns.ts'
import { holds, pauseMark, select, Work, type EvaluationContext, type SlicedWork } from './_evaluate.ts'
import { lineGroups, lineIndexOf, valueIn, valueUnlessInvalid } from './_lines.ts'
import { readPath, type Path, type Selector } from './_path.ts'

/** The options of `filter` and `pluck`. */
export interface FilterOptions {
  /** How many results to skip. Default: 0. */
  readonly start?: number | undefined
  /** The most results. Default: 1,000. */
  readonly limit?: number | undefined
  /** Steps after which the search throws; one step visits one value. Default: 10,000,000, and each line of JSON Lines adds 1,000. */
  readonly steps?: number | undefined
  /** Whether to skip lines of JSON Lines that are not JSON. Default: `false`, and such a line ends the search with an error. */
  readonly skipInvalid?: boolean | undefined
  /** Aborts the search. */
  readonly signal?: AbortSignal | undefined
}

const stepsForLine = 1_000

/** Yields what a path selects. Other tasks run meanwhile. */
export async function* find(
  artifact: JsonArtifact,
  path: string,
  options: FilterOptions = {},
): AsyncGenerator<unknown, void, undefined> {
  const { steps = 10_000_000, signal } = options
  const parsedPath = readPath(path)
  const matchers = await compiledMatchers(parsedPath.patterns)
  const pace = new WorkPace(Infinity, signal ?? new AbortController().signal)
  const isLined = lineIndexOf(artifact) !== undefined
  const asking: EvaluationContext = {
    root: isLined ? undefined : await wholeOf(artifact),
    work: new Work(steps),
    matchers,
  }
  const all = isLined
    ? inLines(artifact, parsedPath, asking, options)
    : select(asking.root, parsedPath.segments, asking)
  for await (const found of all) {
    if (found === pauseMark) await pace.pause()
    else yield found
  }
}

/**
 * Returns the whole value of an artifact.
 *
 * @throws `E_ARTIFACT` if it is not JSON.
 */
export async function wholeOf(artifact: JsonArtifact): Promise<unknown> {
  try {
    return await artifact.value()
  } catch (cause) {
    if (isToolError(cause)) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ArtifactError(`The artifact cannot be read as JSON: ${reason.slice(0, 200)}`, { cause })
  }
}

async function compiledMatchers(patterns: ReadonlySet<string>): Promise<ReadonlyMap<string, Matcher>> {
  const matchers = new Map<string, Matcher>()
  for (const pattern of patterns) {
    if (pattern.length > longestPattern) {
      throw new ArtifactError(`A pattern is longer than ${longestPattern} characters.`)
    }
    const matcher = await matcherOf(pattern, {})
    if (typeof matcher === 'string') throw new ArtifactError(`The pattern ${JSON.stringify(pattern)} ${matcher}.`)
    matchers.set(pattern, matcher)
  }
  return matchers
}

/** Yields what a path selects in JSON Lines. One line at a time is in memory. */
async function* inLines(
  artifact: JsonArtifact,
  { segments, looksAtRoot }: Path,
  asking: EvaluationContext,
  options: FilterOptions,
): AsyncGenerator<unknown, void, undefined> {
  const [first, ...rest] = segments
  if (first === undefined) {
    throw new ArtifactError('The path selects all lines at once. Ask for items, as in "$[*]" or "$[0:10]".')
  }
  if (looksAtRoot) {
    throw new ArtifactError(
      'In JSON Lines a filter can look at the items alone, with "@"; "$" would be all lines at once.',
    )
  }
  for (const selector of first.selectors) {
    for await (const { value } of selectedItems(artifact, selector, asking, options)) yield* select(value, rest, asking)
  }
  if (!first.isDescendant) return
  for await (const { value } of selectedItems(artifact, { kind: 'wildcard' }, asking, options)) {
    yield* select(value, segments, asking)
  }
}

/** Yields the items that a selector selects among all lines. */
async function* selectedItems(
  artifact: JsonArtifact,
  selector: Selector,
  asking: EvaluationContext,
  { skipInvalid = false, signal }: FilterOptions,
): AsyncGenerator<{ readonly value: unknown }, void, undefined> {
  if (selector.kind === 'name') return
  const isWanted = await wanted(artifact, selector)
  if (isWanted === undefined) return
  const pace = new WorkPace(Infinity, signal ?? new AbortController().signal)
  for await (const { first, records } of lineGroups(artifact, { start: isWanted.start, signal })) {
    for (const [offset, record] of records.entries()) {
      if (first + offset >= isWanted.end) return
      if ((first + offset - isWanted.start) % isWanted.step !== 0) continue
      if (pace.isDue(200 + 2 * record.text.length)) await pace.pause()
      asking.work.allow(stepsForLine)
      const value = skipInvalid ? valueUnlessInvalid(record) : valueIn(record)
      if (value === undefined) continue
      if (selector.kind !== 'filter' || (await done(holds(selector.test, value, asking), pace))) yield { value }
    }
  }
}

/** Runs long work and returns its result. Other tasks run at each pause. */
async function done<Result>(work: SlicedWork<Result>, pace: WorkPace): Promise<Result> {
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value
    await pace.pause()
  }
}

interface Wanted {
  readonly start: number
  readonly end: number
  readonly step: number
}

const wholeRange: Wanted = { start: 0, end: Infinity, step: 1 }

/** Returns the range of items that a selector visits. Counts the items only if an index is negative. */
async function wanted(artifact: JsonArtifact, selector: Selector): Promise<Wanted | undefined> {
  const fromEnd = async (position: number): Promise<number> =>
    position < 0 ? (await artifact.length()) + position : position
  if (selector.kind === 'index') {
    const start = await fromEnd(selector.index)
    return start < 0 ? undefined : { start, end: start + 1, step: 1 }
  }
  if (selector.kind !== 'slice') return wholeRange
  const { start = 0, end = Infinity, step } = selector
  if (step < 0) throw new ArtifactError('In JSON Lines the step of a slice must not be negative.')
  if (step === 0) return undefined
  return { start: Math.max(0, await fromEnd(start)), end: await fromEnd(end), step }
}
