import type { ToolDefinition } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import type { PersonAnswer, ApprovalQuestion, Visit } from './_visit.ts'

/** What a framework shows the person who is asked. It is plain JSON. */
export interface FrameworkQuestion {
  readonly type: 'tool-approval'
  readonly toolName: string
  /** The framework's id of the call. */
  readonly toolCallId: string
  readonly prompt: string
  /** Why a policy wants it asked. */
  readonly why?: string
  readonly meta?: Readonly<Record<string, unknown>>
}

/** Returns the question about a call. */
export function questionOf(
  toolCallId: string,
  toolName: string,
  { prompt, why, meta }: ApprovalQuestion,
): FrameworkQuestion {
  const more = { ...(why !== undefined && { why }), ...(meta !== undefined && { meta }) }
  return { type: 'tool-approval', toolName, toolCallId, prompt, ...more }
}

/** Returns the answer in what a framework hands back. Only `true` and `{ approved: true }` allow; all else denies. */
export function answerOf(answer: unknown): PersonAnswer {
  const { approved, note } = Object(answer) as { readonly approved?: unknown; readonly note?: unknown }
  const decision = answer === true || approved === true ? 'allow' : 'deny'
  return { decision, ...(typeof note === 'string' && note !== '' && { note: note.slice(0, 1_024) }) }
}

/** Returns the tools of a visit that a framework can run. Those that a provider runs are left out and reported. */
export function offered({ tools, report }: Visit): ToolDefinition[] {
  return tools.filter(({ name, type }) => {
    if (type !== 'provider') return true
    const quotedName = JSON.stringify(name)
    report(
      new InvalidConfigurationError(
        `Tool ${quotedName} is run by its provider. It is not offered to the framework: give the provider's own definition to its model.`,
      ),
    )
    return false
  })
}
