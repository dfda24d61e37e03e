import { PassThrough } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createExecutor, tool } from 'toolwright'
import { mcpServer } from 'toolwright/mcp/server'
import { describe, expect, test } from 'vitest'
import { ended, program, start, toolwright } from '../cli/_command.ts'
import { closing } from './_server.ts'

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
const module = new URL('modules/chatty.ts', import.meta.url).pathname

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: unknown
  readonly error?: unknown
}

/** A client that writes lines, and reads them. */
interface Lines {
  readonly say: (message: object | string) => void
  readonly next: () => Promise<Message>
}

function linesOf(stdin: NodeJS.WritableStream, stdout: NodeJS.ReadableStream): Lines {
  const waiting: ((message: Message) => void)[] = []
  const read: Message[] = []
  let rest = ''
  stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const message = JSON.parse(line) as Message
      const resolve = waiting.shift()
      if (resolve === undefined) read.push(message)
      else resolve(message)
    }
  })
  return {
    say: (message) => void stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    next: () => {
      const message = read.shift()
      return message === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(message)
    },
  }
}

async function served(
  options: { readonly messageLimit?: number } = {},
  said: unknown[] = [],
): Promise<Lines & { stdin: PassThrough; closed: Promise<void>; end: () => void }> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const echo = tool('echo', ({ text }: { text?: unknown }) => {
    said.push(text)
    return String(text)
  })
  const executor = createExecutor({ tools: [echo] })
  closing(() => executor.close())
  const { closed, close } = await mcpServer({ executor, ...options }).stdio({ stdin, stdout })
  closing(close)
  return { ...linesOf(stdin, stdout), stdin, closed, end: () => void stdin.end() }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Bytes that buffers hold which are still in use. */
async function arrayBuffers(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let turn = 0; turn < 3; turn++) {
    await turns(2)
    collect()
  }
  return process.memoryUsage().arrayBuffers
}

describe('over stdio', () => {
  test('what is no message is passed over, and the next one is answered', async () => {
    const { say, next } = await served()
    say('this is no JSON')
    say('{"neither": "is this"}')
    say('')
    say(initialize)
    expect(await next()).toMatchObject({ id: 0, result: { protocolVersion: '2025-11-25' } })
    say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'ü' } } })
    expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: 'ü' }] } })
  })

  test('the connection ends with the stream of the client', async () => {
    const { say, next, end, closed } = await served()
    say(initialize)
    await next()
    end()
    await closed
  })

  test('a message that is too large ends the connection, and neither it nor what comes after it runs', async () => {
    const said: unknown[] = []
    const { say, next, closed } = await served({ messageLimit: 10_000 }, said)
    say(initialize)
    await next()
    const call = (id: number, text: string): object => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'echo', arguments: { text } },
    })
    say(call(1, 'short'))
    expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: 'short' }] } })
    say(call(2, 'x'.repeat(20_000)))
    await closed
    say(call(3, 'after'))
    await turns(10)
    expect(said).toEqual(['short'])
  })

  test('a message that is too large is not kept', async () => {
    const limit = 64 * 1_048_576
    const before = await arrayBuffers()
    const server = await served({ messageLimit: limit })
    const piece = Buffer.alloc(1_048_576, 'x')
    for (let sent = 0; sent <= limit; sent += piece.length) server.stdin.write(Buffer.from(piece))
    await server.closed
    expect((await arrayBuffers()) - before).toBeLessThan(limit / 4)
    expect(server.stdin.listenerCount('data')).toBe(0) // the connection is held until here, and reads no more
  })
})

describe('toolwright mcp', () => {
  test('writes nothing but the protocol on stdout, whatever the tools write', async () => {
    const child = start([...program, 'mcp', module])
    const end = ended(child)
    const { say, next } = linesOf(child.stdin, child.stdout)
    say(initialize)
    expect(await next()).toMatchObject({ id: 0, result: { serverInfo: { name: 'toolwright' } } })
    say({ jsonrpc: '2.0', method: 'notifications/initialized' })
    say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'talk' } })
    expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: 'said' }] } })
    child.stdin.end()
    const { code, stdout, stderr } = await end
    expect(code).toBe(0)
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual([0, 1])
    expect(stderr).toContain('talks while it loads')
    expect(stderr).toContain('talks while it runs')
    expect(stderr).toContain('and writes')
  }, 30_000)

  test('gives up the calls of a client that is gone, and ends', async () => {
    const child = start([...program, 'mcp', module])
    const end = ended(child)
    const { say, next } = linesOf(child.stdin, child.stdout)
    say(initialize)
    await next()
    say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } })
    say({ jsonrpc: '2.0', id: 2, method: 'ping' })
    await next()
    child.stdin.end()
    const { code, stderr } = await end
    expect(code).toBe(0)
    expect(stderr).toContain('the call was given up')
  }, 30_000)

  test('wants the token over HTTP that is in the environment, and ends when it is told to', async () => {
    const child = start([...program, 'mcp', module, '--http', '0'], { TOOLWRIGHT_MCP_TOKEN: 'secret' })
    const end = ended(child)
    const url = await new Promise<string>((resolve) =>
      child.stdout.once('data', (text) => resolve(String(text).trim())),
    )
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    const ask = (headers: Record<string, string>): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify(initialize),
      })
    expect((await ask({})).status).toBe(401)
    const admitted = await ask({ authorization: 'Bearer secret' })
    expect(admitted.status).toBe(200)
    expect(await admitted.text()).toContain('"toolwright"')
    child.kill('SIGTERM')
    const { code, stdout } = await end
    expect(code).toBe(143)
    expect(stdout).toBe(`${url}\n`)
  }, 30_000)

  test.each([
    ['a port that is none', ['--http', 'x'], /--http takes a whole number/],
    ['a port that is too high', ['--http', '65536'], /at most 65535/],
    ['an option that it has not', ['--fail-on-error'], /fail-on-error/],
  ])(
    'refuses %s',
    async (_, words, what) => {
      const { code, stdout, stderr } = await toolwright(['mcp', module, ...words])
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(what)
    },
    30_000,
  )
})
