import { isMarkedJson, json, markedBlocks, markedValue } from '../result/content.ts'
import { internals } from '../tool/definition.ts'
import { InvalidToolResultError } from '../errors.ts'
import { redactIssues } from '../call/secrets.ts'
import { type Checked, type Ran, stamp } from '../call/parcel.ts'
import type { Kernel } from '../kernel.ts'
import { invalid, type Validation } from '../schema/validator.ts'
import { isThenable } from '../json/thenable.ts'
import { requireBounded } from '../json/json-text.ts'

/** Validates the result against `outputSchema`. The validated value goes on. */
export function check(ran: Ran, _kernel: Kernel): Checked | Promise<Checked> {
  const { output } = internals(ran.tool)
  if (output === undefined) return stamp(ran, 'output', ran.returned)
  const value = valueOf(ran)
  requireBounded(value) // a validator may walk all of it
  const outcome = output.validate(value)
  return isThenable(outcome) ? ran.deadline.within(outcome, (settled) => accept(ran, settled)) : accept(ran, outcome)
}

/** Returns the value to check. For content, it is the one json block. */
function valueOf({ returned, name }: Ran): unknown {
  if (typeof returned !== 'object' || returned === null) return returned
  if (isMarkedJson(returned)) return markedValue(returned)
  const blocks = markedBlocks(returned)
  if (blocks === undefined) return returned
  const data = blocks.filter((block) => block.type === 'json')
  if (data.length === 1 && data[0] !== undefined) return data[0].data
  throw new InvalidToolResultError(
    `Tool "${name}" has an outputSchema and returned content with ${data.length} json blocks: it takes exactly one to check.`,
  )
}

function accept(ran: Ran, outcome: Validation): Checked {
  const { returned, name } = ran
  if (outcome.issues !== undefined) {
    const issues = redactIssues(outcome.issues, ran.tool.secrets)
    throw new InvalidToolResultError(
      `The result of tool "${name}" does not fit its outputSchema: ${invalid(issues, 'result')}.`,
      {
        issues,
      },
    )
  }
  const isMarked = typeof returned === 'object' && returned !== null
  if (isMarked && markedBlocks(returned) !== undefined) return stamp(ran, 'output', returned)
  return stamp(ran, 'output', isMarked && isMarkedJson(returned) ? json(outcome.value) : outcome.value)
}
