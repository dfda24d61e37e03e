import { createExecutor } from 'toolwright'
import type { ToolCallRecord } from 'toolwright/extension'
import { describe, expect, test } from 'vitest'
import { sink, work } from '../_calls.ts'
import { everyPlace } from './_inbox.ts'

const tools = [work('asks', () => 'done', { requiresConfirmation: true }), work('runs', () => 'ran')]

/** The journals in which another program can damage a row. */
const durable = everyPlace.filter(([name]) => name !== 'memory')

type Journaled = Record<string, unknown>

/** Lets a call wait in a journal, damages its record, and lets another wait. */
async function damagedWait(place: ReturnType<(typeof durable)[number][1]>, damage: (journal: Journaled) => Journaled) {
  const mounted = place.open()
  const { reports, report } = sink()
  const executor = createExecutor({ tools, use: [mounted], report })
  await executor.execute({ name: 'asks' }, { session: 's', invocationId: 'damaged' })
  await executor.execute({ name: 'asks' }, { session: 's', invocationId: 'whole' })
  const { record, fence } = (await mounted.journal.read('damaged'))!
  const journal = damage({ ...record.journal! }) as unknown as NonNullable<ToolCallRecord['journal']>
  await mounted.journal.write({ ...record, journal }, fence)
  return { executor, reports }
}

const damages: readonly (readonly [string, (journal: Journaled) => Journaled])[] = [
  ['null for its pause', (journal) => ({ ...journal, awaits: null })],
  ['a pause of a number', (journal) => ({ ...journal, awaits: 1 })],
  [
    'a pause without its args',
    ({ awaits, ...journal }) => ({ ...journal, awaits: { ...(awaits as object), text: undefined } }),
  ],
  [
    'a pause that says no end',
    ({ awaits, ...journal }) => ({ ...journal, awaits: { ...(awaits as object), expiresAt: null } }),
  ],
  ['a lease of null', ({ awaits, ...journal }) => ({ ...journal, awaits: { ...(awaits as object), lease: null } })],
  [
    'a wait for a worker without a queue',
    ({ awaits, ...journal }) => ({ ...journal, awaits: { ...(awaits as object), work: {} } }),
  ],
  ['null for its work', (journal) => ({ ...journal, work: null })],
  ['a digest of a number', (journal) => ({ ...journal, digest: 7 })],
]

describe.each(durable)('a damaged row (%s)', (_, place) => {
  test.each(damages)('with %s is left out of lists and reported, and the others are listed', async (_what, damage) => {
    const { executor, reports } = await damagedWait(place(), damage)
    const failure = { code: 'E_JOURNAL', message: expect.stringContaining('damaged') }
    expect((await executor.calls.waiting()).map(({ invocationId }) => invocationId)).toEqual(['whole'])
    expect((await executor.calls.list()).map(({ id }) => id)).toEqual(['whole'])
    expect(await executor.calls.expire()).toEqual([])
    expect(await executor.calls.recover({ staleAfter: 0 })).toMatchObject({ sealed: [], kept: [] })
    await expect(executor.calls.get('damaged')).rejects.toMatchObject(failure)
    expect(reports.length).toBeGreaterThan(0)
    for (const report of reports) expect(report).toMatchObject(failure)
    await executor.close()
  })

  test.each([7, { deep: true }, 'with a \0', null])('with the digest %j is pruned like the others', async (digest) => {
    const mounted = place().open()
    const executor = createExecutor({ tools, use: [mounted], report: sink().report })
    await executor.execute({ name: 'runs' }, { session: 's', invocationId: 'damaged' })
    await executor.execute({ name: 'runs' }, { session: 's', invocationId: 'whole' })
    const { record, fence } = (await mounted.journal.read('damaged'))!
    const journal = { ...record.journal!, digest, previous: digest } as unknown as NonNullable<
      ToolCallRecord['journal']
    >
    await mounted.journal.write({ ...record, journal }, fence)
    expect(await executor.calls.prune({ settledBefore: Date.now() + 1_000 })).toBe(2)
    expect(await executor.calls.list()).toEqual([])
    await executor.close()
  })
})
