/**
 * The names of attributes and metrics, and the version of the conventions that define them. This file imports nothing. If the
 * conventions change, only this file changes.
 *
 * @see https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/execute-tool.md
 * @module
 */

/** The version of the GenAI conventions, which have no stable version yet. */
export const schemaUrl = 'https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev'

/** The instrumentation scope of every span and metric. */
export const instrumentationScope = 'toolwright'

/** The name of the only recorded operation, and the first word of every span name. */
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

/** Returns the attributes for a sampler. Literal keys keep it fast, because calls without a tracer run it too. */
export function samplingAttributes(toolName: string): Record<string, string> {
  return { 'gen_ai.operation.name': operation, 'gen_ai.tool.name': toolName }
}

/** Stands for unknown values, because metrics must not contain text that a model invented. */
export const other = '_OTHER'

/** Attributes for which the conventions have no name. */
export const ownAttributes = {
  callId: 'toolwright.call.id',
  invocationId: 'toolwright.invocation.id',
  session: 'toolwright.session.id',
  toolType: 'toolwright.tool.type',
  via: 'toolwright.via',
  status: 'toolwright.status',
  effect: 'toolwright.effect',
  attempt: 'toolwright.attempt',
  decision: 'toolwright.decision',
  waitReason: 'toolwright.wait.reason',
  blockedBy: 'toolwright.blocked.by',
  blockedGate: 'toolwright.blocked.gate',
  blockedKeys: 'toolwright.blocked.keys',
  blockedBehind: 'toolwright.blocked.behind',
  repairSteps: 'toolwright.repair.steps',
  artifactSize: 'toolwright.artifact.size',
} as const

export const durationMetric = {
  name: 'gen_ai.execute_tool.duration',
  description: 'The duration of a single tool execution.',
  unit: 's',
  boundaries: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
} as const

/** Returns the convention's type for a tool's type: `extension` if the provider runs the tool, else `function`. */
export function conventionalType(type: string): 'function' | 'extension' {
  return type === 'provider' ? 'extension' : 'function'
}
