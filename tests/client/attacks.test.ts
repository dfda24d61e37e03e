// What clumsy applications, hostile pages and bad luck do to the HTTP API, beside what `http-attacks` tries.
import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createExecutor, tool, ToolRegistry, type Extension, type ToolResult } from 'toolwright'
import { agUi } from 'toolwright/client/ag-ui'
import { httpClients } from 'toolwright/client/http'
import { pageTools } from 'toolwright/client/page-tools'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { httpApi, read, send } from './_http-api.ts'

const waitFor = { timeout: 20_000 }

describe('streams', () => {
  const events = (as = 'ada'): Request =>
    new Request('http://localhost/events', { headers: { authorization: `Bearer ${as}` } })

  test('that are asked for at once do not exceed the limits', async () => {
    const { clients } = await httpApi({ limits: { streams: 3, allStreams: 4 }, use: [memoryJournal()] })
    const asked = Array.from({ length: 200 }, (_, index) => clients.fetch(events(index % 2 === 0 ? 'ada' : 'bob')))
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(4)
  })

  test('of one user take no place from the others of the session, and count in all sessions', async () => {
    const { clients } = await httpApi({
      limits: { streams: 2 },
      authorize: ({ headers }) => ({
        session: headers.get('x-session') ?? 'team',
        name: headers.get('x-name') ?? 'Ada',
      }),
    })
    const statusOf = async (headers: Record<string, string>): Promise<number> =>
      (await clients.fetch(new Request('http://localhost/events', { headers }))).status
    expect([await statusOf({}), await statusOf({}), await statusOf({})]).toEqual([200, 200, 429])
    expect(await statusOf({ 'x-session': 'of her own' })).toBe(429)
    expect(await statusOf({ 'x-name': 'Bob' })).toBe(200)
  })

  test('that wait for their list while the HTTP API closes are refused, and none stays open', async () => {
    const { clients } = await httpApi({ use: [memoryJournal()] })
    const asked = clients.fetch(events())
    await Promise.resolve()
    await clients.close()
    const { status, body } = await asked
    if (status === 200)
      for await (const _ of body ?? []); // a stream that was opened before ends
    else expect(status).toBe(503)
  })

  test.each([0, Number.NaN, Infinity, 2 ** 31, -1])('have no heartbeat of %d ms', (heartbeat) => {
    const options = { executor: createExecutor(), token: 'x', heartbeat }
    expect(() => httpClients(options)).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
  })
})

test.each([
  ['/calls/none', {}, 404],
  ['/calls/none/decision', { body: {} }, 400],
  ['/calls/none/decision', { body: {}, headers: { 'content-type': 'text/plain' } }, 415],
  ['/calls', { method: 'POST', body: {} }, 405],
] as const)(
  'a page of a site that the application names reads why its request was refused: %s',
  async (path, sent, status) => {
    const { url } = await httpApi({ origins: ['app.test'] })
    const origin = 'https://app.test'
    const headers = { origin, ...('headers' in sent && sent.headers) }
    const refused = await send(`${url}${path}`, { ...sent, headers })
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([status, origin])
  },
)

test('a page of AG-UI of a site that the application names reads why its request was refused', async () => {
  const { fetch } = agUi({ executor: createExecutor(), token: 'x', origins: ['app.test'] })
  const headers = { host: 'localhost', origin: 'https://app.test', authorization: 'Bearer x' }
  const refused = await fetch(new Request('http://localhost/', { headers }))
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([405, 'https://app.test'])
})

test.each([[[]], [[memoryJournal()]]])(
  'a client’s call that is approved first takes the client’s answer',
  async (use) => {
    const both = tool({
      name: 'both',
      description: 'Asks twice',
      type: 'client',
      requiresResponse: true,
      requiresConfirmation: true,
      timeout: 600_000,
    })
    const { executor, url } = await httpApi({ extra: [both], use })
    const { invocationId } = await executor.execute({ name: 'both' }, { session: 'ada' })
    const headers = { prefer: 'wait=20' }
    const decision = { body: { decision: 'allow' }, headers }
    const decided = await send(`${url}/calls/${invocationId}/decision`, decision)
    expect([decided.status, decided.data.result?.status]).toEqual([200, 'waiting'])
    const answer = { body: { invocationId, value: 'done' }, headers }
    const answered = await send(`${url}/tool-results`, answer)
    expect([answered.status, answered.data.result?.content]).toEqual([200, [{ type: 'text', text: 'done' }]])
    for (const again of [
      await send(`${url}/calls/${invocationId}/decision`, decision),
      await send(`${url}/tool-results`, answer),
    ]) {
      expect([again.status, again.data.repeated]).toEqual([200, true])
    }
  },
)

describe('values that JSON cannot hold', () => {
  const circle: Record<string, unknown> = {}
  circle['own'] = circle
  const hostile = [10n, circle, () => 1, undefined, { toJSON: () => { throw new Error('no') } }] // prettier-ignore

  test.each([[[]], [[memoryJournal()]]])('spoil no list, stream or other call as progress of a tool', async (use) => {
    const later: Record<string, unknown> = {}
    const noisy = tool({
      name: 'noisy',
      description: 'Tells of everything',
      handler: (_, { emit }) => {
        for (const data of [...hostile, later]) emit('some', data)
        later['own'] = later // what was told is as it was then
        return 'over'
      },
    })
    const { executor, url, reports } = await httpApi({ extra: [noisy], use })
    const stream = await read(url)
    const { invocationId } = await executor.execute({ name: 'noisy' }, { session: 'ada' })
    expect((await send(`${url}/calls`)).data.calls).toHaveLength(1)
    const { progress } = (await send(`${url}/calls/${invocationId}`)).data
    expect([progress?.length, progress?.at(0)?.data, progress?.at(-1)?.data]).toEqual([6, '[no JSON]', {}])
    const progressEvents = (): unknown[] =>
      stream.frames.filter(({ data }) => 'event' in data && data.event === 'tool:progress')
    await expect.poll(() => progressEvents().length, waitFor).toBe(6)
    expect(reports).toEqual([])
  })

  test('are refused as what a policy tells of a question, and spoil no list', async () => {
    const meta = { at: 1, large: 10n }
    const asking: Extension = { policies: [{ name: 'asking', decide: () => ({ decision: 'ask', meta }) }] }
    const { executor, url, reports } = await httpApi({ use: [asking] })
    const { content, status } = await executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    expect(status).toBe('denied')
    expect(JSON.stringify(content)).toContain('Policy asking could not decide: JSON cannot hold `meta.large`.')
    const { status: listed, data } = await send(`${url}/calls`)
    expect([listed, data.calls.filter(({ waiting }) => waiting)]).toEqual([200, []])
    expect(reports).toEqual([])
  })

  test('spoil no run of AG-UI as progress of a tool', async () => {
    const noisy = tool({
      name: 'noisy',
      description: 'Tells of everything',
      handler: (_, { emit }) => {
        for (const data of hostile) emit('some', data)
        return 'over'
      },
    })
    const { fetch } = agUi({
      executor: createExecutor({ tools: [noisy] }),
      token: 'x',
      model: (_input, { results }) => (results.length === 0 ? [{ name: 'noisy', args: {} }] : []),
    })
    const answer = await fetch(
      new Request('http://localhost/', {
        method: 'POST',
        headers: { host: 'localhost', authorization: 'Bearer x', 'content-type': 'application/json' },
        body: '{"threadId":"t","runId":"r","messages":[]}',
      }),
    )
    expect(await answer.text()).toContain('RUN_FINISHED')
  })
})

test('an id that is used again, in another session, shows neither session the other’s call', async () => {
  const { executor, url } = await httpApi()
  const [of, invocationId] = [(session: string) => ({ session, invocationId: 'x' }), 'x']
  await executor.execute({ name: 'echo', args: { text: 'hers' } }, of('ada'))
  await executor.execute({ name: 'echo', args: { text: 'his' } }, of('bob'))
  const seen = async (as: string): Promise<string> => JSON.stringify((await send(`${url}/calls`, { as })).data.calls)
  expect(await seen('ada')).not.toContain('his')
  expect(await seen('bob')).toContain('his')
  expect(await seen('bob')).not.toContain('hers')
  expect((await send(`${url}/calls/${invocationId}`)).status).toBe(404)
  await executor.execute({ name: 'nothing' }, of('bob'))
  await executor.execute({ name: 'echo', args: { text: 'well' } }, of('bob'))
  const { data } = await send(`${url}/calls/${invocationId}`, { as: 'bob' })
  expect([data.status, data.error]).toEqual(['ok', undefined])
})

test.each<[string, () => Extension[]]>([
  ['without a journal', () => []],
  ['after its record was deleted', () => [memoryJournal()]],
])('a call under an id that was used before waits for an answer of its own, %s', async (_name, use) => {
  const { executor, url, ran } = await httpApi({ use: use() })
  const deploy = (to: string): Promise<ToolResult> =>
    executor.execute({ name: 'deploy', args: { to } }, { session: 'ada', invocationId: 'x' })
  const decide = (decision: string): ReturnType<typeof send> =>
    send(`${url}/calls/x/decision`, { body: { decision }, headers: { prefer: 'wait=20' } })
  for (const [to, decision, state] of [
    ['one', 'allow', 'COMPLETED'],
    ['one', 'allow', 'COMPLETED'],
    ['two', 'allow', 'COMPLETED'],
    ['two', 'deny', 'DENIED'],
  ] as const) {
    expect((await deploy(to)).status).toBe('waiting')
    expect((await decide(decision)).data).toMatchObject({ repeated: false, state })
    expect((await decide(decision)).data).toMatchObject({ repeated: true, state })
    if (use().length > 0) await executor.calls.prune({ settledBefore: Date.now() + 1_000 })
    await new Promise((resolve) => setTimeout(resolve, 2)) // the next wait begins at another time
  }
  expect(ran).toEqual(['one', 'one', 'two'])
})

test('answers whose calls have settled are kept as digests: neither they nor their results take memory', async () => {
  const { executor, url } = await httpApi({ use: [memoryJournal({ settled: 1 })], limits: { calls: 1 } })
  const [count, length] = [200, 200_000]
  const answer = async (index: number): Promise<void> => {
    const { invocationId } = await executor.execute({ name: 'look', args: { at: String(index) } }, { session: 'ada' })
    const body = { invocationId, value: `${index} `.padEnd(length, 'x') }
    const { data } = await send(`${url}/tool-results`, { body, headers: { prefer: 'wait=20' } })
    expect(data).toMatchObject({ repeated: false, state: 'COMPLETED' })
  }
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = (): number => (collect(), process.memoryUsage().heapUsed)
  for (let index = 0; index < 10; index++) await answer(index)
  const before = heap()
  for (let index = 10; index < count + 10; index++) await answer(index)
  expect(heap() - before).toBeLessThan((count * length) / 4)
})

test('a call under the id of another session’s running call changes nothing that pages see of it', async () => {
  const { executor, url } = await httpApi()
  const leaving = new AbortController()
  const running = executor.execute({ name: 'endless' }, { session: 'ada', invocationId: 'x', signal: leaving.signal })
  const refused = await executor.execute({ name: 'echo', args: {} }, { session: 'bob', invocationId: 'x' })
  expect(refused.error?.code).toBe('E_DUPLICATE_INVOCATION')
  const { data } = await send(`${url}/calls/x`)
  expect([data.toolName, data.session, data.status]).toEqual(['endless', 'ada', undefined])
  expect((await send(`${url}/calls/x`, { as: 'bob' })).status).toBe(404)
  leaving.abort()
  await running
})

test.each([
  ['//x/calls', 404],
  ['/\\x/calls', 404],
  ['//x/api/calls', 404],
  ['/api//calls', 404],
  ['/api%2fcalls', 404],
  ['/api/../calls', 404],
  ['*', 400],
  ['http://evil@localhost/api/calls', 200],
  ['/api/calls', 200],
])('a path is what the server before this one took it for: %s', async (target, status) => {
  const { url } = await httpApi({ base: '/api' })
  const { hostname, port } = new URL(url)
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let got = ''
    socket.on('data', (piece) => (got += String(piece))).on('error', reject).on('close', () => resolve(got)) // prettier-ignore
    const fields = 'Host: localhost\r\nAuthorization: Bearer ada\r\nConnection: close'
    socket.write(`GET ${target} HTTP/1.1\r\n${fields}\r\n\r\n`)
  })
  expect(answer.split(' ')[1]).toBe(String(status))
})

describe('tools of pages', () => {
  const declared = (name: string) => [{ name, description: 'Of the page' }]

  test.each(['ship', 'Ship', 'SHIP', 'de-liver', 'De_Liver'])(
    'do not take the name or the alias of a tool of the application: %s',
    async (name) => {
      const pages = pageTools()
      const ship = tool({ name: 'ship', aliases: ['de_liver'], description: 'Of the host', handler: () => 'host' })
      const executor = createExecutor({ tools: [ship], use: [pages] })
      pages.declare('ada', 'page', declared(name))
      expect(executor.tools('model', 'ada').map((each) => each.type)).toEqual([ship.type])
      const { status, content } = await executor.execute({ name }, { session: 'ada' })
      if (status === 'ok') expect(content).toEqual([{ type: 'text', text: 'host' }])
      else expect(status).toBe('error')
    },
  )

  test('do not keep a name that the host takes later', async () => {
    const pages = pageTools()
    const registry = new ToolRegistry()
    const executor = createExecutor({ tools: registry, use: [pages], report: () => {} })
    pages.declare('ada', 'page', declared('late'))
    expect((await executor.execute({ name: 'late' }, { session: 'ada' })).status).toBe('waiting')
    registry.add(tool({ name: 'late', description: 'Of the host', handler: () => 'host' }))
    const { content } = await executor.execute({ name: 'late' }, { session: 'ada' })
    expect(content).toEqual([{ type: 'text', text: 'host' }])
  })

  test('whose names differ in spelling alone leave the other tools as they are', async () => {
    const reports: unknown[] = []
    const pages = pageTools()
    const host = tool({ name: 'host', description: 'Of the host', handler: () => 'host' })
    const executor = createExecutor({ tools: [host], use: [pages], report: (error) => void reports.push(error) })
    pages.declare('ada', 'page', [...declared('my-tool'), ...declared('my_tool'), ...declared('other')])
    const names = executor.tools('model', 'ada').map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['host', 'my-tool', 'other']))
    expect((await executor.execute({ name: 'host' }, { session: 'ada' })).status).toBe('ok')
  })
})
