import { ArtifactError, isToolError, type JsonArtifact } from '../../index.ts'
import { Pace } from '../_pace.ts'
import { longestPattern, matcherOf, type Matcher } from '../_patterns.ts'
import { holds, pause, select, Work, type Asking, type Paused } from './_evaluate.ts'
import { lineGroups, lineIndexOf, valueIn, valueUnlessInvalid } from './_lines.ts'
import { readPath, type Path, type Selector } from './_path.ts'

export interface FilterOptions {
  /** How many of what is found are passed over. Default: 0. */
  readonly start?: number | undefined
  /** How many are given at most. Default: 1,000. */
  readonly limit?: number | undefined
  /** Steps after which the search gives up; one is a look at one value. Default: 10,000,000, and 1,000 more for each line of JSON Lines. */
  readonly steps?: number | undefined
  /** Whether lines of JSON Lines that are no JSON are passed over instead of ending the search. Default: `false`. */
  readonly skipInvalid?: boolean | undefined
  /** Ends the search. */
  readonly signal?: AbortSignal | undefined
}

const stepsForLine = 1_000

/** What a path selects, one by one; everybody else gets a turn now and then. */
export async function* find(
  artifact: JsonArtifact,
  path: string,
  options: FilterOptions = {},
): AsyncGenerator<unknown, void, undefined> {
  const { steps = 10_000_000, signal } = options
  const read = readPath(path)
  const matchers = await compiled(read.patterns)
  const pace = new Pace(Infinity, signal ?? new AbortController().signal)
  const isLined = lineIndexOf(artifact) !== undefined
  const asking: Asking = { root: isLined ? undefined : await wholeOf(artifact), work: new Work(steps), matchers }
  const all = isLined ? inLines(artifact, read, asking, options) : select(asking.root, read.segments, asking)
  for await (const found of all) {
    if (found === pause) await pace.turn()
    else yield found
  }
}

/**
 * The whole value of an artifact.
 *
 * @throws `E_ARTIFACT` where it is no JSON.
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

async function compiled(patterns: ReadonlySet<string>): Promise<ReadonlyMap<string, Matcher>> {
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

/** What a path selects where the document is an array of which every line is an item; no more than one of them is held. */
async function* inLines(
  artifact: JsonArtifact,
  { segments, looksAtRoot }: Path,
  asking: Asking,
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
    for await (const { value } of items(artifact, selector, asking, options)) yield* select(value, rest, asking)
  }
  if (!first.isDescendant) return
  for await (const { value } of items(artifact, { kind: 'wildcard' }, asking, options)) {
    yield* select(value, segments, asking)
  }
}

/** The items that a selector selects among all lines. */
async function* items(
  artifact: JsonArtifact,
  selector: Selector,
  asking: Asking,
  { skipInvalid = false, signal }: FilterOptions,
): AsyncGenerator<{ readonly value: unknown }, void, undefined> {
  if (selector.kind === 'name') return
  const isWanted = await wanted(artifact, selector)
  if (isWanted === undefined) return
  const pace = new Pace(Infinity, signal ?? new AbortController().signal)
  for await (const { first, records } of lineGroups(artifact, { start: isWanted.start, signal })) {
    for (const [offset, record] of records.entries()) {
      if (first + offset >= isWanted.end) return
      if ((first + offset - isWanted.start) % isWanted.step !== 0) continue
      if (pace.isDue(200 + 2 * record.text.length)) await pace.turn()
      asking.work.allow(stepsForLine)
      const value = skipInvalid ? valueUnlessInvalid(record) : valueIn(record)
      if (value === undefined) continue
      if (selector.kind !== 'filter' || (await done(holds(selector.test, value, asking), pace))) yield { value }
    }
  }
}

/** The result of what takes long; everybody else has a turn at each of its pauses. */
async function done<Result>(work: Paused<Result>, pace: Pace): Promise<Result> {
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value
    await pace.turn()
  }
}

interface Wanted {
  readonly start: number
  readonly end: number
  readonly step: number
}

const everything: Wanted = { start: 0, end: Infinity, step: 1 }

/** Which of the items a selector looks at; they are counted only where it counts from the end. */
async function wanted(artifact: JsonArtifact, selector: Selector): Promise<Wanted | undefined> {
  const fromEnd = async (given: number): Promise<number> => (given < 0 ? (await artifact.length()) + given : given)
  if (selector.kind === 'index') {
    const start = await fromEnd(selector.index)
    return start < 0 ? undefined : { start, end: start + 1, step: 1 }
  }
  if (selector.kind !== 'slice') return everything
  const { start = 0, end = Infinity, step } = selector
  if (step < 0) throw new ArtifactError('In JSON Lines a slice can go forwards alone: its step has to be positive.')
  if (step === 0) return undefined
  return { start: Math.max(0, await fromEnd(start)), end: await fromEnd(end), step }
}
