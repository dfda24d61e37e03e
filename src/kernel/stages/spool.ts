import { isArtifact } from '../result/brand.ts'
import { isStream } from '../result/stream.ts'
import { toldResult } from '../call/secrets.ts'
import { type Checked, type Spooled, stamp } from '../call/parcel.ts'
import type { Kernel, Spool } from '../kernel.ts'
import { isSmall, keepSmall, encodeResult } from '../result/encode.ts'

/** Keeps the whole result, and makes the content for the model. */
export function spool(checked: Checked, kernel: Kernel): Spooled | Promise<Spooled> {
  const { inlineLimit = kernel.inlineLimit } = checked.tool
  const { output } = checked
  if (isArtifact(output) || isStream(output)) return keep(output, checked, kernel)
  const encoded = encodeResult(toldResult(output, checked))
  if (isSmall(encoded, inlineLimit)) return stamp(checked, 'receipt', keepSmall(encoded, checked))
  return keep(encoded, checked, kernel)
}

async function keep(...[output, checked, kernel]: [...Parameters<Spool['keep']>, Kernel]): Promise<Spooled> {
  return stamp(checked, 'receipt', await kernel.spool.keep(output, checked))
}
