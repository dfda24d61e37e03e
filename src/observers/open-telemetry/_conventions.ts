/**
 * The names of what is told, and the version of the conventions from which they are. This file imports nothing: a change of
 * the conventions changes it alone.
 *
 * @see https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/execute-tool.md
 * @module
 */

/** The version of the GenAI conventions, which are in development and have no stable one. */
export const schemaUrl = 'https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev'

/** The instrumentation scope of every span and metric. */
export const scope = 'toolwright'

/** The one operation that is told of; it begins the name of every span. */
export const operation = 'execute_tool'

/** Attributes of the conventions. */
export const genAi = {
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolDescription: 'gen_ai.tool.description',
  toolCallId: 'gen_ai.tool.call.id',
  toolCallArguments: 'gen_ai.tool.call.arguments',
  toolCallResult: 'gen_ai.tool.call.result',
  errorType: 'error.type',
} as const

/** What a sampler decides on. With its keys written out, it is made without being looked up: calls that nobody traces pay for it. */
export function samplingAttributes(toolName: string): Record<string, string> {
  return { 'gen_ai.operation.name': operation, 'gen_ai.tool.name': toolName }
}

/** What stands where a value is not one of those that are known: metrics never take a text that a model made up. */
export const other = '_OTHER'

/** Attributes of our own, for which the conventions have no name. */
export const own = {
  callId: 'toolwright.call.id',
  invocationId: 'toolwright.invocation.id',
  session: 'toolwright.session.id',
  toolType: 'toolwright.tool.type',
  status: 'toolwright.status',
  effect: 'toolwright.effect',
  attempt: 'toolwright.attempt',
  decision: 'toolwright.decision',
  pauseReason: 'toolwright.pause.reason',
  artifactSize: 'toolwright.artifact.size',
} as const

/** The metric. */
export const duration = {
  name: 'gen_ai.execute_tool.duration',
  description: 'The duration of a single tool execution.',
  unit: 's',
  boundaries: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
} as const

/** What the conventions call a tool of each execution type: a provider runs its own, everybody else is handed a function. */
export function conventionalType(type: string): 'function' | 'extension' {
  return type === 'provider' ? 'extension' : 'function'
}
