import { isArtifact } from '../result/brand.ts'
import { isStream } from '../result/stream.ts'
import { toldResult } from '../call/secrets.ts'
import { type Checked, type Spooled, stamp } from '../call/parcel.ts'
import type { Kernel, Spool } from '../kernel.ts'
import { type EncodedResult, encodeResult, isSmall, keepSmall, shownAsJson } from '../result/encode.ts'

/** The most bytes of a result that a program gets, if its tool lists programs as callers, and of an output. */
const programLimit = 1_048_576

/** Returns how many bytes of a result are shown whole. */
export function shownLimit({ program, tool }: Checked, kernel: Pick<Kernel, 'inlineLimit'>): number {
  const { inlineLimit = kernel.inlineLimit, allowedCallers, type } = tool
  const isWhole = type === 'output' || (program !== undefined && allowedCallers?.includes('program') === true)
  return isWhole ? Math.max(inlineLimit, programLimit) : inlineLimit
}

/** Encodes a complete result for the model, or as JSON for its program. */
export function encodeFor({ program }: Checked, value: unknown): EncodedResult {
  return program === undefined ? encodeResult(value) : shownAsJson(encodeResult(value), value)
}

/** Keeps the whole result, and makes the content for the model. */
export function spool(checked: Checked, kernel: Kernel): Spooled | Promise<Spooled> {
  const { output } = checked
  if (isArtifact(output) || isStream(output)) return keep(output, checked, kernel)
  const encoded = encodeFor(checked, toldResult(output, checked))
  // A record has only the content, so a value beside it goes to the store.
  const isRecorded = encoded.isApart === true && kernel.recorder !== undefined
  if (!isRecorded && isSmall(encoded, shownLimit(checked, kernel)))
    return stamp(checked, 'receipt', keepSmall(encoded, checked))
  return keep(encoded, checked, kernel)
}

async function keep(...[output, checked, kernel]: [...Parameters<Spool['keep']>, Kernel]): Promise<Spooled> {
  return stamp(checked, 'receipt', await kernel.spool.keep(output, checked))
}
