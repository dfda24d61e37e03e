import { ArtifactError, parseJson, type SpooledArtifact } from '../../index.ts'
import { longestRecord, recordGroups, type Assembler, type RecordGroup, type RecordIndex } from '../_records.ts'

/** A line that holds a value, and its number among all lines. */
export interface ValueLine {
  readonly line: number
  readonly text: string
}

const indices = new WeakMap<SpooledArtifact, RecordIndex>()

/** Says that the lines of an artifact are values. */
export function keepLined(artifact: SpooledArtifact, index: RecordIndex): void {
  indices.set(artifact, index)
}

/** Where the values of an artifact begin, if it has one in each line. */
export function lineIndexOf(artifact: SpooledArtifact): RecordIndex | undefined {
  return indices.get(artifact)
}

/** Every line that is not blank is a value. */
export const valueLines: Assembler<ValueLine> = {
  take: (text, line) => (text.charCodeAt(0) > 32 || text.trim() !== '' ? { line, text } : undefined),
  openSince: undefined,
  end: () => undefined,
}

/** The lines that hold values, many at a time. */
export function lineGroups(
  artifact: SpooledArtifact,
  options?: { readonly start?: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<RecordGroup<ValueLine>, void, undefined> {
  return recordGroups(artifact, indices.get(artifact)!, valueLines, options)
}

/**
 * The value of a line.
 *
 * @throws `E_ARTIFACT` with the number of the line where it is none.
 */
export function valueIn({ line, text }: ValueLine): unknown {
  try {
    if (text.length > longestRecord) {
      throw new SyntaxError(`it has more than ${longestRecord.toLocaleString('en')} characters`)
    }
    return readJson(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ArtifactError(`Line ${line} (counted from 0) cannot be read as JSON: ${reason.slice(0, 200)}.`, { cause })
  }
}

/** The value of a line; `undefined` where it is none. */
export function valueUnlessInvalid(line: ValueLine): unknown {
  try {
    return valueIn(line)
  } catch {
    return undefined
  }
}

/** V8's own reader (13.6) can give a wrong key where one has an escape in it: there the strict one goes first. */
function readJson(text: string): unknown {
  if (!text.includes('\\') || !/[{,]\s*"[^"]*\\/.test(text)) return JSON.parse(text) as unknown
  try {
    return parseJson(text, { limit: Infinity, depth: 1_000 })
  } catch {
    return JSON.parse(text) as unknown
  }
}
