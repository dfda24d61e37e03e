import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import pg from 'pg'
import { createExecutor, type Extension, type ToolExecutor } from 'toolwright'
import { once, type OnceOptions } from 'toolwright/gates/once'
import { memoryJournal } from 'toolwright/journals/memory'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { records, type Journal } from 'toolwright/records'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deferred, outcome, pause, soon, text, work } from '../kernel/_calls.ts'
import { startPostgres } from '../servers/postgres.ts'

const effectKey = (input: unknown): string => `refund:${(input as { order: number }).order}`
const call = (order: number, words = ''): { name: string; args: object } => ({ name: 'refund', args: { order, words } })

let root: string
let count = 0
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'toolwright-once-'))
})
afterAll(() => rmSync(root, { recursive: true }))

const newFile = (): string => join(root, `${count++}.db`)

function executorWith(handler: () => unknown, journal: Extension, options?: OnceOptions, tool = {}): ToolExecutor {
  return createExecutor({ tools: [work('refund', handler, { effectKey, ...tool })], use: [journal, once(options)] })
}

describe('after a restart', () => {
  test('a thing that was done is not done again', async () => {
    const file = newFile()
    let ran = 0
    const options = { session: 'a' }
    const first = executorWith(() => `Refunded ${++ran}.`, sqliteJournal(file))
    await first.execute(call(1), options)
    await first.close()
    const second = executorWith(() => `Refunded ${++ran}.`, sqliteJournal(file))
    const again = await second.execute(call(1, 'in other words'), options)
    expect([outcome(again), ran]).toEqual(['ok none skipped', 1])
    expect(text(again)).toContain('Refunded 1.')
    expect(outcome(await second.execute(call(1, 'I mean it'), options))).toBe('ok completed')
    await second.close()
    const third = executorWith(() => ++ran, sqliteJournal(file), { window: 0 })
    await pause(2)
    expect(outcome(await third.execute(call(1, 'long after'), options))).toBe('ok completed')
    await third.close()
  })

  test('what failed without an effect may be done', async () => {
    const file = newFile()
    const options = { session: 'a' }
    const refused = { conflicts: () => [''] }
    const first = executorWith(() => 1, sqliteJournal(file), {}, refused)
    expect(outcome(await first.execute(call(1), options))).toBe('error none E_TOOL_DOWNSTREAM_ERROR')
    await first.close()
    const second = executorWith(() => 1, sqliteJournal(file))
    expect(outcome(await second.execute(call(1, 'again'), options))).toBe('ok completed')
    await second.close()
  })

  test('what a second call did not do in the place of the first leaves the first as it was', async () => {
    const file = newFile()
    const options = { session: 'a' }
    const first = executorWith(() => 'first', sqliteJournal(file), { repeat: 'ask' })
    await first.execute(call(1), options)
    expect((await first.execute(call(1, 'asked'), options)).status).toBe('waiting')
    await first.close()
    const second = executorWith(() => 'second', sqliteJournal(file))
    const again = await second.execute(call(1, 'again'), options)
    expect(outcome(again)).toBe('ok none skipped')
    expect(text(again)).toContain('first')
    await second.close()
  })

  test('records that are deleted count no more', async () => {
    const file = newFile()
    const options = { session: 'a' }
    const first = executorWith(() => 1, sqliteJournal(file))
    await first.execute(call(1), options)
    await first.calls.prune({ settledBefore: Infinity })
    await first.close()
    const second = executorWith(() => 1, sqliteJournal(file))
    expect(outcome(await second.execute(call(1, 'again'), options))).toBe('ok completed')
    await second.close()
  })
})

describe('two executors on one journal', () => {
  test('do each thing once, and the second waits for what the first does', async () => {
    const shared: readonly (() => readonly [Extension, Extension])[] = [
      () => {
        const { journal } = memoryJournal()
        return [records(journal), records(journal)]
      },
      () => {
        const file = newFile()
        return [sqliteJournal(file), sqliteJournal(file)]
      },
    ]
    for (const journals of shared) {
      const door = deferred<string>()
      const began = deferred()
      let ran = 0
      const handler = (): unknown => {
        ran++
        began.resolve()
        return door.promise
      }
      const [first, second] = journals().map((journal) => executorWith(handler, journal))
      const options = { session: 'a' }
      const one = first!.execute(call(1), options)
      await began.promise
      const other = second!.execute(call(1, 'in other words'), options)
      await pause(10)
      door.resolve('Refunded.')
      expect([outcome(await soon(one)), outcome(await soon(other)), ran]).toEqual([
        'ok completed',
        'ok none skipped',
        1,
      ])
      await first!.close()
      await second!.close()
    }
  })

  test('do each of many things once', async () => {
    const file = newFile()
    let ran = 0
    const both = [1, 2].map(() => executorWith(() => ++ran, sqliteJournal(file), { repeat: 'deny' }))
    const calls = Array.from({ length: 30 }, (_, order) => order)
    await soon(
      Promise.all(
        both.flatMap((each, index) => calls.map((order) => each.execute(call(order, `${index}`), { session: 'a' }))),
      ),
    )
    expect(ran).toBe(30)
    for (const each of both) await each.close()
  })
})

test('a journal that cannot note what is done leaves it to the process', async () => {
  const own: Journal = { ...memoryJournal().journal }
  delete own.claimEffect
  const first = executorWith(() => 1, records(own))
  await first.execute(call(1), { session: 'a' })
  expect(outcome(await first.execute(call(1, 'again'), { session: 'a' }))).toBe('ok none skipped')
  const second = executorWith(() => 1, records(own))
  expect(outcome(await second.execute(call(1, 'again'), { session: 'a' }))).toBe('ok completed')
})

test('a journal that fails to note it refuses the call', async () => {
  const { journal } = memoryJournal()
  const own: Journal = { ...journal, claimEffect: () => Promise.reject(new Error('away')) }
  const executor = executorWith(() => 1, records(own))
  expect(outcome(await executor.execute(call(1)))).toBe('error none E_JOURNAL')
})

const server = await startPostgres()
if (typeof server === 'string') console.warn(`Two processes on one Postgres are not tested: ${server}.`)

test.skipIf(typeof server === 'string')(
  'two processes on one Postgres do each thing once',
  async () => {
    if (typeof server === 'string') return
    const schema = `toolwright_once_${process.pid}`
    const client = new pg.Client({ connectionString: server.connectionString })
    await client.connect()
    try {
      await client.query(`CREATE SCHEMA "${schema}"`)
      const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
      const program = join(import.meta.dirname, '_refunding.ts')
      const start = (): ChildProcess =>
        spawn(process.execPath, [...flags, program, server.connectionString, schema, '60'], {
          stdio: ['pipe', 'pipe', 'inherit'],
        })
      const children = [start(), start()]
      await Promise.all(children.map((child) => new Promise((ready) => child.stdout?.once('data', ready))))
      const outputs = children.map((child) => textOf(child.stdout!))
      for (const child of children) child.stdin?.end('go\n')
      const answers = (await Promise.all(outputs)).map(
        (output) => JSON.parse(output) as { readonly refunded: number[]; readonly statuses: string[] },
      )
      const refunded = answers.flatMap((each) => each.refunded).toSorted((a, b) => a - b)
      expect(refunded).toEqual(Array.from({ length: 60 }, (_, order) => order))
      const statuses = answers.flatMap((each) => each.statuses)
      expect(statuses.filter((status) => status === 'ok')).toHaveLength(60)
      expect(statuses.filter((status) => status === 'denied')).toHaveLength(60)
    } finally {
      await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
      await client.end()
      await server.stop()
    }
  },
  60_000,
)
