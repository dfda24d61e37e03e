// What goes wrong on the side of an application: its listeners throw, its address is wrong, its server says nonsense or starts anew.
import { createExecutor, tool, type ToolExecutor } from 'toolwright'
import { connect, type ConnectOptions } from 'toolwright/client/browser'
import { httpClients } from 'toolwright/client/http'
import { protocolVersion, type ToolClient } from 'toolwright/client/protocol'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'

afterEach(() => void vi.useRealTimers())

const ask = tool({ name: 'ask', description: 'Asks first', requiresConfirmation: true, handler: () => 'done' })
const now = tool('now', () => '12:00')
const waitFor = { timeout: 20_000 }

/** A server that can be started anew, without a journal. It starts with the first request. */
function server(heartbeat = 15_000): {
  readonly fetch: typeof fetch
  readonly executor: () => ToolExecutor
  readonly restart: () => void
} {
  const start = () => {
    const executor = createExecutor({ tools: [ask, now] })
    return { executor, clients: httpClients({ executor, token: 'x', heartbeat }) }
  }
  let running = start()
  onTestFinished(() => running.clients.close())
  return {
    fetch: (address, init) => running.clients.fetch(new Request(address, init)),
    executor: () => running.executor,
    restart() {
      void running.clients.close()
      running = start()
    },
  }
}

function opened(options: ConnectOptions): ToolClient {
  const client = connect('http://localhost', { headers: { authorization: 'Bearer x' }, share: false, ...options })
  onTestFinished(() => client.close())
  return client
}

/** A server whose list is empty, and whose streams begin with some text and then go on without an end. */
function streaming(text: string): {
  readonly fetch: typeof fetch
  readonly asked: () => number
  readonly open: Set<number>
} {
  const open = new Set<number>()
  let count = 0
  const hello = { protocol: protocolVersion, now: 0, heartbeat: 15_000, session: 'x', may: [], tools: [] }
  const answer: typeof fetch = async (address) => {
    if (!new URL(address as string).pathname.endsWith('/events')) return Response.json({ calls: [], hello, at: 'x-0' })
    const number = ++count
    open.add(number)
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
      cancel: () => void open.delete(number),
    })
    return new Response(body)
  }
  return { fetch: answer, asked: () => count, open }
}

test('a listener that throws is reported, and the stream and the other listeners go on', async () => {
  const { fetch, executor } = server()
  const reports: unknown[] = []
  const client = opened({ fetch, report: (error) => reports.push(error) })
  const fault = new Error('a fault of the application')
  client.subscribe(() => {
    throw fault
  })
  const eventNames: (string | undefined)[] = []
  client.subscribe((event) => eventNames.push(event?.event))
  await vi.waitFor(() => expect(client.state).toBe('open'), waitFor)
  await executor().execute({ name: 'now' })
  await vi.waitFor(() => expect(eventNames).toContain('call:settled'), waitFor)
  expect(client.state).toBe('open')
  expect(client.calls()).toMatchObject([{ toolName: 'now', status: 'ok' }])
  expect(reports).toHaveLength(eventNames.length)
  expect(new Set(reports)).toEqual(new Set([fault]))
})

test('a call that a server which was started anew does not know is forgotten, if it is not over', async () => {
  const { fetch, executor, restart } = server()
  const client = opened({ fetch })
  await vi.waitFor(() => expect(client.state).toBe('open'), waitFor)
  await executor().execute({ name: 'now' })
  await executor().execute({ name: 'ask' })
  await vi.waitFor(
    () =>
      expect(
        client
          .calls()
          .map(({ toolName }) => toolName)
          .toSorted(),
      ).toEqual(['ask', 'now']),
    waitFor,
  )
  await vi.waitFor(() => expect(client.calls().some(({ waiting }) => waiting !== undefined)).toBe(true), waitFor)
  restart()
  await vi.waitFor(() => expect(client.calls()).toMatchObject([{ toolName: 'now', status: 'ok' }]), waitFor)
  expect(client.calls()).toHaveLength(1)
})

test('a page that shares a stream learns of a call that begins while its list is on the way', async () => {
  const { fetch, executor } = server(600_000) // a heartbeat tells of what was missed, too
  const first = opened({ fetch, share: true })
  await vi.waitFor(() => expect(first.state).toBe('open'), waitFor)
  let isDelayed = true
  const second = opened({
    share: true,
    async fetch(...parameters) {
      const response = await fetch(...parameters)
      if (isDelayed) {
        isDelayed = false
        await executor().execute({ name: 'ask' })
        await vi.waitFor(() => expect(first.calls()[0]?.waiting).toBeDefined(), waitFor)
        await new Promise((resolve) => setTimeout(resolve, 100)) // the first page has told the others by then
      }
      return response
    },
  })
  await vi.waitFor(() => expect(second.calls().some(({ waiting }) => waiting !== undefined)).toBe(true), waitFor)
})

describe('an address where there is no HTTP API', () => {
  test.each([
    ['answers 404', () => new Response('Cannot GET /calls', { status: 404 })],
    [
      'answers 404 as the HTTP API does elsewhere',
      () => Response.json({ error: { code: 'E_NOT_FOUND', message: '' } }, { status: 404 }),
    ],
    ['has a page', () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })],
    ['has other JSON', () => Response.json(null)],
  ])('is reported once, if it %s', async (_, answer) => {
    vi.useFakeTimers()
    const reports: Error[] = []
    let asked = 0
    const client = opened({ fetch: async () => (asked++, answer()), report: (error) => reports.push(error as Error) })
    await vi.advanceTimersByTimeAsync(20_000)
    expect(asked).toBeGreaterThan(3)
    expect(client.state).toBe('connecting')
    expect(reports.map(({ message }) => message)).toEqual([
      'No calls can be read at http://localhost. Mount httpClients there, with `base`.',
    ])
    expect(reports[0]?.cause).toBeInstanceOf(Error)
  })

  test.each([
    ['cannot be reached', () => Promise.reject(new TypeError('fetch failed'))],
    ['fails', () => new Response('', { status: 502 })],
    ['is asked too often', () => new Response('', { status: 429 })],
    ['refuses the page', () => new Response('', { status: 401 })],
  ])('is not what a server says that %s', async (_, answer) => {
    vi.useFakeTimers()
    const reports: unknown[] = []
    opened({ fetch: async () => answer(), report: (error) => reports.push(error) })
    await vi.advanceTimersByTimeAsync(20_000)
    expect(reports).toEqual([])
  })
})

test('headers that throw are reported, and what needs them is rejected with what was thrown', async () => {
  const fault = new Error('the session of the user has ended')
  const reported = Promise.withResolvers<unknown>()
  const client = opened({
    fetch: server().fetch,
    headers: () => {
      throw fault
    },
    report: reported.resolve,
  })
  expect(await reported.promise).toMatchObject({ cause: fault })
  await expect(client.cancel('x')).rejects.toBe(fault)
})

describe('an answer of a client tool that is no JSON', () => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  test.each([
    ['a circle', circle],
    ['a bigint', { count: 1n }],
    ['a function', () => 1],
  ])('is told to the model, as %s is', async (_, value) => {
    const look = tool({ name: 'look', description: 'Looks', type: 'client', requiresResponse: true })
    const executor = createExecutor({ tools: [look] })
    const clients = httpClients({ executor, token: 'x' })
    onTestFinished(() => clients.close())
    const client = opened({ fetch: (address, init) => clients.fetch(new Request(address, init)) })
    let count = 0
    client.tool('look', () => (count++, value))
    const { status, error } = await executor.calls.settled(await executor.execute({ name: 'look' }))
    expect([status, error?.message, count]).toEqual(['error', expect.stringMatching(/circular|BigInt|value/), 1])
  })

  test('is not sent for a form, which learns why', async () => {
    const client = opened({ fetch: server().fetch })
    await expect(client.respond('x', circle)).rejects.toThrow(/circular/)
  })
})

describe('a stream', () => {
  const hello = JSON.stringify({ protocol: 3, now: 0, heartbeat: 15_000, session: 'x', may: [], tools: [] })

  test('of another version is ended', async () => {
    const { fetch, open, asked } = streaming(`event: hello\ndata: ${hello}\n\n`)
    const client = opened({ fetch })
    await vi.waitFor(() => expect(client.state).toBe('refused'), waitFor)
    await vi.waitFor(() => expect([asked(), open.size]).toEqual([1, 0]), waitFor)
  })

  test.each([
    ['is no JSON', 'event: hello\ndata: {"protocol\n\n'],
    ['is not what its name says', 'event: calls\ndata: {}\n\n'],
    ['is nothing', 'event: call\ndata: null\n\n'],
  ])('with a frame that %s is ended, and asked for again at growing intervals', async (_, text) => {
    vi.useFakeTimers()
    const { fetch, open, asked } = streaming(text)
    const client = opened({ fetch })
    await vi.advanceTimersByTimeAsync(30_000)
    // 250 ms, twice as long each time up to 10 s, and up to a quarter more.
    expect(asked()).toBeGreaterThan(4)
    expect(asked()).toBeLessThan(10)
    expect(open.size).toBe(0)
    client.close()
  })
})
