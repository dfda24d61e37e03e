import type { ArtifactQuery, Issue, SpooledArtifact, ToolContext } from '../index.ts'
import type { JsonSchemaObject } from '../extension.ts'
import { searchLines, type LineSearchInput } from './_grep.ts'
import { withNote, beginningWithin, AnswerPage, quotedText, type AnswerLimits } from './_output.ts'
import { WorkPace } from './_pace.ts'
import { lacksEngine, longestPattern, matcherOf } from './_patterns.ts'
import { integerField, objectSchema } from './_query.ts'

/** A built-in query. Its answer is escaped and cut already. */
export interface OwnQuery extends Omit<ArtifactQuery, 'answer'> {
  readonly isShown: true
  /** Returns the issues of an input that fits the schema. */
  check?(input: never): Promise<readonly Issue[]>
  answer(artifact: SpooledArtifact, input: never, context: ToolContext): unknown
}

export interface QueryOptions {
  readonly limits: AnswerLimits
  /** Milliseconds after which a search stops. */
  readonly searchTime: number
  readonly estimateTokens: ((text: string) => number) | undefined
}

/** The largest `column`. The model can read what comes after it with `artifact_bytes`. */
const largestColumn = 10_000_000
const lineCount = integerField(1, 'How many lines. Default: 10')
const firstLine = integerField(0, 'The line to begin at, counted from 0. Default: 0')
const around = (where: string): JsonSchemaObject => ({
  ...integerField(0, `How many lines to show ${where} each match. Default: 0`),
  maximum: 20,
})

/** The queries for every artifact that has lines. */
export function textQueries({ limits, searchTime, estimateTokens }: QueryOptions): Readonly<Record<string, OwnQuery>> {
  const paceOf = ({ signal }: ToolContext): WorkPace => new WorkPace(searchTime, signal)
  const isPlain = lacksEngine()
  const withLiteral = (input: LineSearchInput): LineSearchInput => (isPlain ? { ...input, literal: true } : input)
  return {
    head: {
      isShown: true,
      description: 'Shows the first lines of an artifact.',
      inputSchema: objectSchema({ count: lineCount }),
      answer: (artifact, input: { readonly count?: number }, context) =>
        cat(artifact, { end: input.count ?? 10 }, limits, paceOf(context)),
    },
    tail: {
      isShown: true,
      description: 'Shows the last lines of an artifact.',
      inputSchema: objectSchema({ count: lineCount }),
      answer: (artifact, input: { readonly count?: number }) => tail(artifact, input.count ?? 10, limits),
    },
    grep: {
      isShown: true,
      description: `Finds the lines of an artifact that ${isPlain ? 'contain a text' : 'match a pattern'}, and shows them with their numbers, counted from 0. Says where to go on if there may be more.`,
      inputSchema: objectSchema(
        {
          pattern: {
            type: 'string',
            minLength: 1,
            maxLength: longestPattern,
            description: isPlain
              ? 'Plain text, not a regular expression, sought in each line by itself'
              : 'A regular expression (RE2 syntax: no lookaround), matched against each line by itself',
          },
          flags: {
            type: 'string',
            pattern: '^[imsu]*$',
            description: 'i ignores case; m, s and u have no effect',
          },
          ...(!isPlain && {
            literal: { type: 'boolean', description: 'Whether the pattern is plain text. Default: false' },
          }),
          before: around('before'),
          after: around('after'),
          start: firstLine,
          limit: integerField(1, 'How many matches to show. Default: as many as fit'),
        },
        ['pattern'],
      ),
      async check(input: LineSearchInput) {
        const matcher = await matcherOf(input.pattern, withLiteral(input))
        return typeof matcher === 'string' ? [{ path: ['pattern'], message: matcher }] : []
      },
      async answer(artifact, input: LineSearchInput, context) {
        const matcher = await matcherOf(input.pattern, withLiteral(input))
        return typeof matcher === 'string'
          ? matcher
          : searchLines(artifact, withLiteral(input), matcher, limits, paceOf(context))
      },
    },
    cat: {
      isShown: true,
      description:
        'Shows the lines of an artifact from `start` up to and without `end`. Says where to go on if they do not fit.',
      inputSchema: objectSchema({
        start: firstLine,
        end: integerField(0, 'The line before which to stop. Default: as many as fit'),
        column: {
          ...integerField(0, 'The character of the first line to begin at, if that line is very long. Default: 0'),
          maximum: largestColumn,
        },
      }),
      answer: (artifact, input: CatInput, context) => cat(artifact, input, limits, paceOf(context)),
    },
    byte_length: {
      isShown: true,
      description: 'Tells how many bytes an artifact has.',
      answer: (artifact) => String(artifact.byteLength()),
    },
    line_count: {
      isShown: true,
      description: 'Tells how many lines an artifact has.',
      answer: async (artifact) => String(await artifact.lineCount()),
    },
    estimate_tokens: {
      isShown: true,
      description: 'Estimates how many tokens an artifact would take if all of it were shown.',
      answer: async (artifact) => String(await artifact.estimateTokens(estimateTokens)),
    },
  }
}

interface CatInput {
  readonly start?: number
  readonly end?: number
  readonly column?: number
}

async function cat(
  artifact: SpooledArtifact,
  { start = 0, end = Infinity, column = 0 }: CatInput,
  limits: AnswerLimits,
  pace: WorkPace,
): Promise<string> {
  if (end <= start) return withNote('', `There are no lines from ${start} up to and without ${end}.`)
  const page = new AnswerPage(limits)
  for await (const { first, texts } of artifact.lineGroups({ start, longest: column + limits.bytes })) {
    if (pace.isDue(50_000)) await pace.pause()
    for (const [index, text] of texts.entries()) {
      const line = first + index
      if (line >= end) return joinedLines(page.lines)
      const isFirst = line === start
      if (isFirst && column > 0 && column >= text.length) {
        return withNote('', `There is no column ${column}: line ${line} has ${text.length} characters, counted from 0.`)
      }
      const rest = isFirst ? text.slice(column) : text
      if (page.add(quotedText(rest))) continue
      if (!isFirst)
        return withNote(
          page.text,
          `Truncated: lines ${start} to ${line - 1} are shown. Go on with artifact_cat, start: ${line}.`,
        )
      const beginning = beginningWithin(rest, page.left)
      return withNote(
        beginning.text,
        `Truncated: line ${line} is longer than can be shown. Go on with artifact_cat, start: ${line}, column: ${column + beginning.length}; or with start: ${line + 1} after it.`,
      )
    }
  }
  if (page.lines.length > 0) return joinedLines(page.lines)
  return withNote(
    '',
    artifact.byteLength() === 0
      ? 'The artifact is empty.'
      : `There is no line ${start}: the artifact has ${await artifact.lineCount()} lines, counted from 0.`,
  )
}

async function tail(artifact: SpooledArtifact, count: number, limits: AnswerLimits): Promise<string> {
  const size = artifact.byteLength()
  if (size === 0) return withNote('', 'The artifact is empty.')
  // More cannot fit: every byte takes at least one byte in the answer, except line ends.
  const from = Math.max(0, size - limits.bytes - 2 * limits.lines)
  const bytes = await artifact.bytes(from, size)
  const lines = new TextDecoder()
    .decode(from === 0 ? bytes : fromCharacter(bytes))
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
  const page = new AnswerPage(limits)
  const isWhole = (index: number): boolean => index > 0 || from === 0
  let index = lines.length - 1
  while (index >= 0 && page.lines.length < count && isWhole(index) && page.add(quotedText(lines[index] ?? ''))) index--
  const shownLines = page.lines.length
  const body = joinedLines(page.lines.toReversed())
  if (shownLines === count || (index < 0 && from === 0)) return body
  const total = await artifact.lineCount()
  if (shownLines > 0) {
    return withNote(
      body,
      `Truncated: lines ${total - shownLines} to ${total - 1} are shown. Ask artifact_cat for earlier lines.`,
    )
  }
  return withNote(
    '',
    `Truncated: the last line, ${total - 1}, is longer than can be shown. Ask artifact_cat, start: ${total - 1}.`,
  )
}

/** Joins lines. If all are empty, adds a note with their number. */
function joinedLines(lines: readonly string[]): string {
  const isBlank = lines.length > 0 && lines.every((line) => line === '')
  return withNote(
    lines.join('\n'),
    isBlank ? (lines.length === 1 ? 'An empty line.' : `${lines.length} empty lines.`) : '',
  )
}

/** Drops the rest of a split character at the beginning. */
function fromCharacter(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.subarray(start)
}
