import { type SpooledArtifact } from '../result/artifact.ts'
import { isOf } from '../result/kinds.ts'
import { hasArtifactArguments, referencesIn, withArtifacts, type Reference } from '../../spool/argument.ts'
import { partsOf } from '../tool/definition.ts'
import { isToolError } from '../errors.ts'
import { concealed } from '../call/secrets.ts'
import { stamp, type Identified, type Validated } from '../call/parcel.ts'
import type { Kernel } from '../ports.ts'
import { invalidArgs, type Outcome } from '../schema/validator.ts'
import { isThenable } from '../json/thenable.ts'

/** Asks the tool's schema whether the args are what the handler expects, and goes on with what the schema gives back. */
export function validate(identified: Identified, kernel: Kernel): Validated | Promise<Validated> {
  const { tool, identity } = identified
  const outcome = partsOf(tool).input.validate(identity.args)
  return isThenable(outcome)
    ? identified.deadline.within(outcome, (settled) => accept(identified, settled, kernel))
    : accept(identified, outcome, kernel)
}

function accept(identified: Identified, outcome: Outcome, kernel: Kernel): Validated | Promise<Validated> {
  if (outcome.issues !== undefined) {
    throw invalidArgs(identified.name, concealed(outcome.issues, identified.tool.secrets))
  }
  const { value } = outcome
  const references = hasArtifactArguments() ? referencesIn(value) : []
  if (references.length === 0) return stamp(identified, 'input', value)
  const opened = Promise.all(references.map((reference) => open(reference, identified, kernel)))
  return identified.deadline.within(opened, (artifacts) => stamp(identified, 'input', withArtifacts(value, artifacts)))
}

/** Opens an artifact that the args name by its handle; one that cannot be opened makes the args wrong. */
async function open({ handle, Class, path }: Reference, call: Identified, kernel: Kernel): Promise<SpooledArtifact> {
  const artifact = await kernel.shelf.open(handle, call.session, [Class]).catch((cause: unknown) => {
    if (isToolError(cause) && cause.code === 'E_ARTIFACT' && !cause.retryable)
      throw invalidArgs(call.name, [{ message: cause.message, path }])
    throw cause
  })
  if (isOf(artifact, Class)) return artifact
  const { kind } = Class as unknown as typeof SpooledArtifact
  const message = `must be the handle of a ${kind} artifact, and is that of a ${artifact.kind} artifact. ${kernel.guide(artifact)}`
  throw invalidArgs(call.name, [{ message: message.trimEnd(), path }])
}
