import { createExecutor, tool, type Extension } from 'toolwright'
import type { ToolCallRecord } from 'toolwright/extension'
import { describeJournal } from 'toolwright/conformance/journals'
import { records, type Journal } from 'toolwright/records'
import { expect, test } from 'vitest'
import { flood, requireBoundedRecord } from './_extremes.ts'

export {
  held,
  listedBy,
  openedJournal,
  promising,
  fixtureRecord,
  settledOf,
  unfinishedOf,
  waitingOf,
  type Opened,
} from '../../src/conformance/journals/_records.ts'

/** One place where records lie, which any number of journals may be opened on; on memory, only one. */
export interface JournalStorage {
  open(): Extension & { readonly journal: Journal }
  damage?(id: string, text: string): unknown
}

/** What every `Journal` promises to others, and that recorders promise to a journal. */
export function journalConformance(
  title: string,
  makeStorage: () => JournalStorage | Promise<JournalStorage>,
  isShared: boolean,
): void {
  describeJournal(title, makeStorage, { isShared })

  test(`${title} is given no record above 1 MiB beside its args, whatever comes in`, async () => {
    const extension = (await makeStorage()).open()
    const { journal } = extension
    const ids = new Set<string>()
    const seen = (record: ToolCallRecord): ToolCallRecord => {
      ids.add(record.id)
      requireBoundedRecord(JSON.parse(JSON.stringify(record)) as ToolCallRecord)
      return record
    }
    const watched: Journal = {
      ...journal,
      claim: (record, owner) => journal.claim(seen(record), owner),
      write: (record, fence) => journal.write(seen(record), fence),
    }
    await flood([records(watched)])
    expect(ids.size).toBeGreaterThan(20)
    for (const id of ids) requireBoundedRecord((await journal.read(id))!.record)
    await extension.close?.()
  })

  test(`${title} keeps the meta of a question as JSON, and gets no call whose policy gives it what JSON cannot hold`, async () => {
    const extension = (await makeStorage()).open()
    let meta: Record<string, unknown> = { when: new Date(0), risk: 0.5, cause: undefined }
    const asking = { name: 'asking', decide: () => ({ decision: 'ask', meta }) as const }
    const executor = createExecutor({ tools: [tool('pay', () => 'paid')], use: [extension, { policies: [asking] }] })
    expect((await executor.execute({ name: 'pay' })).status).toBe('waiting')
    const cycle: Record<string, unknown> = {}
    cycle['itself'] = cycle
    for (const bad of [{ cents: 1n }, cycle, { show: () => '' }]) {
      meta = bad
      const { status, error } = await executor.execute({ name: 'pay' })
      expect([status, error?.message]).toEqual([
        'denied',
        expect.stringMatching(/^Policy asking could not decide: JSON cannot hold `meta\./),
      ])
    }
    const waiting = await executor.calls.waiting()
    expect(waiting.map((call) => call.meta)).toEqual([{ when: '1970-01-01T00:00:00.000Z', risk: 0.5 }])
    meta = {}
    expect((await executor.calls.decide(waiting[0]!, 'allow')).status).toBe('ok')
    await executor.close()
  })
}
