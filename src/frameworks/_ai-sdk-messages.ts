import { isObject, type Fields } from '../formats/_read.ts'
import type { PersonAnswer, AnswerOfCall } from './_visit.ts'

// Messages come from clients: nothing of them is taken for granted, and nothing here throws.

/** Returns the objects of an array. */
export function objectsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Returns the answer of the messages to the question about a call. The newest message decides, as for the SDK. */
export function answerIn(messages: readonly unknown[], toolCallId: string): PersonAnswer | undefined {
  const all = objectsOf(messages)
  const requests = new Set<unknown>()
  for (const part of all.flatMap((message) => objectsOf(message['content']))) {
    if (part['type'] === 'tool-approval-request' && part['toolCallId'] === toolCallId) requests.add(part['approvalId'])
  }
  if (requests.size === 0) return undefined
  for (const message of all.toReversed()) {
    const answer = objectsOf(message['content']).find(
      (part) => part['type'] === 'tool-approval-response' && requests.has(part['approvalId']),
    )
    if (answer !== undefined) return approvalAnswer(answer)
  }
  return undefined
}

function approvalAnswer({ approved, reason }: Fields): PersonAnswer {
  const decision = approved === true ? 'allow' : 'deny'
  return { decision, ...(typeof reason === 'string' && reason !== '' && { note: reason.slice(0, 1_024) }) }
}

/** Returns the denials of the messages, and what clients gave for their own tools. */
export function answersIn(messages: readonly unknown[], isClients: (name: string) => boolean): AnswerOfCall[] {
  const names = new Map<string, string>()
  const called = new Map<unknown, string>()
  const answers: AnswerOfCall[] = []
  for (const part of objectsOf(messages).flatMap((message) => objectsOf(message['content']))) {
    const { type, toolCallId: id, toolName, approvalId, output } = part
    if (type === 'tool-call' && typeof id === 'string' && typeof toolName === 'string') names.set(id, toolName)
    if (type === 'tool-approval-request' && typeof id === 'string') called.set(approvalId, id)
    if (type === 'tool-approval-response') {
      const answered = called.get(approvalId)
      const answer = approvalAnswer(part)
      if (answered !== undefined && answer.decision === 'deny') {
        answers.push({ id: answered, name: names.get(answered) ?? '', answer })
      }
    }
    const name = typeof id === 'string' ? (names.get(id) ?? toolName) : undefined
    if (type === 'tool-result' && typeof id === 'string' && typeof name === 'string' && isClients(name)) {
      answers.push({ id, name, answer: { value: outputValue(output) } })
    }
  }
  return answers
}

/** Returns what a client gave: a value, or its failure. */
function outputValue(output: unknown): unknown {
  if (!isObject(output)) return output
  const { type, value } = output
  if (type !== 'error-text' && type !== 'error-json') return value
  return { ok: false, error: typeof value === 'string' ? value : JSON.stringify(value) }
}
