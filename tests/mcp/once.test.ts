import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { Client, InMemoryTransport, type CallToolResult } from '@modelcontextprotocol/client'
import { createExecutor, tool, type Extension, type Tool } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { mcpServer, type McpServerOptions } from 'toolwright/mcp/server'
import { describe, expect, test, vi } from 'vitest'
import { deferred } from '../kernel/_calls.ts'
import { closing, connect, eras, start, textOf, type Mode } from './_server.ts'

const key = 'toolwright/once'
const tokens = { token: (token: string): string => token }
const newer = eras[1][1]

/** A journal in a file of its own, which several executors may share. */
function journal(): () => Extension {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-once-'))
  closing(() => rmSync(folder, { recursive: true }))
  return () => sqliteJournal(join(folder, 'calls.db'))
}

interface Bank {
  readonly pay: Tool
  readonly runs: unknown[]
}

/** A tool that is not to run twice, and what it ran with. */
function bank(answer: (to: string, signal: AbortSignal) => unknown = (to) => `paid ${to}`): Bank {
  const runs: unknown[] = []
  const pay = tool('pay', ({ to }: { to: string }, { signal }) => {
    runs.push(to)
    return answer(to, signal)
  })
  return { pay, runs }
}

async function as(url: string, mode: Mode, token?: string): Promise<Client> {
  return connect(url, mode, {}, token === undefined ? {} : { authorization: `Bearer ${token}` })
}

function pays(client: Client, once: unknown, to = 'bob', signal?: AbortSignal): Promise<CallToolResult> {
  return client.callTool({ name: 'pay', arguments: { to }, _meta: { [key]: once } }, signal && { signal })
}

function declared(client: Client): unknown {
  return client.getServerCapabilities()?.extensions?.[key]
}

describe.each(eras)('in the era of %s, a server', (era, mode) => {
  test('declares to a principal that its calls run once, and answers one that is made again from the record', async () => {
    const { pay, runs } = bank()
    const { url } = await start({ tools: [pay], use: [journal()()] }, {}, tokens)
    const client = await as(url, mode, 'ann')
    expect(declared(client)).toEqual({})
    const results = [
      await pays(client, 'one'),
      await pays(client, 'one'),
      await pays(await as(url, mode, 'ann'), 'one'),
    ]
    expect(results.map(textOf)).toEqual(['paid bob', 'paid bob', 'paid bob'])
    expect(runs).toEqual(['bob'])
    await pays(client, 'two')
    expect(runs).toEqual(['bob', 'bob'])
  })

  test('joins a call that is made again to the one that runs', async () => {
    const running = deferred<unknown>()
    const { pay, runs } = bank(() => running.promise)
    const { url } = await start({ tools: [pay], use: [journal()()] }, {}, tokens)
    const calls = [pays(await as(url, mode, 'ann'), 'one')]
    await vi.waitFor(() => expect(runs).toHaveLength(1))
    for (let index = 0; index < 3; index++) calls.push(pays(await as(url, mode, 'ann'), 'one'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    running.resolve('paid at last')
    expect((await Promise.all(calls)).map(textOf)).toEqual(Array.from({ length: 4 }, () => 'paid at last'))
    expect(runs).toHaveLength(1)
  })

  test('lets no principal reach the call of another by its id', async () => {
    const { pay, runs } = bank((to) => `paid ${to} as the ${runs.length}.`)
    const { url } = await start({ tools: [pay], use: [journal()()] }, {}, tokens)
    expect(textOf(await pays(await as(url, mode, 'ann'), 'one'))).toBe('paid bob as the 1.')
    expect(textOf(await pays(await as(url, mode, 'eve'), 'one'))).toBe('paid bob as the 2.')
    expect(textOf(await pays(await as(url, mode, 'ann'), 'one'))).toBe('paid bob as the 1.')
    // Not by what another's id comes to, either.
    const id = JSON.stringify(['principal', 'ann', 'one'])
    expect(textOf(await pays(await as(url, mode, 'eve'), id))).toBe('paid bob as the 3.')
  })

  test('refuses an id that is not text of 1 to 256 characters, and runs nothing', async () => {
    const { pay, runs } = bank()
    const { url } = await start({ tools: [pay], use: [journal()()] }, {}, tokens)
    const client = await as(url, mode, 'ann')
    for (const id of ['', 'x'.repeat(257), 7, true, null, {}, ['one'], { toString: 'one' }]) {
      await expect(pays(client, id)).rejects.toMatchObject({ code: -32_602 })
    }
    expect(runs).toEqual([])
    const allowed = ['x'.repeat(256), 'one~reconciled', '__proto__', '\u202e', '\0', 'mcp-'.repeat(64)]
    for (const id of allowed) expect(textOf(await pays(client, id))).toBe('paid bob')
    expect(runs).toHaveLength(allowed.length)
    for (const id of allowed) expect(textOf(await pays(client, id))).toBe('paid bob')
    expect(runs).toHaveLength(allowed.length)
  })

  test('does not run other args under an id that has run or runs', async () => {
    const running = deferred<unknown>()
    const { pay, runs } = bank((to) => (to === 'slow' ? running.promise : to))
    const { url } = await start({ tools: [pay], use: [journal()()] }, {}, tokens)
    const client = await as(url, mode, 'ann')
    await pays(client, 'one')
    const slow = pays(client, 'two', 'slow')
    await vi.waitFor(() => expect(runs).toHaveLength(2))
    for (const id of ['one', 'two']) {
      const refused = await pays(client, id, 'eve')
      expect(refused.isError).toBe(true)
      expect(textOf(refused)).not.toContain('paid')
    }
    // The call that runs is still found by its own args.
    const again = pays(client, 'two', 'slow')
    running.resolve('done')
    expect((await Promise.all([slow, again])).map(textOf)).toEqual(['done', 'done'])
    expect(runs).toEqual(['bob', 'slow'])
  })

  test('takes the invocationId of `identify` in its place', async () => {
    const { pay, runs } = bank()
    const identify: McpServerOptions['identify'] = (meta, { principal }) => ({
      invocationId: `${principal} ${String(meta?.['order'])}`,
    })
    const { url, executor } = await start({ tools: [pay], use: [journal()()] }, { identify }, tokens)
    const client = await as(url, mode, 'ann')
    for (const once of ['one', 'two']) {
      const _meta = { [key]: once, order: 4711 }
      expect(textOf(await client.callTool({ name: 'pay', arguments: { to: 'bob' }, _meta }))).toBe('paid bob')
    }
    expect(runs).toEqual(['bob'])
    expect((await executor.calls.get('ann 4711')).status).toBe('ok')
  })

  test('declares nothing, and takes no id, if its records go with the process', async () => {
    for (const use of [[], [memoryJournal()]]) {
      const { pay, runs } = bank()
      const { url } = await start({ tools: [pay], use }, {}, tokens)
      const client = await as(url, mode, 'ann')
      expect(declared(client)).toBe(undefined)
      for (let time = 0; time < 2; time++) await pays(client, 'one')
      expect(runs).toHaveLength(2)
    }
  })

  test('cancels at once what its client cancels if it can tell, else when the client does not come again', async () => {
    const ended: unknown[] = []
    const { pay, runs } = bank(
      (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(ended.push('aborted')))),
    )
    // In the older era, to cancel is a message, so the time to come again does not matter.
    const reissueTimeout = era === '2025-11-25' ? 600_000 : 1
    const { url } = await start({ tools: [pay], use: [journal()()] }, { reissueTimeout }, tokens)
    const controller = new AbortController()
    const call = pays(await as(url, mode, 'ann'), 'one', 'bob', controller.signal)
    await vi.waitFor(() => expect(runs).toHaveLength(1))
    controller.abort()
    await expect(call).rejects.toThrow()
    await vi.waitFor(() => expect(ended).toEqual(['aborted']))
  })

  test('runs a call on whose client was cut off, for the client to find it again', async () => {
    const running = deferred<unknown>()
    const aborted: unknown[] = []
    const { pay, runs } = bank((_, signal) => {
      signal.addEventListener('abort', () => aborted.push(signal.reason))
      return running.promise
    })
    const { url } = await start({ tools: [pay], use: [journal()()] }, {}, tokens)
    const first = await as(url, mode, 'ann')
    const controller = new AbortController()
    // A client of the newer era cancels by ending its request, as a cut does. In the older one the whole client goes.
    const cut = pays(first, 'one', 'bob', mode === newer ? controller.signal : undefined)
    cut.catch(() => {})
    await vi.waitFor(() => expect(runs).toHaveLength(1))
    controller.abort()
    if (mode !== newer) await first.close()
    await expect(cut).rejects.toThrow()
    const again = pays(await as(url, mode, 'ann'), 'one')
    await new Promise((resolve) => setTimeout(resolve, 20))
    running.resolve('paid after all')
    expect(textOf(await again)).toBe('paid after all')
    expect([runs, aborted]).toEqual([['bob'], []])
  })

  test('asks again for a call that waits for approval, and runs it once', async () => {
    const runs: unknown[] = []
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      inputSchema: { type: 'object', properties: { to: { type: 'string' } } },
      requiresConfirmation: true,
      handler: () => runs.push('bob'),
    })
    const { url } = await start({ tools: [pay], use: [journal()()] }, {}, tokens)
    let asked = 0
    const answer = deferred<unknown>()
    const people = await Promise.all(
      [0, 1].map(async () => {
        const client = await connect(
          url,
          mode,
          { capabilities: { elicitation: { form: {} } } },
          { authorization: 'Bearer ann' },
        )
        client.setRequestHandler('elicitation/create', async () => {
          asked++
          if (asked === 1) await answer.promise // the first client is cut off
          return { action: 'accept', content: { approve: true } }
        })
        return client
      }),
    )
    const [first, second] = people as [Client, Client]
    const lost = pays(first, 'one')
    lost.catch(() => {})
    await vi.waitFor(() => expect(asked).toBe(1))
    if (mode === newer) {
      expect(textOf(await pays(second, 'one'))).toBe('1')
      expect(asked).toBe(2)
    }
    answer.resolve(undefined)
    if (mode !== newer) expect(textOf(await lost)).toBe('1')
    expect(runs).toEqual(['bob'])
  })

  test('answers from the record of another process, and waits for a call that runs there', async () => {
    const open = journal()
    const running = deferred<unknown>()
    const { pay, runs } = bank(() => running.promise)
    const [here, there] = await Promise.all([0, 1].map(() => start({ tools: [pay], use: [open()] }, {}, tokens)))
    const first = pays(await as(here!.url, mode, 'ann'), 'one')
    await vi.waitFor(() => expect(runs).toHaveLength(1))
    const again = pays(await as(there!.url, mode, 'ann'), 'one')
    await new Promise((resolve) => setTimeout(resolve, 50))
    running.resolve('paid there')
    expect((await Promise.all([first, again])).map(textOf)).toEqual(['paid there', 'paid there'])
    expect(textOf(await pays(await as(there!.url, mode, 'ann'), 'one'))).toBe('paid there')
    expect(runs).toHaveLength(1)
  })

  test('links to the same large result again, which can be read', async () => {
    const { pay, runs } = bank(() => 'x'.repeat(400_000))
    const { url } = await start({ tools: [pay], use: [journal()()] }, {}, { token: 'shared' })
    const client = await as(url, mode, 'shared')
    const [first, second] = [await pays(client, 'one'), await pays(client, 'one')]
    expect(second).toEqual(first)
    const link = second.content.find((block) => block.type === 'resource_link')
    const { contents } = await client.readResource({ uri: link?.uri ?? '' })
    expect(JSON.stringify(contents)).toContain('xxxx')
    expect(runs).toHaveLength(1)
  })
})

describe('without a principal', () => {
  test('the ids are those of a session, which the declaration names', async () => {
    const { pay, runs } = bank()
    const { url } = await start({ tools: [pay], use: [journal()()] })
    const [one, other] = [await as(url, 'legacy'), await as(url, 'legacy')]
    expect(declared(one)).toEqual({ session: expect.stringMatching(/^[0-9a-f]{32}$/) as string })
    expect(declared(one)).not.toEqual(declared(other))
    for (const client of [one, one, other]) expect(textOf(await pays(client, 'one'))).toBe('paid bob')
    expect(runs).toHaveLength(2)
  })

  test('nothing is declared to a client whose requests are sessions of their own, and no id is taken', async () => {
    const { pay, runs } = bank()
    const { url } = await start({ tools: [pay], use: [journal()()] })
    const client = await as(url, newer)
    expect(declared(client)).toBe(undefined)
    for (const id of ['one', 'one', 7]) expect(textOf(await pays(client, id))).toBe('paid bob')
    expect(runs).toHaveLength(3)
  })

  test.each(eras)('a connection in this process is a session, which can have a lasting name (%s)', async (_, mode) => {
    const open = journal()
    const { pay, runs } = bank()
    async function over(session?: string): Promise<Client> {
      const executor = createExecutor({ tools: [pay], use: [open()] })
      closing(() => executor.close())
      const [near, far] = InMemoryTransport.createLinkedPair()
      const connection = await mcpServer({ executor }).connect(far, { session })
      closing(connection.close)
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      await client.connect(near)
      return client
    }
    const [first, second] = [await over('desk'), await over('desk')]
    expect(declared(first)).toEqual(declared(second))
    for (const client of [first, first, second]) expect(textOf(await pays(client, 'one'))).toBe('paid bob')
    expect(runs).toHaveLength(1)
    const stranger = await over()
    expect(declared(stranger)).not.toEqual(declared(first))
    await pays(stranger, 'one')
    expect(runs).toHaveLength(2)
  })

  test('a client over standard streams finds its call again in a session of the same name', async () => {
    const open = journal()
    const { pay, runs } = bank()
    const answers: string[] = []
    for (let start_ = 0; start_ < 2; start_++) {
      const executor = createExecutor({ tools: [pay], use: [open()] })
      closing(() => executor.close())
      const [stdin, stdout] = [new PassThrough(), new PassThrough()]
      const { close } = await mcpServer({ executor }).stdio({ stdin, stdout, session: 'desk' })
      closing(close)
      const said = new Promise<string>((resolve) => {
        let all = ''
        stdout.setEncoding('utf8').on('data', (text: string) => {
          all += text
          if (all.includes('"id":1')) resolve(all.split('\n').find((line) => line.includes('"id":1')) ?? '')
        })
      })
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
      stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })}\n`)
      const call = { name: 'pay', arguments: { to: 'bob' }, _meta: { [key]: 'one' } }
      stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })}\n`)
      answers.push(await said)
    }
    expect(answers[0]).toContain('paid bob')
    expect(answers[1]).toBe(answers[0])
    expect(runs).toHaveLength(1)
  })
})

test('a server that closes cancels calls of clients that were cut off', async () => {
  const aborted: unknown[] = []
  const { pay, runs } = bank(
    (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(aborted.push(1)))),
  )
  const server = await start({ tools: [pay], use: [journal()()] }, { reissueTimeout: 600_000 }, tokens)
  const controller = new AbortController()
  pays(await as(server.url, newer, 'ann'), 'one', 'bob', controller.signal).catch(() => {})
  await vi.waitFor(() => expect(runs).toHaveLength(1))
  controller.abort()
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(aborted).toEqual([])
  await server.close()
  await vi.waitFor(() => expect(aborted).toEqual([1]))
})
