import { sha256 } from '#sha256'
import { shortId, type ToolResult } from '../kernel/call/call.ts'
import { stageFields, type Received } from '../kernel/call/parcel.ts'
import type { WaitRecord } from '../kernel/call/record.ts'
import type { Wait } from '../kernel/call/wait.ts'
import { InvalidToolResultError } from '../kernel/errors.ts'
import { bounded } from '../kernel/json/json-text.ts'
import { resultOf } from '../kernel/outcome/result.ts'
import type { ToolValues } from '../kernel/call/context-types.ts'
import type { BeginningWait } from '../kernel/recorder.ts'
import { randomDigits } from '../kernel/call/random.ts'
import { fingerprint } from './fingerprint.ts'
import { waitingWords } from './words.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'
import { ownJson } from './own-json.ts'

/** The most waiting calls whose values are kept in this process. */
const mostWaitingValues = 10_000
/** The largest provider's result in a waiting call, in bytes of JSON. */
const largestResult = 262_144
/** The last millisecond that a `Date` can hold. */
const endOfTime = 8.64e15

/** Makes the result of a call that begins to wait, its token, event and part of its record. */
export function beginningOf(
  received: Received,
  { question, reason, work, timeout }: Wait,
  kernel: RecordsContext,
): BeginningWait {
  const { id, tool, identity, approval, call, invocationId, context } = stageFields(received)
  if (tool === undefined || identity === undefined) throw new TypeError('A call waits only once it is identified.')
  if (bounded(call.result, largestResult) !== call.result) {
    throw new InvalidToolResultError(
      `The provider's result of ${tool.name} is too large to be kept while the call waits.`,
    )
  }
  const token = work ? '' : `${invocationId}.${randomDigits(32)}` // a worker needs none
  const wait: WaitRecord = {
    reason,
    digest: token ? sha256(token) : crypto.randomUUID(),
    fingerprint: fingerprint(tool),
    expiresAt: Math.min(Date.now() + (timeout || Infinity), endOfTime),
    prompt: question.prompt,
    text: identity.text,
    // A journal takes JSON alone.
    ...(kernel.recorder && call.result !== undefined && ownJson({ result: call.result })),
    ...(typeof id === 'string' && shortId(id) !== id && { id }),
    ...((approval ?? received.resumption?.isApproved === true) && { isApproved: true as const }),
    ...(work && { work }),
  }
  if (!work) keepValues(wait.digest, context.values, kernel) // else they stay with its caller
  if (reason === 'client') received.effect = 'unknown' // from now on the client may do its work
  const { expiresAt } = wait
  const body = { reason, ...(!work && { token }), ...question, expiresAt }
  return { result: waitingResult(received, wait, token), wait, body }
}

function keepValues(digest: string, own: ToolValues, { waitingValues: values }: RecordsContext): void {
  values.set(digest, own)
  const [oldest] = values.keys()
  if (values.size > mostWaitingValues) values.delete(oldest!)
}

/** Makes the result of a call that waits for an answer. */
function waitingResult(received: Received, { reason, expiresAt }: WaitRecord, token: string): ToolResult {
  const text = waitingWords(received.name, reason)
  const result = resultOf(received, 'waiting', received.effect, [{ type: 'text', text }])
  // Not enumerable: an application that sends the result over HTTP must not give the caller the right to approve.
  Object.defineProperty(result, 'token', { value: token })
  result.expiresAt = expiresAt
  return result
}
