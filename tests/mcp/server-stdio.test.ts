import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createExecutor, tool } from 'toolwright'
import { mcpServer } from 'toolwright/mcp/server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ended, program, start, toolwright } from '../cli/_command.ts'
import { closing } from './_server.ts'

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
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

interface Served extends Lines {
  readonly stdin: PassThrough
  readonly stdout: PassThrough
  readonly closed: Promise<void>
  readonly close: () => Promise<void>
  readonly end: () => void
  /** Resolves when the tool `wait` runs, which ends with what `release` gives. */
  readonly begun: Promise<void>
  readonly release: (text: string) => void
}

async function served(
  { endTimeout, ...options }: { readonly messageLimit?: number; readonly endTimeout?: number } = {},
  said: unknown[] = [],
): Promise<Served> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const echo = tool('echo', ({ text }: { text?: unknown }) => {
    said.push(text)
    return String(text)
  })
  const { promise: released, resolve: release } = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<void>()
  const wait = tool('wait', (_, { signal }) => {
    begun.resolve()
    signal.addEventListener('abort', () => said.push('given up'))
    return released
  })
  const executor = createExecutor({ tools: [echo, wait] })
  closing(() => executor.close())
  const { closed, close } = await mcpServer({ executor, ...options }).stdio({
    stdin,
    stdout,
    ...(endTimeout !== undefined && { endTimeout }),
  })
  closing(close)
  const end = (): void => void stdin.end()
  return { ...linesOf(stdin, stdout), stdin, stdout, closed, close, end, begun: begun.promise, release }
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

  test('a client that has closed its end still gets the answers to what it asked before', async () => {
    const { say, next, begun, end, release, closed } = await served({ endTimeout: 60_000 })
    say(initialize)
    await next()
    say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } })
    await begun
    say({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'last' } } })
    end()
    expect(await next()).toMatchObject({ id: 2, result: { content: [{ text: 'last' }] } })
    release('late')
    expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: 'late' }] } })
    await closed
  })

  test('a call that goes on for too long after that is cancelled, and answered so', async () => {
    const said: unknown[] = []
    const { say, next, begun, end, closed } = await served({ endTimeout: 0 }, said)
    say(initialize)
    await next()
    say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } })
    await begun
    end()
    const { id, result } = await next()
    expect(id).toBe(1)
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/cancelled/) }] })
    await closed
    expect(said).toEqual(['given up'])
  })

  test('what the client cancelled, and a server that is closed, wait for no answer', async () => {
    const cancelled = await served({ endTimeout: 60_000 })
    cancelled.say(initialize)
    await cancelled.next()
    cancelled.say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } })
    await cancelled.begun
    cancelled.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    cancelled.end()
    await cancelled.closed

    const left = await served({ endTimeout: 60_000 })
    left.say(initialize)
    await left.next()
    left.say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } })
    await left.begun
    left.end()
    await turns(3)
    await left.close()
    await left.closed
  })

  test('a client whose two streams are gone gets no answer', async () => {
    const said: unknown[] = []
    const { say, next, begun, end, stdin, stdout, closed } = await served({ endTimeout: 60_000 }, said)
    say(initialize)
    await next()
    say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } })
    await begun
    end()
    stdout.destroy(new Error('the client is gone'))
    await closed
    expect(said).toEqual(['given up'])
    expect(stdin.listenerCount('data')).toBe(0)
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
    expect(await next()).toMatchObject({ id: 0, result: { serverInfo: { name: 'toolwright', version } } })
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

  test('answers what was piped into it, and ends', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'talk' } }
    const lines = [initialize, { jsonrpc: '2.0', method: 'notifications/initialized' }, call]
    const { code, stdout } = await toolwright(
      ['mcp', module],
      lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    )
    expect(code).toBe(0)
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toMatchObject([{ id: 0 }, { id: 1, result: { content: [{ text: 'said' }] } }])
  }, 30_000)

  test('tells the version of the package that has the tools', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-mcp-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const source = `export { talk } from ${JSON.stringify(pathToFileURL(module).href)}\n`
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'src/tools.ts'), source)
    const versionOf = async (...words: readonly string[]): Promise<unknown> => {
      const { stdout } = await toolwright(['mcp', ...words], `${JSON.stringify(initialize)}\n`)
      return (JSON.parse(stdout) as { result: { serverInfo: { version: unknown } } }).result.serverInfo.version
    }
    writeFileSync(join(folder, 'src/package.json'), '{"type":"module"}')
    expect(await versionOf(join(folder, 'src/tools.ts'))).toBe('0.0.0')
    writeFileSync(join(folder, 'package.json'), '{"version":"7.8.9"}')
    expect(await versionOf(join(folder, 'src/tools.ts'))).toBe('7.8.9')
    expect(await versionOf('--workspace', folder)).toBe(version)
  }, 30_000)

  test('gives up the calls of a client that is gone, and ends, once it is told to', async () => {
    const child = start([...program, 'mcp', module])
    const end = ended(child)
    const { say, next } = linesOf(child.stdin, child.stdout)
    say(initialize)
    await next()
    say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } })
    say({ jsonrpc: '2.0', id: 2, method: 'ping' })
    await next()
    child.stdin.end()
    child.kill('SIGTERM')
    const { code, stderr } = await end
    expect(code).toBe(143)
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
