import { createExecutor, tool, ToolRegistry } from 'toolwright'
import { httpClients } from 'toolwright/client/http'
import { pageTools } from 'toolwright/client/page-tools'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { httpApi, read, seenIn, send, sendRaw } from './_http-api.ts'

const waitFor = { timeout: 20_000 }
const ada = { authorization: 'Bearer ada' }

describe('the HTTP API refuses', () => {
  test.each([
    ['evil.test', 403],
    ['127.0.0.1.evil.test', 403],
    ['evil@127.0.0.1', 403],
    ['127.0.0.1, evil.test', 403],
    ['LOCALHOST:80', 200],
    ['[::1]:80', 200],
  ])('a Host that is not its own: %j', async (host, status) => {
    const { url } = await httpApi()
    expect(await sendRaw(url, { ...ada, host })).toBe(status)
  })

  test.each([
    ['http://evil.test', 403],
    ['null', 403],
    ['http://localhost.evil.test', 403],
    ['file://', 403],
    ['chrome-extension://localhost', 403],
    ['http://localhost:3000', 200],
  ])('an Origin that is not its own: %j', async (origin, status) => {
    const { url } = await httpApi()
    expect(await sendRaw(url, { ...ada, host: 'localhost', origin })).toBe(status)
  })

  test('a GET that a page of another site makes a browser send', async () => {
    const { url } = await httpApi()
    expect(await sendRaw(url, { ...ada, host: 'localhost', 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await sendRaw(url, { ...ada, host: 'localhost', 'sec-fetch-site': 'same-origin' })).toBe(200)
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
  ])('a POST that a form of another site could send: %s', async (type) => {
    const { executor, url, ran } = await httpApi()
    const { invocationId } = await executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    const { status } = await send(`${url}/calls/${invocationId}/decision`, {
      raw: '{"decision":"allow"}',
      headers: { 'content-type': type },
    })
    expect([status, ran]).toEqual([415, []])
  })

  test('a wrong token, no token, and a token in the address', async () => {
    const { url } = await httpApi({ token: 'the-one' })
    expect((await send(`${url}/calls`, { as: 'the-other' })).status).toBe(401)
    expect((await send(`${url}/calls`, { as: '' })).status).toBe(401)
    expect((await send(`${url}/calls?token=the-one&access_token=the-one`, { as: '' })).status).toBe(401)
    expect((await send(`${url}/calls`, { as: 'the-one' })).status).toBe(200)
  })

  test('a user of an application that cannot say who it is, and one whose look-up fails', async () => {
    for (const wrong of [
      () => null,
      () => false,
      () => ({ session: '' }),
      () => ({}),
      () => Promise.reject(new Error('down')),
    ]) {
      const { url } = await httpApi({ authorize: wrong as never })
      expect([401, 400, 500]).toContain((await send(`${url}/calls`)).status)
    }
  })

  test.each([
    ['{"decision":"allow","decision":"deny"}', 400],
    ['{"decision":"allow"', 400],
    ['"allow"', 400],
    ['[]', 400],
    ['null', 400],
    ['', 400],
    ['{"decision":"maybe"}', 400],
    ['{"decision":"allow","note":7}', 400],
    ['{"decision":"allow","always":"yes"}', 400],
    ['{"decision":"allow","note":"\\ud800"}', 400],
    [`{"decision":"allow","note":"${'x'.repeat(20_000)}"}`, 400],
    [`${'['.repeat(5_000)}${']'.repeat(5_000)}`, 400],
    [`{"decision":"allow","note":"${'x'.repeat(1_000_000)}"}`, 413],
  ])('a body that is not what it takes: %.50s', async (raw, status) => {
    const { executor, url, ran } = await httpApi()
    const { invocationId } = await executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    const refused = await send(`${url}/calls/${invocationId}/decision`, { raw })
    expect([refused.status, ran]).toEqual([status, []])
    expect(refused.data.error.message).not.toBe('')
    expect(await executor.calls.waiting()).toHaveLength(1)
  })

  test.each([
    '/',
    '/nothing',
    '/calls/',
    '/calls/x/y',
    '/calls/%00',
    '/calls/%zz',
    '/calls/..%2f..%2fetc',
    '/%2e%2e/calls/x',
    '/artifacts/%00',
    `/calls/${'x'.repeat(5_000)}`,
    '/calls/__proto__',
    '/artifacts/constructor',
    '//calls/x/decision',
  ])('an address that leads nowhere: %.40s', async (path) => {
    const { url, reports } = await httpApi({ use: [memoryJournal()] })
    const { status } = await send(`${url}${path}`)
    expect([status, reports]).toEqual([404, []])
  })

  test('methods that an address has not', async () => {
    const { url } = await httpApi()
    for (const [path, method] of [
      ['/calls', 'POST'],
      ['/events', 'POST'],
      ['/tool-results', 'GET'],
      ['/calls', 'DELETE'],
      ['/tools/x', 'GET'],
    ] as const) {
      const refused = await send(`${url}${path}`, { method, ...(method === 'GET' ? {} : { body: {} }) })
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, expect.any(String)])
    }
  })

  test('what the user has no right to', async () => {
    const { executor, url, ran } = await httpApi()
    const waiting = await executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    const form = await executor.execute({ name: 'form', args: { pin: 'canary' } }, { session: 'ada' })
    const { handle } = await executor.execute({ name: 'log' }, { session: 'ada' })
    const as = 'guest'
    for (const [path, sent] of [
      [`/calls/${waiting.invocationId}/decision`, { body: { decision: 'allow' } }],
      [`/calls/${waiting.invocationId}/lease`, { body: { holder: 'h' } }],
      [`/calls/${form.invocationId}/lease`, { body: { holder: 'h' } }],
      [`/tool-results`, { body: { invocationId: form.invocationId, value: 1 } }],
      [`/calls/${waiting.invocationId}/cancellation`, { body: {} }],
      [`/tools/page`, { method: 'PUT', body: { tools: [] } }],
      [`/artifacts/${handle}`, {}],
    ] as const) {
      const refused = await send(`${url}${path}`, { as, ...sent })
      expect([path, refused.status, refused.data.error.code]).toEqual([path, 403, 'E_FORBIDDEN'])
    }
    expect([(await send(`${url}/calls`, { as })).status, ran]).toEqual([200, []])
  })

  test('another session’s call, lease, result and artifact in the words for what does not exist', async () => {
    const { executor, url, ran } = await httpApi({ use: [memoryJournal()] })
    const waiting = await executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    const form = await executor.execute({ name: 'form', args: {} }, { session: 'ada' })
    const over = await executor.execute({ name: 'log' }, { session: 'ada' })
    const paths = (call: string, client: string, handle: string) =>
      [
        [`/calls/${call}`, {}],
        [`/calls/${call}/decision`, { body: { decision: 'allow' } }],
        [`/calls/${client}/lease`, { body: { holder: 'h' } }],
        [`/calls/${call}/cancellation`, { body: {} }],
        [`/tool-results`, { body: { invocationId: client, value: { email: 'x' } } }],
        [`/artifacts/${handle}`, {}],
      ] as const
    const theirs = paths(waiting.invocationId, form.invocationId, over.handle ?? '')
    const none = paths('none', 'none', 'none')
    for (const [index, [path, sent]] of theirs.entries()) {
      const refused = await send(`${url}${path}`, { as: 'bob', ...sent })
      const absent = await send(`${url}${none[index]![0]}`, { as: 'bob', ...none[index]![1] })
      expect([path, refused.status]).toEqual([path, 404])
      const withoutNames = (words: string): string => words.replaceAll(/"[^"]*"|art_\w+|none/g, '…')
      expect(withoutNames(refused.data.error.message)).toBe(withoutNames(absent.data.error.message))
    }
    expect(ran).toEqual([])
    const stream = await read(url, 'bob')
    await executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    await executor.execute({ name: 'echo', args: { text: 'his' } }, { session: 'bob' })
    await expect.poll(() => stream.frames.length, waitFor).toBeGreaterThan(5)
    expect(stream.frames.flatMap(({ name, data }) => (name === 'event' ? [data.session] : []))).not.toContain('ada')
  })

  test('10,000 streams, of one session and of all', async () => {
    const { clients } = await httpApi({ limits: { streams: 32, allStreams: 40 } })
    const statuses = new Map<number, number>()
    for (let index = 0; index < 10_000; index++) {
      const as = index % 2 === 0 ? 'ada' : 'bob'
      const request = new Request('http://localhost/events', { headers: { authorization: `Bearer ${as}` } })
      const { status, headers } = await clients.fetch(request)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status !== 200) expect(headers.get('retry-after')).toBe('5')
    }
    expect(Object.fromEntries(statuses)).toEqual({ 200: 40, 503: 9_960 })
  })

  test('to be made without a way to know its users', () => {
    const executor = createExecutor()
    for (const options of [{ executor }, { executor, token: '' }, { executor, token: 'a b' }, {}, null]) {
      expect(() => httpClients(options as never)).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
    }
  })
})

describe('what goes out', () => {
  test('has no token of the kernel, and secrets in a lease alone', async () => {
    const { executor, url } = await httpApi({ use: [memoryJournal()] })
    const stream = await read(url)
    const canary = 'canary-4711'
    const asked = await executor.execute({ name: 'deploy', args: { to: 'x', key: canary } }, { session: 'ada' })
    const form = await executor.execute({ name: 'form', args: { pin: canary } }, { session: 'ada' })
    const all: string[] = []
    const get = async (path: string, body?: object): Promise<string> => {
      const text = await (
        await send(`${url}${path}`, body === undefined ? {} : { body, headers: { prefer: 'wait=20' } })
      ).text()
      all.push(text)
      return text
    }
    await get('/calls')
    for (const { invocationId } of [asked, form]) await get(`/calls/${invocationId}`)
    const lease = await send(`${url}/calls/${form.invocationId}/lease`, { body: { holder: 'page' } })
    expect(lease.data.args).toEqual({ pin: canary })
    const approval = await send(`${url}/calls/${asked.invocationId}/lease`, { body: { holder: 'page' } })
    expect(approval.data.args).toEqual({ to: 'x', key: '[secret]' })
    await get(`/calls/${asked.invocationId}/decision`, { decision: 'allow', holder: 'page' })
    await get('/tool-results', { invocationId: form.invocationId, holder: 'page', value: { email: 'a' } })
    await expect.poll(() => stream.text().split('call:settled').length, waitFor).toBeGreaterThan(2)
    const transcript = [...all, stream.text()].join('')
    expect(transcript).toContain('deployed to x')
    for (const secret of [canary, asked.token!, form.token!, asked.token!.split('.')[1]!, form.token!.split('.')[1]!]) {
      expect(transcript).not.toContain(secret)
    }
  })

  test('is never cached, and no artifact is shown as a page', async () => {
    const page = tool('page', () => '<script>document.title = "run"</script>'.repeat(2_000))
    const { executor, url } = await httpApi({ extra: [page] })
    const { handle } = await executor.execute({ name: 'page' }, { session: 'ada' })
    for (const path of ['/calls', '/calls/none', `/artifacts/${handle}`, '/events']) {
      const { headers, body } = await fetch(`${url}${path}`, { headers: ada })
      expect(headers.get('cache-control')).toMatch(/^no-store/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      await body?.cancel()
    }
    const { headers } = await send(`${url}/artifacts/${handle}`)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': 'attachment',
      'content-security-policy': "sandbox; default-src 'none'",
    })
  })

  test('is read by pages of the sites that the application names, and by no others', async () => {
    const { url } = await httpApi({ origins: ['app.test'] })
    const origin = 'https://app.test'
    const answer = await send(`${url}/calls`, { headers: { origin } })
    expect([answer.headers.get('access-control-allow-origin'), answer.headers.get('vary')]).toEqual([origin, 'Origin'])
    const preflight = await fetch(`${url}/tools/x`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin])
    const other = await send(`${url}/calls`, { headers: { origin: 'https://evil.test' } })
    expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([403, null])
    const { url: plain } = await httpApi()
    const own = await send(`${plain}/calls`, { headers: { origin: 'http://localhost:1' } })
    expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([200, null])
  })

  test('is cut: a long content, pictures by their sizes, and long args of a call that is over', async () => {
    const { executor, url } = await httpApi({ use: [memoryJournal()] })
    const text = 'x'.repeat(100_000)
    const { invocationId } = await executor.execute({ name: 'echo', args: { text } }, { session: 'ada' })
    const { data } = await send(`${url}/calls/${invocationId}`)
    expect(data.args).toBeUndefined()
    expect(data.argsPreview?.length).toBeLessThan(300)
    expect(JSON.stringify(data).length).toBeLessThan(20_000)
    expect(data.artifact).toMatchObject({ kind: 'text', byteLength: 100_000, handle: expect.any(String) })
  })
})

test('a question whose meta JSON cannot hold is refused, and the list of those that wait stays whole', async () => {
  const cycle: Record<string, unknown> = {}
  cycle['itself'] = { cycle }
  const metas = [{ risk: 1 }, { cents: 1n }, cycle, { show: () => 'x' }]
  const decide = ({ args }: { readonly args: unknown }) => {
    const { to } = args as { readonly to: string }
    return { decision: 'ask', meta: metas[Number(to)] as Record<string, unknown> } as const
  }
  const { executor, url } = await httpApi({ use: [memoryJournal(), { policies: [{ name: 'careful', decide }] }] })
  const stream = await read(url)
  const asked = metas.map((_, to) => executor.execute({ name: 'deploy', args: { to: String(to) } }, { session: 'ada' }))
  const results = await Promise.all(asked)
  expect(results.map(({ status }) => status)).toEqual(['waiting', 'denied', 'denied', 'denied'])
  const { calls } = (await send(`${url}/calls`)).data
  expect(calls.flatMap(({ waiting }) => waiting?.meta ?? [])).toEqual([{ risk: 1 }])
  expect(calls.flatMap(({ error }) => error?.message ?? [])).toEqual(
    Array.from({ length: 3 }, () =>
      expect.stringMatching(/^Policy careful could not decide: JSON cannot hold `meta\./),
    ),
  )
  await expect.poll(() => seenIn(stream).size, waitFor).toBe(4)
  const path = `${url}/calls/${results[0]!.invocationId}/decision`
  const answer = await send(path, { body: { decision: 'allow' }, headers: { prefer: 'wait=20' } })
  expect(answer.data.result?.status).toBe('ok')
})

describe('a tool that changed while a page waited', () => {
  test('does not run, and the page is told so', async () => {
    const made = (description: string) =>
      tool({ name: 'pay', description, requiresConfirmation: true, handler: () => 'paid' })
    const registry = new ToolRegistry([made('Pays a little')])
    const other = createExecutor({ tools: registry, use: [memoryJournal()] })
    const clients = httpClients({ executor: other, authorize: () => ({ session: 'ada' }) })
    const asked = await other.execute({ name: 'pay' }, { session: 'ada' })
    registry.add(made('Pays everything'), { onCollision: 'replace' })
    const decision = new Request(`http://localhost/calls/${asked.invocationId}/decision`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"decision":"allow"}',
    })
    const refused = await clients.fetch(decision)
    expect([refused.status, ((await refused.json()) as { error: { message: string } }).error.message]).toEqual([
      409,
      expect.stringMatching(/changed/),
    ])
    expect(await other.calls.waiting()).toHaveLength(1)
    await clients.close()
  })
})

describe('tools of pages', () => {
  test('are declared if the application lets them, called, and answered', async () => {
    const pages = pageTools()
    const { executor, url } = await httpApi({ use: [pages], pageTools: pages })
    const tools = [{ name: 'read_selection', description: 'Reads what is selected' }]
    const declared = await send(`${url}/tools/page-1`, { method: 'PUT', body: { tools } })
    expect(declared.status).toBe(200)
    const waiting = await executor.execute({ name: 'read_selection' }, { session: 'ada' })
    const settled = executor.calls.settled(waiting)
    await send(`${url}/tool-results`, { body: { invocationId: waiting.invocationId, value: 'this' } })
    expect((await settled).content).toEqual([{ type: 'text', text: 'this' }])
    for (const body of [{ tools: [{}] }, { tools: 'all' }, { tools: [null] }, {}]) {
      expect((await send(`${url}/tools/page-1`, { method: 'PUT', body })).status).toBe(400)
    }
    expect(executor.tools('model', 'bob').map(({ name }) => name)).not.toContain('read_selection')
  })

  test('are refused if the application does not let them', async () => {
    const { url } = await httpApi()
    expect((await send(`${url}/tools/page-1`, { method: 'PUT', body: { tools: [] } })).status).toBe(403)
  })
})
