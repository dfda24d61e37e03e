import { inputOf } from '../tool/validators.ts'
import { setInput, type Identified, type Validated } from '../call/parcel.ts'
import type { RepairContext } from '../call/repaired.ts'
import type { ToolError } from '../errors.ts'
import type { Kernel, Redaction } from '../kernel.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import type { Issue } from '../schema/standard.ts'
import { invalidArgs, type Validation } from '../schema/validator.ts'
import { isThenable } from '../json/thenable.ts'
import { hasArtifacts } from '../result/kinds.ts'

type ValidateContext = RepairContext & Pick<Kernel, 'spool'>

/** Validates the args against the tool's schema. The handler gets the value that the schema returns. */
export function validate(identified: Identified, kernel: ValidateContext): Validated | Promise<Validated> {
  const { tool, identity } = identified
  if (identity.unread !== undefined) return repaired(identified, undefined, identity.unread, kernel)
  const outcome = inputOf(tool).validate(identity.args)
  return isThenable(outcome)
    ? identified.deadline.within(outcome, (settled) => accept(identified, settled, kernel))
    : accept(identified, outcome, kernel)
}

function accept(identified: Identified, outcome: Validation, kernel: ValidateContext): Validated | Promise<Validated> {
  const { issues } = outcome
  if (issues !== undefined) return refused(identified, issues, kernel)
  return hasArtifacts(outcome.value) ? open(identified, outcome.value, kernel) : setInput(identified, outcome.value)
}

function open(identified: Identified, value: unknown, { spool }: ValidateContext): Promise<Validated> {
  return identified.deadline.within(spool.openArtifacts(value, identified), (found) => {
    if (found.issues !== undefined) throw invalidity(identified, found.issues)
    return setInput(identified, found.value)
  })
}

/** What a person has seen is not repaired, and neither is a call that was repaired. */
function refused(identified: Identified, issues: readonly Issue[], kernel: ValidateContext): Promise<Validated> {
  const { resumption, identity } = identified
  const refusal = invalidity(identified, issues)
  if (kernel.repairArgs === undefined || resumption !== undefined || identity.repaired !== undefined) throw refusal
  return repaired(identified, issues, refusal, kernel)
}

/** Goes on with repaired args. If there are none, the first error stands. */
async function repaired(
  identified: Identified,
  issues: readonly Issue[] | undefined,
  refusal: ToolError,
  kernel: ValidateContext,
): Promise<Validated> {
  const outcome = await kernel.repairArgs?.(identified, issues, kernel)
  if (outcome === undefined) throw refusal
  return accept(identified, outcome, kernel)
}

function invalidity({ name, redactor }: Identified, issues: readonly Issue[]): ToolError {
  return invalidArgs(name, redactor?.issues(issues) ?? issues)
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
