import {
  MemoryReader,
  type ArtifactClass,
  type ArtifactOption,
  type SpooledArtifact,
} from '../kernel/result/artifact.ts'
import { BinaryArtifact, chosenClass, JsonArtifact, TextArtifact } from '../kernel/result/kinds.ts'
import { beyondBridge } from '../kernel/call/bridge.ts'
import type { TakenCall, ToolCall, ToolResult } from '../kernel/call/call.ts'
import { CallResult } from '../kernel/call/call-result.ts'
import { callIdOf } from '../kernel/json/canonical.ts'
import { content, type ContentBlock } from '../kernel/result/content.ts'
import { ArtifactError, ToolError } from '../kernel/errors.ts'
import { duplicate } from '../kernel/outcome/failure.ts'
import { waitingWords } from './words.ts'
import type { Received, Writable } from '../kernel/call/parcel.ts'
import { canonicalArgs } from '../kernel/stages/identify.ts'
import { inQueue } from './queued.ts'
import { isSettled } from './record.ts'
import type { Journaled, ToolCallRecord, WaitRecord } from '../kernel/call/record.ts'
import { encodeResult } from '../kernel/result/encode.ts'
import { limited } from '../kernel/call/limited.ts'
import { plainArgs } from '../kernel/outcome/publish.ts'
import { contentOf, storeTimeout } from './stored-content.ts'
import type { JournalRecorder } from './recorder.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'

/**
 * Returns the result of an invocation with an id of the application, if it has settled or waits; `undefined` if it is new.
 *
 * @throws `E_DUPLICATE_INVOCATION` if it is still running, or was another call.
 */
export async function recall(
  received: Received,
  kernel: RecordsContext,
  recorder: Pick<JournalRecorder, 'read' | 'findings'>,
): Promise<ToolResult | undefined> {
  const { invocationId, session, caller } = received
  const found = await recorder.read(invocationId)
  if (found === null) return undefined
  const call = targetCall(received, kernel)
  const { record } = found
  const isSameCaller = JSON.stringify(record.journal?.caller) === JSON.stringify(caller)
  const isOurs = record.session === session && isSameCaller && isSameCall(record, call, kernel)
  if (isOurs && isSettled(record.state)) {
    if (record.effect === 'unknown') received.effect = 'unknown' // its tool may be asked, and not answer in time
    return answering(call, await recorder.findings.outcome(found, received.context.values))
  }
  const awaits = record.journal?.awaits
  if (isOurs && awaits !== undefined && awaits.expiresAt > Date.now()) return waiting(record, awaits, call)
  const work = record.journal?.work
  if (isOurs && work !== undefined && kernel.elsewhere !== undefined) return inQueue(waiting(record, work, call), '')
  const another = isSameCaller ? 'a different tool or different args' : 'another caller'
  const state = isOurs ? 'is still running' : `was made with ${another}`
  const effect = isSettled(record.state) ? 'none' : 'unknown'
  if (record.session !== session) throw duplicate(received, effect)
  throw duplicate(received, effect, state, isOurs ? undefined : 'Give each call an id of its own.')
}

/** Returns the call of the tool that a bridge named, if a bridge was called. */
function targetCall({ call, session }: Received, { registryFor, argsLimit }: RecordsContext): TakenCall {
  try {
    const bridge = registryFor(session).resolve(call.name)
    return bridge?.type === 'bridge' ? beyondBridge(call, bridge.name, argsLimit) : call
  } catch {
    return call // it named no tool
  }
}

/** Gives a result what is the model's in this call: the provider's id, and the bridge. */
function answering({ id, via }: TakenCall, result: ToolResult): ToolResult {
  if (id === undefined && via === result.via) return result
  const own = { ...(id !== undefined && { id }), ...(via !== undefined && { via }) }
  const answer: Writable<ToolResult> = CallResult.of(result, own)
  if (via === undefined) delete answer.via
  return answer
}

/** Makes the result of a call that still waits. It has no token, since only the first result has it. */
function waiting(record: ToolCallRecord, { reason, expiresAt, work }: WaitRecord, call: TakenCall): ToolResult {
  const { id: invocationId, callId, name: toolName } = record
  const text = waitingWords(toolName, reason)
  const effect = reason === 'client' ? 'unknown' : 'none'
  const still = new CallResult({ invocationId, callId, toolName }, 'waiting', effect, [{ type: 'text', text }], 0)
  still.expiresAt = expiresAt
  const result = answering(call, still)
  return work === undefined ? result : inQueue(result, work.queue)
}

function isSameCall(record: ToolCallRecord, call: ToolCall, kernel: RecordsContext): boolean {
  const { registryFor, argsLimit } = kernel
  const { args = {}, name } = call
  try {
    if (record.name !== name && registryFor(record.session).resolve(name)?.name !== record.name) return false
    // Without a callId, its args had no canonical form or its tool was unknown: compare the args as they came.
    if (record.callId === null) return JSON.stringify(record.input) === JSON.stringify(plainArgs(call.args, kernel))
    const callId = callIdOf(record.name, canonicalArgs(args, argsLimit).text)
    return [record.callId, record.editedFrom, record.repairedFrom].includes(callId)
  } catch {
    // A text that was no JSON, and was repaired, is identified as a text.
    if (typeof args !== 'string' || record.repairedFrom === undefined) return false
    return callIdOf(record.name, JSON.stringify(args)) === record.repairedFrom
  }
}

/** Returns the result of a settled record, as it was returned first. */
export async function replay(record: ToolCallRecord, kernel: RecordsContext): Promise<ToolResult> {
  const {
    id: invocationId,
    callId,
    name: toolName,
    toolCallId: id,
    status = 'error',
    effect,
    session,
    journal,
    via,
  } = record
  const { handle, failure, skipped } = journal ?? {}
  const isOutput = kernel.registryFor(session).get(toolName)?.type === 'output'
  const blocks = await contentOf(journal ?? {}, session, kernel)
  const artifact = status === 'ok' ? await artifactOf(record, kernel) : undefined
  const result = new CallResult({ invocationId, callId, toolName }, status, effect, blocks, record.durationMs ?? 0)
  return Object.assign(result, {
    ...(id !== undefined && { id }),
    ...(via !== undefined && { via }),
    isError: record.isError ?? true,
    ...(artifact && { artifact }),
    ...(handle && { handle }),
    ...(status === 'ok' && isOutput && blocks[0]?.type === 'json' && { output: blocks[0].data }),
    ...(failure && { error: ToolError.restore(failure) }),
    ...(skipped && { skipped }),
    ...(handle === undefined && artifact && { value: valueAgain(blocks, artifact, journal?.artifact) }),
  })

  async function artifactOf(
    { name }: ToolCallRecord,
    { spool, registryFor }: RecordsContext,
  ): Promise<SpooledArtifact | undefined> {
    const { artifact: option, trusted } = registryFor(session).get(name) ?? {}
    if (handle === undefined) return shownAgain(blocks, option, trusted, journal?.artifact)
    try {
      const { kind, mediaType } = journal?.artifact ?? {}
      const Class = chosenClass(option, classOfKind(kind))
      return await limited(spool.store.open(handle, { session }), storeTimeout, notOpened, (reader) => {
        return new Class({ reader, mediaType, handle, trusted })
      })
    } catch (error) {
      kernel.report(error) // the store may have dropped it; the content is still there
      return undefined
    }
  }
}

/** Returns the value of a small result, if its content has it. The text of a number, a boolean or `null` may have been a string. */
function valueAgain(blocks: readonly ContentBlock[], artifact: SpooledArtifact, was: Journaled['artifact']): unknown {
  const [block, other] = blocks
  if (other !== undefined) return undefined
  if (block?.type === 'json') return block.data
  const isApart = was?.kind === JsonArtifact.kind || was?.kind === BinaryArtifact.kind
  if (block?.type !== 'text' || isApart || artifact.byteLength() === 0) return undefined
  const { text } = block
  return String(Number(text)) === text || ['true', 'false', 'null'].includes(text) ? undefined : text
}

/** Returns the class of the kernel for a kind of artifact. */
function classOfKind(kind: string | undefined): ArtifactClass {
  return kind === JsonArtifact.kind ? JsonArtifact : kind === BinaryArtifact.kind ? BinaryArtifact : TextArtifact
}

function notOpened(): ArtifactError {
  return new ArtifactError('The store did not open the artifact in time.', { retryable: true })
}

/** Makes the artifact of a small result from its content. Returns `undefined` if the content is incomplete, as for bytes. */
function shownAgain(
  blocks: readonly ContentBlock[],
  option: ArtifactOption | undefined,
  trusted: boolean | undefined,
  was: Journaled['artifact'],
): SpooledArtifact | undefined {
  const { source, Class, mediaType } = encodeResult(content(blocks))
  const Chosen = chosenClass(option, was?.kind === JsonArtifact.kind ? JsonArtifact : Class)
  const reader = new MemoryReader(was?.byteLength === 0 ? '' : source)
  if (was !== undefined && was.byteLength !== reader.byteLength) return undefined
  return new Chosen({ reader, mediaType: was?.mediaType ?? mediaType, trusted })
}
