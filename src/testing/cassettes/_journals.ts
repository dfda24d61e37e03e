// Calls of a journal as calls of a tape.
import type { ArtifactStore } from '../../extension.ts'
import { TextArtifact, type ContentBlock } from '../../index.ts'
import { readText } from '../../kernel/json/json-text.ts'
import type { ToolCallRecord } from '../../kernel/call/record.ts'
import type { RecordedAnswer, RecordedAttempt, RecordedCall, RecordedOutcome } from './_recorded.ts'

/** Returns records in the order in which their calls came in. */
export function inOrderOfReceipt(newestFirst: readonly ToolCallRecord[]): readonly ToolCallRecord[] {
  return newestFirst
    .toReversed()
    .toSorted((one, other) => one.createdAt - other.createdAt || comparedNumbers(one, other))
}

/** An executor numbers its calls. Ids of the application's own tell no order. */
function comparedNumbers({ id: one }: ToolCallRecord, { id: other }: ToolCallRecord): number {
  const [, owner, number] = /^(.*)-(\d{1,15})$/.exec(one) ?? []
  const [, otherOwner, otherNumber] = /^(.*)-(\d{1,15})$/.exec(other) ?? []
  return owner === undefined || owner !== otherOwner ? 0 : Number(number) - Number(otherNumber)
}

/**
 * Makes the line of a call. Returns `undefined` for a call that has not settled.
 *
 * @param occurrence How many equal calls came before.
 */
export async function callOfRecord(
  record: ToolCallRecord,
  occurrence: number,
  store: ArtifactStore | undefined,
): Promise<RecordedCall | undefined> {
  const { name: tool, callId, editedFrom, input: args, status, effect, startedAt, journal } = record
  if (status === undefined || status === 'waiting') return undefined
  const content = await contentOfRecord(record, store)
  const error = journal?.failure
  const outcome: RecordedOutcome =
    content === undefined
      ? { lost: 'Its content lies in the artifact store of the journal, which was not given.' }
      : { told: { status, effect, content, ...(error && { error }) } }
  const attempts: readonly RecordedAttempt[] = startedAt === undefined ? [] : [{ outcome }]
  const answers = answersOfRecord(record)
  const code = error?.['code']
  return {
    tool,
    callId: editedFrom ?? callId,
    occurrence,
    label: 's0',
    args,
    attempts,
    ...(answers.length > 0 && { answers }),
    status,
    effect,
    ...(typeof code === 'string' && { code }),
    ...(content !== undefined && { content }),
  }
}

function answersOfRecord({ approval, editedFrom, input, callId }: ToolCallRecord): readonly RecordedAnswer[] {
  const { required, decision, decidedBy, note, always } = approval
  if (!required || decision === undefined) return []
  return [
    {
      reason: 'approval',
      decision,
      ...(decidedBy !== undefined && { decidedBy }),
      ...(note !== undefined && { note }),
      ...(always !== undefined && { always }),
      ...(editedFrom !== undefined && { args: input, callId }),
    },
  ]
}

/** Returns what the model was told. Of large content a journal has only words; the rest lies in a store. */
async function contentOfRecord(
  { session, journal }: ToolCallRecord,
  store: ArtifactStore | undefined,
): Promise<readonly ContentBlock[] | undefined> {
  const { result = [], stored } = journal ?? {}
  if (stored === undefined) return result
  if (store === undefined) return undefined
  const reader = await store.open(stored.handle, { session })
  return readText(await new TextArtifact({ reader }).asString()) as readonly ContentBlock[]
}
