import { partsOf } from '../definition.ts'
import { concealed } from '../mask.ts'
import { stamp, type Identified, type Validated } from '../parcel.ts'
import type { Kernel } from '../ports.ts'
import { invalidArgs, type Outcome } from '../schema.ts'
import { isThenable } from '../thenable.ts'

/** Asks the tool's schema whether the args are what the handler expects, and goes on with what the schema gives back. */
export function validate(identified: Identified, _kernel: Kernel): Validated | Promise<Validated> {
  const { tool, identity } = identified
  const outcome = partsOf(tool).input.validate(identity.args)
  return isThenable(outcome)
    ? identified.deadline.within(outcome).then((settled) => accept(identified, settled))
    : accept(identified, outcome)
}

function accept(identified: Identified, outcome: Outcome): Validated {
  if (outcome.issues === undefined) return stamp(identified, 'input', outcome.value)
  throw invalidArgs(identified.name, concealed(outcome.issues, identified.tool.secrets))
}
