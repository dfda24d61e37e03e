import { createExecutor, memoryStore, type Tool, type ToolExecutor } from 'toolwright'
import { fleet } from 'toolwright/distributed/fleet'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { data, outcome, text, work } from './_calls.ts'
import { places, recordIn, type Place } from './_journals.ts'

/** Changes the text of the args that the record of a waiting call keeps. */
async function keep(place: Place, invocationId: string, args: string): Promise<void> {
  const { journal } = place.open()
  const found = await journal.read(invocationId)
  const { record, fence } = found!
  const awaits = { ...record.journal!.awaits!, text: args }
  expect(await journal.write({ ...record, journal: { ...record.journal!, awaits } }, fence)).toBe(true)
}

function tools(ran: unknown[]): Tool[] {
  const run = (input: unknown): unknown => (ran.push(input), { ran: input })
  return [
    work('pay', run, { requiresConfirmation: true }),
    work('form', run, { type: 'client', requiresResponse: true }),
    work('render', run),
  ]
}

function executorOn(place: Place, ran: unknown[]): ToolExecutor {
  return createExecutor({ tools: tools(ran), use: [place.open()] })
}

const sqlite = new Map(places).get('SQLite')
const damages = [
  ['has changed', '{"amount":9000}'],
  ['is empty', ''],
] as const

describe.each(places)('the args that a waiting call keeps (%s)', (_, open) => {
  test.each(damages)('run nothing if their text %s after a person was asked', async (_what, args) => {
    const [place, ran] = [open(), [] as unknown[]]
    const executor = executorOn(place, ran)
    const { token = '', invocationId } = await executor.execute({ name: 'pay', args: { amount: 5 } })
    await keep(place, invocationId, args)
    const result = await executor.calls.decide(token, 'allow')
    expect(outcome(result)).toBe('error none E_JOURNAL')
    expect(text(result)).toContain('are not those that were shown')
    expect(result.error?.retryable).toBe(false)
    expect(ran).toEqual([])
    expect(await recordIn(place.open(), invocationId)).toMatchObject({ state: 'FAILED', effect: 'none' })
  })

  test.each(damages)('run nothing if their text %s and a person edits the args', async (_what, args) => {
    const [place, ran] = [open(), [] as unknown[]]
    const executor = executorOn(place, ran)
    const { token = '', invocationId } = await executor.execute({ name: 'pay', args: { amount: 5 } })
    await keep(place, invocationId, args)
    const result = await executor.calls.decide(token, 'allow', { editedArgs: { amount: 4 } })
    expect(outcome(result)).toBe('error none E_JOURNAL')
    expect(ran).toEqual([])
  })

  test('give way to those that a person edits', async () => {
    const [place, ran] = [open(), [] as unknown[]]
    const executor = executorOn(place, ran)
    const { token = '', callId } = await executor.execute({ name: 'pay', args: { amount: 5 } })
    const result = await executor.calls.decide(token, 'allow', { editedArgs: { amount: 4 } })
    expect([outcome(result), data(result)]).toEqual(['ok completed', { ran: { amount: 4 } }])
    expect(await recordIn(place.open(), result.invocationId)).toMatchObject({ editedFrom: callId })
  })

  test.each(damages)('take no answer of a client if their text %s', async (_what, args) => {
    const [place, ran] = [open(), [] as unknown[]]
    const executor = executorOn(place, ran)
    const { token = '', invocationId } = await executor.execute({ name: 'form', args: { ask: 'a' } })
    await keep(place, invocationId, args)
    // The client may have done its work for the args that it was shown.
    expect(outcome(await executor.calls.respond(token, 'done'))).toBe('error unknown E_JOURNAL')
  })
})

describe('the args that a call keeps while it waits for a worker', () => {
  test.each(damages)('run nothing on a worker if their text %s', async (_what, args) => {
    const [place, ran] = [sqlite!(), [] as unknown[]]
    const caller = createExecutor({ tools: tools(ran), use: [place.open(), { store: memoryStore() }, fleet()] })
    onTestFinished(() => caller.close())
    const options = { session: 's', invocationId: 'made' }
    const waited = caller.execute({ name: 'render', args: { page: 1 } }, options)
    await vi.waitFor(async () => expect((await recordIn(place.open(), 'made')).journal?.awaits?.reason).toBe('worker'))
    await keep(place, 'made', args)
    const result = await executorOn(place, ran).queue.run('made')
    expect(result && outcome(result)).toBe('error none E_JOURNAL')
    expect(outcome(await waited)).toBe('error none E_JOURNAL')
    expect(ran).toEqual([])
  })
})
