import { isArtifact } from '../result/artifact.ts'
import { isStream } from '../run/generator.ts'
import { toldResult } from '../call/secrets.ts'
import { stamp, type Checked, type Spooled } from '../call/parcel.ts'
import type { Kernel } from '../ports.ts'
import { isSmall, keepSmall, productOf } from '../result/encode.ts'
import { keep, type Kept } from '../../spool/store.ts'

/** Keeps all of the result, and makes what the model is shown of it. */
export function spool(checked: Checked, kernel: Kernel): Spooled | Promise<Spooled> {
  const { inlineLimit = kernel.inlineLimit } = checked.tool
  const { output } = checked
  if (isArtifact(output) || isStream(output)) return keepLarge(output, checked, kernel)
  const product = productOf(toldResult(output, checked))
  if (isSmall(product, inlineLimit)) return stamp(checked, 'receipt', keepSmall(product, checked))
  return keepLarge(product, checked, kernel)
}

async function keepLarge(output: Kept, checked: Checked, kernel: Kernel): Promise<Spooled> {
  return stamp(checked, 'receipt', await keep(output, checked, kernel))
}
