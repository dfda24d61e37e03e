import { InMemoryTransport } from '@modelcontextprotocol/client'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutor, tool, type Extension, type ToolResult } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { mcpTools } from 'toolwright/mcp/client'
import { mcpServer } from 'toolwright/mcp/server'
import {
  cassette,
  cassetteOf,
  replay,
  writeCassette,
  type Replayed,
  type ReplayCounts,
  type ReplayOptions,
} from 'toolwright/testing/cassettes'
import type { Journal } from 'toolwright/records'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toolwright } from '../cli/_command.ts'
import { runWithTape, tapeFolder } from './_tapes.ts'
import { callsOf, executorOf, World } from './_world.ts'

const newPath = tapeFolder()
const outcomeOf = ({ status, effect, content, error }: ToolResult): string =>
  JSON.stringify([status, effect, content, error?.code])

type JournalExtension = Extension & { readonly journal: Journal }

describe('a tape that is made of a journal', () => {
  it.each<readonly [string, () => JournalExtension]>([
    ['in memory', () => memoryJournal()],
    ['of SQLite', () => sqliteJournal(newPath())],
  ])('%s tells models the same of each call, and runs no handler', async (_name, open) => {
    const journal = open()
    const executor = executorOf(new World().tools(), journal)
    const before: string[] = []
    for (const call of callsOf(98)) before.push(outcomeOf(await executor.execute(call, { session: 'main' })))
    await executor.execute({ name: 'echo', args: { n: 1 } }, { session: 'other' })
    const path = newPath()
    await writeCassette(path, cassetteOf(journal, { session: 'main' }))
    await executor.close()

    const world = new World()
    const tape = cassette(path, { mode: 'replay' })
    const other = executorOf(world.tools(), tape)
    const after: string[] = []
    for (const call of callsOf(98)) after.push(outcomeOf(await other.execute(call, { session: 'main' })))
    await other.close()
    expect(after).toEqual(before)
    expect(before).toHaveLength(98)
    expect(world.ran).toEqual({})
    tape.verify()
  })

  it('has content above 64 KiB if it gets the store, else says that it lacks it', async () => {
    const block = 'x'.repeat(30_000)
    const gives = tool({
      name: 'gives',
      description: 'Gives',
      inlineLimit: 100_000,
      handler: () => `${block}${block}${block}`,
    })
    const journal = memoryJournal()
    const { store } = cassette(newPath(), { mode: 'off' })
    const executor = createExecutor({ tools: [gives], use: [journal, { store: store! }] })
    const before = outcomeOf(await executor.execute({ name: 'gives' }, { session: 's' }))
    const after = async (options: { readonly store?: NonNullable<Extension['store']> }): Promise<string> => {
      const path = newPath()
      await writeCassette(path, cassetteOf(journal, { session: 's', ...options }))
      return outcomeOf(
        await createExecutor({ tools: [gives], use: [cassette(path, { mode: 'replay' })] }).execute({ name: 'gives' }),
      )
    }
    expect(await after({ store: store! })).toBe(before)
    expect(await after({})).toMatch(/artifact store of the journal, which was not given/)
  })

  it('refuses what is no journal', async () => {
    await expect(cassetteOf({} as never, { session: 's' }).next()).rejects.toThrow(/`cassetteOf` takes a journal/)
  })
})

describe('tools of an MCP server', () => {
  it('are not asked in a replay', async () => {
    let asked = 0
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      inputSchema: z.object({ n: z.number() }),
      handler: ({ n }) => `paid ${n} ${asked++}`,
    })
    const bad = tool({ name: 'bad', description: 'Fails', handler: () => Promise.reject(new Error(`no ${asked++}`)) })
    const bank = createExecutor({ tools: [pay, bad] })
    const path = newPath()
    const run = async (mode: 'record' | 'replay'): Promise<string[]> => {
      const [near, far] = InMemoryTransport.createLinkedPair()
      await mcpServer({ executor: bank }).connect(far)
      const remote = await mcpTools({ name: 'bank', transport: near })
      const tape = cassette(path, { mode, strict: true })
      const executor = createExecutor({ use: [remote, tape] })
      const results: string[] = []
      for (let n = 0; n < 3; n++) {
        for (const name of ['pay', 'bad'])
          results.push(outcomeOf(await executor.execute({ name, args: name === 'pay' ? { n } : {} })))
      }
      await executor.close()
      tape.verify()
      return results
    }
    const recorded = await run('record')
    expect(asked).toBe(6)
    expect(await run('replay')).toEqual(recorded)
    expect(asked).toBe(6)
  })
})

async function replayAll(
  path: string,
  world: World,
  options: ReplayOptions = {},
): Promise<[readonly Replayed[], ReplayCounts]> {
  const run = replay(path, world.tools(), options)
  const changes: Replayed[] = []
  for (;;) {
    const step = await run.next()
    if (step.done === true) return [changes, step.value]
    changes.push(step.value)
  }
}

describe('a replay of recorded calls', () => {
  const path = newPath()
  const calls = callsOf(98).filter(({ name }) => name !== 'slow' && name !== 'flaky')

  it('runs readonly tools, and answers the others from the tape', async () => {
    await runWithTape(path, { mode: 'record' }, new World().tools(), calls)
    const world = new World()
    const [changes, counts] = await replayAll(path, world)
    expect(Object.keys(world.ran).toSorted()).toEqual(['echo', 'read'])
    expect([...new Set(changes.map(({ tool: name }) => name))].toSorted()).toEqual(['echo', 'read'])
    expect(changes.find(({ tool: name }) => name === 'echo')).toMatchObject({
      tool: 'echo',
      pointer: '/content/0/text',
      before: expect.stringMatching(/^echo/),
      after: expect.stringMatching(/^echo/),
    })
    expect(counts.skipped).toBe(calls.filter(({ name }) => name === 'login').length)
    expect(counts.same + counts.different + counts.skipped).toBe(cassette(path, { mode: 'replay' }).recorded.length)
  })

  it('does not compare what is to be ignored', async () => {
    const [changes, { different }] = await replayAll(path, new World(), { ignore: ['/content'] })
    expect([changes, different]).toEqual([[], 0])
  })

  it('runs every tool if it is asked to', async () => {
    const world = new World()
    await replayAll(path, world, { all: true })
    expect(Object.keys(world.ran)).toHaveLength(11)
  })

  it.each([[{ ignore: ['content'] }], [{ ignore: '/content' }], [{ all: 1 }], [{ al: true }]])(
    'refuses %j',
    async (options) => {
      await expect(replay(path, [], options as ReplayOptions).next()).rejects.toMatchObject({
        code: 'E_INVALID_CONFIGURATION',
      })
    },
  )
})

describe('the command', { timeout: 60_000 }, () => {
  const journal = newPath()
  const tape = newPath()
  const module = join(import.meta.dirname, '_module.ts')

  it('makes a tape of a journal, and replays it: 0 if all is the same, 1 if something differs', async () => {
    const { tools } = await import('./_module.ts')
    const executor = createExecutor({ tools, use: [sqliteJournal(journal)] })
    for (const name of ['same', 'clock', 'pays']) await executor.execute({ name }, { session: 's' })
    await executor.close()

    const made = await toolwright(['cassette', journal, '--session', 's'])
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(made.stdout.trimEnd().split('\n')).toHaveLength(4)
    writeFileSync(tape, made.stdout)

    const differs = await toolwright(['replay', tape, module])
    expect(differs).toMatchObject({ code: 1, stderr: 'toolwright: 2 the same, 1 different, 0 skipped.\n' })
    expect(JSON.parse(differs.stdout)).toMatchObject({ tool: 'clock', args: {}, pointer: '/content/0/text' })
    expect(await toolwright(['replay', tape, module, '--ignore', '/content'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'toolwright: 3 the same, 0 different, 0 skipped.\n',
    })
  })

  it.each<readonly [string, readonly string[], RegExp]>([
    ['there is no such tape', ['replay', 'none.jsonl', module], /There is no file none\.jsonl/],
    ['the tape is none', ['replay', module, module], /is wrong in line 1|is none/],
    ['the pointer is none', ['replay', tape, module, '--ignore', 'content'], /--ignore takes a JSON Pointer/],
    ['the module is missing', ['replay', tape], /Something is missing/],
    ['there is no such journal', ['cassette', 'none.sqlite', '--session', 's'], /There is no file none\.sqlite/],
    ['there is no session', ['cassette', journal], /--session is missing/],
    [
      'the session has no calls',
      ['cassette', journal, '--session', 'other'],
      /has no settled call of the session "other"/,
    ],
  ])('exits with 2 if %s', async (_name, words, message) => {
    const { code, stdout, stderr } = await toolwright(words)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
  })

  it('writes a tape that a test takes', () => {
    expect(readFileSync(tape, 'utf8')).toMatch(/^\{"cassette":1,/)
    expect(cassette(tape, { mode: 'replay' }).recorded.map(({ tool: name }) => name)).toEqual(['same', 'clock', 'pays'])
  })
})
