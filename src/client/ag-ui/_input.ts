import { InvalidConfigurationError } from '../../errors.ts'
import type { AgUiInput } from './_types.ts'

const longestDeclaredName = 1_024

/** Requires that a value is an input of a run, as far as it is read here. Front ends send anything. */
export function requireInput(value: unknown): asserts value is AgUiInput {
  const { threadId, runId, messages, tools, resume } = isFieldsObject(value) ? value : {}
  const wrong =
    (!isDeclaredName(threadId) && '`threadId` has to be text') ||
    (!isDeclaredName(runId) && '`runId` has to be text') ||
    (!isListOf(messages, ({ role }) => typeof role === 'string') && '`messages` has to be a list of messages') ||
    (tools !== undefined &&
      !isListOf(tools, ({ name }) => isDeclaredName(name)) &&
      '`tools` has to be a list of tools') ||
    (resume !== undefined &&
      !isListOf(resume, ({ interruptId, status }) => isDeclaredName(interruptId) && typeof status === 'string') &&
      '`resume` has to be a list of { interruptId, status, payload? }')
  if (wrong !== false) throw new InvalidConfigurationError(`This is no input of an AG-UI run: ${wrong}.`)
}

export function isFieldsObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function isDeclaredName(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= longestDeclaredName
}

function isListOf(value: unknown, holds: (item: Readonly<Record<string, unknown>>) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => isFieldsObject(item) && holds(item))
}
