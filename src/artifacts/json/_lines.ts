import { parseJson, type SpooledArtifact } from '../../index.ts'
import { ArtifactError } from '../../errors.ts'
import { longestRecord, recordGroups, type Assembler, type RecordGroup, type RecordIndex } from '../_records.ts'

/** A line with a value, and its number among all lines. */
export interface ValueLine {
  readonly line: number
  readonly text: string
}

const recordIndices = new WeakMap<SpooledArtifact, RecordIndex>()

/** Marks an artifact as JSON Lines. */
export function keepLined(artifact: SpooledArtifact, index: RecordIndex): void {
  recordIndices.set(artifact, index)
}

/** Returns the index of an artifact's values, or `undefined` if it is not JSON Lines. */
export function lineIndexOf(artifact: SpooledArtifact): RecordIndex | undefined {
  return recordIndices.get(artifact)
}

/** Makes a record of each line that is not blank. */
export const valueLines: Assembler<ValueLine> = {
  take: (text, line) => (text.charCodeAt(0) > 32 || text.trim() !== '' ? { line, text } : undefined),
  openSince: undefined,
  end: () => undefined,
}

/** Yields the lines with values, many at a time. */
export function lineGroups(
  artifact: SpooledArtifact,
  options?: { readonly start?: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<RecordGroup<ValueLine>, void, undefined> {
  return recordGroups(artifact, recordIndices.get(artifact)!, valueLines, options)
}

/**
 * Returns the value of a line.
 *
 * @throws `E_ARTIFACT` if the line is not JSON, with its number.
 */
export function valueIn({ line, text }: ValueLine): unknown {
  try {
    if (text.length > longestRecord) {
      throw new SyntaxError(`it has more than ${longestRecord.toLocaleString('en')} characters`)
    }
    return parseLine(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ArtifactError(`Line ${line} (counted from 0) cannot be read as JSON: ${reason.slice(0, 200)}.`, { cause })
  }
}

/** Returns the value of a line, or `undefined` if it is not JSON. */
export function valueUnlessInvalid(line: ValueLine): unknown {
  try {
    return valueIn(line)
  } catch {
    return undefined
  }
}

/** Returns the value of a JSON text. V8's `JSON.parse` (13.6) can return a wrong key if a key has an escape: then the strict parser goes first. */
export function parseLine(text: string): unknown {
  if (!text.includes('\\') || !/[{,]\s*"[^"]*\\/.test(text)) return JSON.parse(text) as unknown
  try {
    return parseJson(text, { limit: Infinity, depth: 1_000 })
  } catch {
    return JSON.parse(text) as unknown
  }
}
