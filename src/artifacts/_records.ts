import type { ArtifactSource, LineIndex, SpooledArtifact } from '../index.ts'
import { Pace } from './_pace.ts'

/** Characters that one record may have. */
export const longestRecord = 16_777_216

/** A line at which a record begins, both counted from 0. */
export interface Mark {
  readonly line: number
  readonly record: number
}

/** Where records begin among the lines of an artifact, found out as far as somebody read it; no more than a mark for each group of lines. */
export class RecordIndex {
  readonly #marks: Mark[] = [{ line: 0, record: 0 }]
  /** How many records there are, once all were seen. */
  total: number | undefined

  /** The last known beginning at or before a record. */
  before(record: number): Mark {
    let low = 0
    let high = this.#marks.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (this.#marks[middle]!.record <= record) low = middle
      else high = middle
    }
    return this.#marks[low]!
  }

  /** Takes note of a beginning, if it lies after all that are known. */
  note(mark: Mark): void {
    if (mark.record > this.#marks.at(-1)!.record) this.#marks.push(mark)
  }
}

const kept = new WeakMap<LineIndex, RecordIndex>()

/** The index of an artifact's records, which lives as long as that of its lines does. */
export function recordIndexOf({ index }: ArtifactSource): RecordIndex {
  const known = index && kept.get(index)
  if (known !== undefined) return known
  const made = new RecordIndex()
  if (index !== undefined) kept.set(index, made)
  return made
}

/** Records that were read together. */
export interface RecordGroup<Item> {
  /** The number of the first. */
  readonly first: number
  readonly records: readonly Item[]
}

/** Makes records of lines. */
export interface Assembler<Item> {
  /** Takes a line. Gives the record that ends with it, if one does. */
  take(text: string, line: number): Item | undefined
  /** The line at which the record begins that was taken in part. */
  readonly openSince: number | undefined
  /** What was taken in part when the lines ended. */
  end(): Item | undefined
}

/** The records from `start` on, many at a time; lines that were read before to find them are not read again. */
export async function* recordGroups<Item>(
  artifact: SpooledArtifact,
  index: RecordIndex,
  assembler: Assembler<Item>,
  { start = 0, signal }: { readonly start?: number; readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<RecordGroup<Item>, void, undefined> {
  if (index.total !== undefined && start >= index.total) return
  const pace = new Pace(Infinity, signal ?? new AbortController().signal)
  const mark = index.before(start)
  let record = mark.record
  // One more than may be: who takes the lines sees that a cut one was longer.
  const longest = longestRecord + 1
  for await (const { first, texts } of artifact.lineGroups({ start: mark.line, longest })) {
    const records: Item[] = []
    const from = record
    for (const [offset, text] of texts.entries()) {
      const item = assembler.take(text, first + offset)
      if (item !== undefined && record++ >= start) records.push(item)
    }
    index.note({ line: assembler.openSince ?? first + texts.length, record })
    if (records.length > 0) yield { first: Math.max(from, start), records }
    if (pace.isDue(262_144)) await pace.turn()
  }
  const last = assembler.end()
  if (last !== undefined && record++ >= start) yield { first: record - 1, records: [last] }
  index.total = record
}

/** How many records there are. */
export async function countRecords(
  artifact: SpooledArtifact,
  index: RecordIndex,
  assembler: Assembler<unknown>,
): Promise<number> {
  if (index.total === undefined) for await (const _ of recordGroups(artifact, index, assembler, { start: Infinity }));
  return index.total ?? 0
}
