import { isArtifact } from '../result/brand.ts'
import { isStream } from '../run/stream.ts'
import { type Checked, type Spooled, setReceipt, maskedOutput } from '../call/parcel.ts'
import type { Kernel, Spool } from '../kernel.ts'
import { unmarked } from '../result/content.ts'
import { encodeFor, isSmall, keepSmall, shownLimit } from '../result/encode.ts'

type SpoolContext = Pick<Kernel, 'spool' | 'inlineLimit' | 'recorder'>

/** Keeps the whole result, and makes the content for the model. */
export function spool(checked: Checked, kernel: SpoolContext): Spooled | Promise<Spooled> {
  const { output } = checked
  if (isArtifact(output) || isStream(output)) return keepOutput(output, checked, kernel)
  const masked = maskedOutput(checked)
  const encoded = encodeFor(checked, masked)
  // A record has only the content, so a value beside it goes to the store.
  const isRecorded = encoded.isApart === true && kernel.recorder !== undefined
  if (!isRecorded && isSmall(encoded, shownLimit(checked, kernel.inlineLimit)))
    return setReceipt(checked, keepSmall(encoded, checked, unmarked(masked)))
  return keepOutput(encoded, checked, kernel)
}

async function keepOutput(
  ...[output, checked, kernel]: [...Parameters<Spool['keep']>, SpoolContext]
): Promise<Spooled> {
  return setReceipt(checked, await kernel.spool.keep(output, checked))
}
