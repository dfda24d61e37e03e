import { isOver, type CallView } from '../../../client/protocol.ts'

/** What a call is to the eye. */
export type CallKind = 'waits' | 'runs' | 'ok' | 'failed'

/** The kind of a call, and its state in words. */
export function lookOf({ state, status, waiting, blocked }: CallView): readonly [kind: CallKind, word: string] {
  if (waiting !== undefined) return ['waits', waiting.reason === 'approval' ? 'needs approval' : 'waits for a page']
  if (state === 'COMPLETED') return ['ok', 'ok']
  if (state === 'DENIED') return ['failed', 'denied']
  if (state === 'SEALED') return ['failed', 'sealed']
  if (state === 'FAILED') return ['failed', (status ?? 'failed').replace('_', ' ')]
  if (blocked !== undefined) return ['runs', 'blocked']
  return ['runs', state === 'EXECUTING' ? 'running' : state === 'APPROVAL_REQUIRED' ? 'asks elsewhere' : 'received']
}

const texts = new WeakMap<CallView, string>()

/** Whether a call has all words somewhere: in its name, ids, session, args or error. */
export function matchesWords(call: CallView, words: readonly string[]): boolean {
  let text = texts.get(call)
  if (text === undefined) {
    const { toolName, invocationId, callId, id, session, args, argsPreview, error } = call
    const parts = [toolName, invocationId, callId, id, session, JSON.stringify(args), argsPreview]
    text = `${parts.join('\n')}\n${error?.code}\n${error?.message}`.toLowerCase()
    texts.set(call, text)
  }
  return words.every((word) => text.includes(word))
}

/** Whether a call can be given up. */
export function isOpen(call: CallView): boolean {
  return !isOver(call)
}
