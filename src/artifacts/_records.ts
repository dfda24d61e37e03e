import type { SpooledArtifact } from '../index.ts'
import type { ArtifactSource, LineIndex } from '../extension.ts'
import { WorkPace } from './_pace.ts'

/** The most characters of one record. */
export const longestRecord = 16_777_216

/** The line at which a record begins. Both are counted from 0. */
export interface Mark {
  readonly line: number
  readonly record: number
}

/** Where the records of an artifact begin, for the part that was read so far: at most one mark per group of lines. */
export class RecordIndex {
  readonly #marks: Mark[] = [{ line: 0, record: 0 }]
  /** The number of records, once all were read. */
  total: number | undefined

  /** Returns the last known mark at or before a record. */
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

  /** Adds a mark if it comes after all known ones. */
  note(mark: Mark): void {
    if (mark.record > this.#marks.at(-1)!.record) this.#marks.push(mark)
  }
}

const recordIndexes = new WeakMap<LineIndex, RecordIndex>()

/** Returns the index of an artifact's records. It lives as long as the index of its lines. */
export function recordIndexOf({ index }: ArtifactSource): RecordIndex {
  const cachedIndex = index && recordIndexes.get(index)
  if (cachedIndex !== undefined) return cachedIndex
  const newIndex = new RecordIndex()
  if (index !== undefined) recordIndexes.set(index, newIndex)
  return newIndex
}

/** Consecutive records. */
export interface RecordGroup<Item> {
  /** The index of the first. */
  readonly first: number
  readonly records: readonly Item[]
}

/** Assembles records from lines. */
export interface Assembler<Item> {
  /** Takes a line. Returns the record that ends with it, if one does. */
  take(text: string, line: number): Item | undefined
  /** The first line of the record that is incomplete, if there is one. */
  readonly openSince: number | undefined
  /** Returns the incomplete record at the end of the lines, if there is one. */
  end(): Item | undefined
}

/** Yields the records from `start` on, many at a time. Begins at the last known mark before `start`. */
export async function* recordGroups<Item>(
  artifact: SpooledArtifact,
  index: RecordIndex,
  assembler: Assembler<Item>,
  { start = 0, signal }: { readonly start?: number; readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<RecordGroup<Item>, void, undefined> {
  if (index.total !== undefined && start >= index.total) return
  const pace = new WorkPace(Infinity, signal ?? new AbortController().signal)
  const mark = index.before(start)
  let record = mark.record
  // One more than allowed, so that the assembler sees that a cut line was too long.
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
    if (pace.isDue(262_144)) await pace.pause()
  }
  const last = assembler.end()
  if (last !== undefined && record++ >= start) yield { first: record - 1, records: [last] }
  index.total = record
}

/** Returns the number of records. */
export async function countRecords(
  artifact: SpooledArtifact,
  index: RecordIndex,
  assembler: Assembler<unknown>,
): Promise<number> {
  if (index.total === undefined) for await (const _ of recordGroups(artifact, index, assembler, { start: Infinity }));
  return index.total ?? 0
}
