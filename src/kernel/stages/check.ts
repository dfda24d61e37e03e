import { isMarkedJson, json, markedBlocks, markedValue, shown } from '../result/content.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import { outputOf } from '../tool/validators.ts'
import { requireBounded } from '../json/json-text.ts'
import { InvalidToolResultError } from '../errors.ts'
import { type Checked, type Ran, setOutput } from '../call/parcel.ts'
import type { Kernel } from '../kernel.ts'
import { invalidOutput, type Validation } from '../schema/validator.ts'
import { isThenable } from '../json/thenable.ts'

/** Validates the result against `outputSchema`. The validated value goes on. */
export function check(ran: Ran, _kernel: Pick<Kernel, 'spool'>): Checked | Promise<Checked> {
  const outcome = validateOutput(ran.tool, ran.returned)
  if (outcome === undefined) return setOutput(ran, ran.returned)
  return isThenable(outcome)
    ? ran.deadline.within(outcome, (settled) => acceptOutput(ran, settled))
    : acceptOutput(ran, outcome)
}

/** Validates a result; of content, its one json block. Returns `undefined` if the tool has no `outputSchema`. */
export function validateOutput(tool: ToolDefinition, returned: unknown): Validation | Promise<Validation> | undefined {
  const output = outputOf(tool)
  if (output === undefined) return undefined
  const value = returnedValue(returned, tool)
  requireBounded(value) // a validator may walk all of it
  return output.validate(value)
}

function returnedValue(returned: unknown, { name }: ToolDefinition): unknown {
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

function acceptOutput(ran: Ran, outcome: Validation): Checked {
  const { returned, name, redactor } = ran
  const { issues } = outcome
  if (issues !== undefined) throw invalidOutput(name, redactor?.issues(issues) ?? issues)
  if (typeof returned !== 'object' || returned === null) return setOutput(ran, outcome.value)
  const blocks = markedBlocks(returned)
  if (!isMarkedJson(returned)) return setOutput(ran, blocks === undefined ? outcome.value : returned)
  return setOutput(ran, blocks === undefined ? json(outcome.value) : shown(blocks, outcome.value))
}
