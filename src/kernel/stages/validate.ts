import { inputOf } from '../tool/validators.ts'
import { stamp, type Identified, type Validated } from '../call/parcel.ts'
import type { Kernel, Redaction } from '../kernel.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import { invalidArgs, type Validation } from '../schema/validator.ts'
import { isThenable } from '../json/thenable.ts'
import { hasArtifacts } from '../result/kinds.ts'

/** Validates the args against the tool's schema. The handler gets the value that the schema returns. */
export function validate(identified: Identified, kernel: Pick<Kernel, 'spool'>): Validated | Promise<Validated> {
  const { tool, identity } = identified
  const outcome = inputOf(tool).validate(identity.args)
  return isThenable(outcome)
    ? identified.deadline.within(outcome, (settled) => accept(identified, settled, kernel))
    : accept(identified, outcome, kernel)
}

function accept(
  identified: Identified,
  outcome: Validation,
  kernel: Pick<Kernel, 'spool'>,
): Validated | Promise<Validated> {
  const value = valueOf(identified, outcome)
  if (!hasArtifacts(value)) return stamp(identified, 'input', value)
  const opened = kernel.spool.openArtifacts(value, identified)
  return identified.deadline.within(opened, (found) => stamp(identified, 'input', valueOf(identified, found)))
}

/** Throws `E_INVALID_TOOL_ARGS` if there are issues. */
function valueOf({ name, redactor }: Identified, outcome: Validation): unknown {
  const { issues } = outcome
  if (issues !== undefined) throw invalidArgs(name, redactor?.issues(issues) ?? issues)
  return outcome.value
}

/** Validates args outside the pipeline, as `validate` does. Returns the value that the schema returns. */
export async function validateArgs(
  tool: ToolDefinition,
  args: unknown,
  redaction?: Pick<Redaction, 'redactIssues'>,
): Promise<unknown> {
  const outcome = await inputOf(tool).validate(args)
  const { issues } = outcome
  if (issues !== undefined) throw invalidArgs(tool.name, redaction?.redactIssues(issues, tool.secrets) ?? issues)
  return outcome.value
}
