import { resolve } from 'node:path'
import { InvalidConfigurationError } from '../errors.ts'
import type { ArtifactStore } from '../extension.ts'
import type { ToolCallRecord } from '../kernel/call/record.ts'
import type { Journal } from '../records/index.ts'
import { callOfRecord, inOrderOfReceipt } from './cassettes/_journals.ts'
import { journalHead } from './cassettes/_lines.ts'
import { openTape, type CassetteOptions, type Tape } from './cassettes/_open.ts'
import type { RecordedCall } from './cassettes/_recorded.ts'
import { saveTape } from './cassettes/_saving.ts'

export type { CassetteOptions, Tape } from './cassettes/_open.ts'
export { replayTape as replay, type Replayed, type ReplayCounts, type ReplayOptions } from './cassettes/_replay.ts'
export type { CassetteMode } from './cassettes/_settings.ts'
export type {
  RecordedAnswer,
  RecordedAttempt,
  RecordedCall,
  RecordedEnd,
  RecordedError,
  RecordedOutcome,
  RecordedStep,
  ToldOutcome,
} from './cassettes/_recorded.ts'

/**
 * Records what handlers give, and gives it again without them. All else of a call is real each time: schemas, policies, approvals,
 * middleware, hooks, artifacts, records and events. Give the tape to `use` as the last extension.
 *
 * A call is found by its session, its `callId`, and how many equal calls came before. The tape brings the artifact store, so that
 * handles are the same each time. It holds data of your users: args and results, but for what tools declare as `secrets`.
 *
 * @param file The path of the tape, such as `__cassettes__/refund.jsonl`. Large texts and bytes lie beside it in `<file>.files`.
 * @param options Its mode, and what does not fit.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong, the file is no tape, or another tape is recording it.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { cassette } from 'toolwright/testing/cassettes'
 *
 * const weather = tool('weather', async ({ city }: { city: string }) => `sunny in ${city}`)
 * const call = { name: 'weather', args: { city: 'Bern' } }
 *
 * const executor = createExecutor({ tools: [weather], use: [cassette('weather.jsonl', { mode: 'record' })] })
 * await executor.execute(call)
 * await executor.close()
 *
 * const tape = cassette('weather.jsonl', { mode: 'replay' })
 * const { content } = await createExecutor({ tools: [weather], use: [tape] }).execute(call) // the handler does not run
 * console.log(content) // [ { type: 'text', text: 'sunny in Bern' } ]
 * tape.verify()
 * ```
 * @experimental
 */
export function cassette(file: string, options: CassetteOptions = {}): Tape {
  return openTape(file, options).tape
}

/**
 * Yields the calls of a session of a journal as calls of a tape, in order of receipt: write them with `writeCassette`. They come
 * out as the model was told, whatever middleware and hooks there are by then; policies decide anew.
 *
 * @param source A journal, or the extension that brings it.
 * @param options `session`: whose calls. `store`: the executor's artifact store, which has content above 64 KiB.
 * @throws `E_INVALID_CONFIGURATION` if `source` is no journal, or there is no `session`; what the journal throws.
 * @example
 * ```ts
 * import { memoryJournal } from 'toolwright/journals/memory'
 * import { cassetteOf, writeCassette } from 'toolwright/testing/cassettes'
 *
 * const journal = memoryJournal() // the journal of an executor that has made calls
 * await writeCassette('tape.jsonl', cassetteOf(journal, { session: 'user-1' }))
 * ```
 * @experimental
 */
export async function* cassetteOf(
  source: Pick<Journal, 'list'> | { readonly journal: Pick<Journal, 'list'> },
  options: { readonly session: string; readonly store?: ArtifactStore },
): AsyncGenerator<RecordedCall, void, undefined> {
  const { journal = source as Pick<Journal, 'list'> } = Object(source) as Partial<{ journal: Pick<Journal, 'list'> }>
  const { session, store } = Object(options) as typeof options
  if (typeof journal?.list !== 'function' || typeof session !== 'string') {
    throw new InvalidConfigurationError(
      '`cassetteOf` takes a journal: cassetteOf(sqliteJournal("calls.sqlite"), { session }).',
    )
  }
  const records: ToolCallRecord[] = []
  for await (const { record } of journal.list({ session })) records.push(record)
  const counts = new Map<string, number>()
  for (const record of inOrderOfReceipt(records)) {
    const counted = record.editedFrom ?? record.callId ?? `?${record.name}`
    const occurrence = counts.get(counted) ?? 0
    counts.set(counted, occurrence + 1)
    const call = await callOfRecord(record, occurrence, store)
    if (call !== undefined) yield call
  }
}

/**
 * Writes calls as a tape.
 *
 * @param file The path of the tape. A file that is there is replaced.
 * @param calls The calls, such as `cassetteOf` yields. A file that a call names has to be there.
 * @throws `E_INVALID_CONFIGURATION` if `file` is no path, or `calls` are none.
 * @example
 * ```ts
 * import { memoryJournal } from 'toolwright/journals/memory'
 * import { cassetteOf, writeCassette, type RecordedCall } from 'toolwright/testing/cassettes'
 *
 * const calls: RecordedCall[] = []
 * for await (const call of cassetteOf(memoryJournal(), { session: 'user-1' })) if (call.status === 'ok') calls.push(call)
 * await writeCassette('tape.jsonl', calls)
 * ```
 * @experimental
 */
export async function writeCassette(
  file: string,
  calls: Iterable<RecordedCall> | AsyncIterable<RecordedCall>,
): Promise<void> {
  if (typeof file !== 'string' || file === '' || typeof calls !== 'object' || calls === null) {
    throw new InvalidConfigurationError(
      '`writeCassette` takes the path of a tape, and calls: writeCassette("tape.jsonl", cassetteOf(journal, { session })).',
    )
  }
  const list: RecordedCall[] = []
  for await (const call of calls) list.push(call)
  saveTape(resolve(file), journalHead, list)
}
