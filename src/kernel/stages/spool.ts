import { isArtifact } from '../artifact.ts'
import { isStream } from '../drain.ts'
import { stamp, type Checked, type Receipt, type Spooled } from '../parcel.ts'
import { maskedResult } from '../mask.ts'
import type { Kernel } from '../ports.ts'
import { productOf } from '../product.ts'
import { keep, keepArtifact, keepStream } from '../spooling.ts'
import { isThenable } from '../thenable.ts'

/** Keeps all of the result, and makes what the model is shown of it. */
export function spool(checked: Checked, kernel: Kernel): Spooled | Promise<Spooled> {
  const receipt = receiptFor(checked, kernel)
  return isThenable(receipt)
    ? receipt.then((kept) => stamp(checked, 'receipt', kept))
    : stamp(checked, 'receipt', receipt)
}

function receiptFor(checked: Checked, kernel: Kernel): Receipt | Promise<Receipt> {
  const { secrets } = checked.tool
  const output = secrets.length === 0 ? checked.output : maskedResult(checked.output, secrets)
  if (isArtifact(output)) return keepArtifact(output, checked, kernel)
  if (isStream(output)) return keepStream(output, checked, kernel)
  return keep(productOf(output), checked, kernel)
}
