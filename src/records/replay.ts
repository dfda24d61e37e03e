import { type ArtifactOption, type SpooledArtifact } from '../kernel/result/artifact.ts'
import { chosenClass, classOfKind, JsonArtifact } from '../kernel/result/kinds.ts'
import type { ToolCall, ToolResult } from '../kernel/call/call.ts'
import { callIdOf, canonicalize } from '../kernel/json/canonical.ts'
import { content, type ContentBlock } from '../kernel/result/content.ts'
import { limited } from '../kernel/call/deadline.ts'
import { ArtifactError, ToolError } from '../kernel/errors.ts'
import { duplicate, type JournalLedger } from './recorder.ts'
import { MemoryReader } from '../kernel/result/memory-reader.ts'
import { waitingWords } from '../kernel/outcome/result.ts'
import type { Received } from '../kernel/call/parcel.ts'
import { parseArgs } from '../kernel/json/parse.ts'
import type { Kernel } from '../kernel/ports.ts'
import { productOf } from '../kernel/result/encode.ts'
import { isSettled, type Awaited, type Journaled, type ToolCallRecord } from './record.ts'
import { contentOf } from './stored-content.ts'
import { plainArgs } from '../kernel/outcome/publish.ts'

/** How long a store may take to open an artifact, in milliseconds. */
const storePatience = 30_000

/**
 * What an invocation that the host identified has come to, where it is known already.
 *
 * @returns Its result, where it is settled or waits for somebody; nothing where it is new.
 * @throws `E_DUPLICATE_INVOCATION` where it is under way, or was another call.
 */
export async function recall(
  received: Received,
  kernel: Kernel,
  ledger: JournalLedger,
): Promise<ToolResult | undefined> {
  const { call, invocationId, session, caller } = received
  const found = await ledger.read(invocationId)
  if (found === null) return undefined
  const { record } = found
  const isSameCaller = JSON.stringify(record.journal?.caller) === JSON.stringify(caller)
  const isOurs = record.session === session && isSameCaller && isSameCall(record, call, kernel)
  if (isOurs && isSettled(record.state)) return answering(call, await replay(record, kernel))
  const awaits = record.journal?.awaits
  if (isOurs && awaits !== undefined && awaits.expiresAt > Date.now()) return answering(call, waiting(record, awaits))
  throw duplicate(received, isSettled(record.state) ? 'none' : 'unknown')
}

/** The reply to this call, whatever the provider called it before. */
function answering({ id }: ToolCall, result: ToolResult): ToolResult {
  return id === undefined ? result : { ...result, id }
}

/** The result of a call that still waits; its token is told once. */
function waiting(record: ToolCallRecord, { reason, expiresAt }: Awaited): ToolResult {
  const { id: invocationId, callId, name: toolName } = record
  const text = waitingWords(toolName, reason)
  return {
    invocationId,
    callId,
    toolName,
    status: 'pending',
    effect: reason === 'client' ? 'unknown' : 'none',
    isError: false,
    content: [{ type: 'text', text }],
    expiresAt,
    durationMs: 0,
  }
}

function isSameCall(record: ToolCallRecord, call: ToolCall, kernel: Kernel): boolean {
  const { registryFor, argsLimit } = kernel
  const { args = {}, name } = call
  try {
    if (record.name !== name && registryFor(record.session).resolve(name)?.name !== record.name) return false
    // Without a callId its args had no canonical form, or its tool was not there: what came in is compared as it is.
    if (record.callId === null) return JSON.stringify(record.input) === JSON.stringify(plainArgs(call.args, kernel))
    const text = canonicalize(typeof args === 'string' ? parseArgs(args, argsLimit) : args, argsLimit)
    const callId = callIdOf(record.name, text)
    return callId === record.callId || callId === record.editedFrom
  } catch {
    return false
  }
}

/** The result that a record tells of, as it was given out. */
export async function replay(record: ToolCallRecord, kernel: Kernel): Promise<ToolResult> {
  const {
    id: invocationId,
    callId,
    name: toolName,
    toolCallId: id,
    status = 'error',
    effect,
    session,
    journal,
  } = record
  const { handle, failure, skipped } = journal ?? {}
  const blocks = await contentOf(journal ?? {}, session, kernel)
  const artifact = status === 'ok' ? await artifactOf(record, kernel) : undefined
  return {
    ...(id !== undefined && { id }),
    invocationId,
    callId,
    toolName,
    status,
    effect,
    isError: record.isError ?? true,
    content: blocks,
    ...(artifact && { artifact }),
    ...(handle && { handle }),
    ...(failure && { error: ToolError.restore(failure) }),
    ...(skipped && { skipped }),
    durationMs: record.durationMs ?? 0,
  }

  async function artifactOf(
    { name }: ToolCallRecord,
    { store, registryFor }: Kernel,
  ): Promise<SpooledArtifact | undefined> {
    const { artifact: option, trusted } = registryFor(session).get(name) ?? {}
    if (handle === undefined) return shownAgain(blocks, option, trusted, journal?.artifact)
    try {
      const { kind, mediaType } = journal?.artifact ?? {}
      const Class = chosenClass(option, classOfKind(kind))
      return await limited(store.open(handle, { session }), storePatience, notOpened, (reader) => {
        return new Class({ reader, mediaType, handle, trusted })
      })
    } catch (error) {
      kernel.report(error) // it may have made room; what the model was shown is there all the same
      return undefined
    }
  }
}

function notOpened(): ArtifactError {
  return new ArtifactError('The store did not open the artifact in time.', { retryable: true })
}

/** The artifact of a small result, where all of it was shown: of bytes, for one, only their number is. */
function shownAgain(
  blocks: readonly ContentBlock[],
  option: ArtifactOption | undefined,
  trusted: boolean | undefined,
  was: Journaled['artifact'],
): SpooledArtifact | undefined {
  const { source, Class, mediaType } = productOf(content(blocks))
  const Chosen = chosenClass(option, was?.kind === JsonArtifact.kind ? JsonArtifact : Class)
  const reader = new MemoryReader(was?.byteLength === 0 ? '' : source)
  if (was !== undefined && was.byteLength !== reader.byteLength) return undefined
  return new Chosen({ reader, mediaType: was?.mediaType ?? mediaType, trusted })
}
