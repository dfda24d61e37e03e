import { type ArtifactOption, type SpooledArtifact } from './artifact.ts'
import { chosenClass, classOfKind, JsonArtifact } from './artifact-kinds.ts'
import type { ToolCall, ToolResult } from './call.ts'
import { callIdOf, canonicalize } from './canonical.ts'
import { content, type ContentBlock } from './content.ts'
import { ToolError } from './errors.ts'
import { duplicate, type JournalLedger } from './ledger.ts'
import { MemoryReader } from './memory-reader.ts'
import type { Received } from './parcel.ts'
import { parseArgs } from './parse.ts'
import type { Kernel } from './ports.ts'
import { productOf } from './product.ts'
import { isSettled, type Journaled, type ToolCallRecord } from './record.ts'

/**
 * What an invocation that the host identified has come to, where it is known already.
 *
 * @returns Its result, where it is settled; nothing where it is new.
 * @throws `E_DUPLICATE_INVOCATION` where it is not settled, or was another call.
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
  if (!isSettled(record.state) || !isOurs) {
    throw duplicate(invocationId)
  }
  return replay(record, kernel)
}

function isSameCall(record: ToolCallRecord, call: ToolCall, { registryFor, argsLimit }: Kernel): boolean {
  const { args = {}, name } = call
  try {
    if (record.name !== name && registryFor(record.session).resolve(name)?.name !== record.name) return false
    // Without a callId its args had no canonical form, or its tool was not there: what came in is compared as it is.
    if (record.callId === null) return JSON.stringify(record.input) === JSON.stringify(call.args)
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
  const { result: blocks = [], handle, failure, skipped } = journal ?? {}
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
      const reader = await store.open(handle, { session })
      const { kind, mediaType } = journal?.artifact ?? {}
      const Class = chosenClass(option, classOfKind(kind))
      return new Class({ reader, mediaType, handle, trusted })
    } catch (error) {
      kernel.report(error) // it may have made room; what the model was shown is there all the same
      return undefined
    }
  }
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
