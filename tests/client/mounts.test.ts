import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor, tool } from 'toolwright'
import { httpClients, type HttpClients } from 'toolwright/client/http'
import { listen, nodeListener, type ListenOptions } from 'toolwright/client/node'
import { pageTools } from 'toolwright/client/page-tools'
import { describe, expect, onTestFinished, test } from 'vitest'
import { missing } from './_installed.ts'
import { read, send, userOf } from './_http-api.ts'

if (missing !== undefined) console.warn(`The HTTP API is not mounted in Hono and Express: ${missing}`)

const waitFor = { timeout: 20_000 }

/** Each opens a server that has a handler at /api/tools, and returns where it is. */
const mounts: Readonly<Record<string, (fetch: HttpClients['fetch']) => Promise<string>>> = {
  async Hono(fetch) {
    const [{ Hono }, { serve }] = await Promise.all([import('hono'), import('@hono/node-server')])
    const app = new Hono()
    app.all('/api/tools/*', (context) => fetch(context.req.raw))
    return new Promise((resolve) => {
      const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
        resolve(`http://127.0.0.1:${port}/api/tools`),
      )
      onTestFinished(() => void server.close())
    })
  },
  async Express(fetch) {
    const { default: express } = await import('express')
    const app = express()
    app.use('/api/tools', nodeListener(fetch))
    return new Promise((resolve) => {
      const server = app.listen(0, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/tools`),
      )
      onTestFinished(() => void server.close())
    })
  },
  async 'a server of node:http'(fetch) {
    const server = createServer(nodeListener(fetch))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/tools`
  },
  async listen(fetch) {
    const { url, close } = await listen(fetch)
    onTestFinished(close)
    return `${url}/api/tools`
  },
}

test('a body that a parser has read before is told to the application, and is no fault of the page', async () => {
  const reports: unknown[] = []
  const { fetch } = httpClients({ executor: createExecutor(), authorize: () => ({ session: 'ada' }) })
  const serve = nodeListener(fetch, { report: (error) => reports.push(error) })
  const server = createServer((incoming, outgoing) => {
    incoming.resume().once('end', () => serve(incoming, outgoing)) // as `express.json()` does
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/calls`
  const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  expect((await globalThis.fetch(`${url}/x/decision`, json)).status).toBe(500)
  expect((await globalThis.fetch(url)).status).toBe(200)
  expect(reports.map(String)).toEqual([
    'InvalidConfigurationError: The body of this request was read before `nodeListener` had it. Mount it before `express.json()` and the like.',
  ])
})

describe.each(Object.keys(mounts))('the HTTP API in %s', (name) => {
  const isOurs = name === 'listen' || name.startsWith('a server')
  test.skipIf(!isOurs && missing !== undefined)(
    'streams, takes a decision, and frees a stream that is left',
    async () => {
      const deploy = tool({
        name: 'deploy',
        description: 'Deploys',
        requiresConfirmation: true,
        handler: () => 'deployed',
      })
      const executor = createExecutor({ tools: [deploy] })
      const { fetch: GET, close } = httpClients({
        executor,
        authorize: userOf,
        base: '/api/tools',
        limits: { streams: 1 },
      })
      onTestFinished(close)
      const url = await mounts[name]!(GET)
      const stream = await read(url)
      const { invocationId } = await executor.execute({ name: 'deploy' }, { session: 'ada' })
      await expect
        .poll(() => stream.frames.map(({ name: frame }) => frame).filter((frame) => frame !== 'call'), waitFor)
        .toEqual(['hello', 'calls', 'event', 'event'])
      const answer = await send(`${url}/calls/${invocationId}/decision`, {
        body: { decision: 'allow' },
        headers: { prefer: 'wait=20' },
      })
      expect([answer.status, answer.data.result?.status]).toEqual([200, 'ok'])
      await expect.poll(() => stream.frames.length, waitFor).toBeGreaterThan(8)
      expect((await read(url)).status).toBe(429)
      stream.close()
      await expect.poll(async () => (await read(url)).status, { ...waitFor, interval: 100 }).toBe(200)
      expect((await send(url.replace('/api/tools', '/calls'))).status).toBe(404)
    },
  )
})

describe('the HTTP API in a route file of Next.js', () => {
  // Next.js calls the export of the method with a Request, whose address is the public one, and a promise of the params.
  test('streams, takes a decision, and refuses what it has no route for, by Request and Response alone', async () => {
    const deploy = tool({
      name: 'deploy',
      description: 'Deploys',
      requiresConfirmation: true,
      handler: () => 'deployed',
    })
    const pages = pageTools()
    const executor = createExecutor({ tools: [deploy], use: [pages] })
    const clients = httpClients({ executor, authorize: userOf, base: '/api/tools', pageTools: pages })
    onTestFinished(() => clients.close())
    const { fetch: GET, fetch: POST, fetch: PUT, fetch: OPTIONS } = clients
    type Handler = (
      request: Request,
      context: { readonly params: Promise<{ readonly path: string[] }> },
    ) => Promise<Response>
    const route: Readonly<Record<string, Handler>> = { GET, POST, PUT, OPTIONS }
    const ask = async (method: string, path: string, body?: object, signal?: AbortSignal): Promise<Response> => {
      const headers = {
        authorization: 'Bearer ada',
        ...(body && { 'content-type': 'application/json', prefer: 'wait=20' }),
      }
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }), ...(signal && { signal }) }
      const request = new Request(`http://localhost:3000/api/tools/${path}`, init)
      return route[method]!(request, { params: Promise.resolve({ path: path.split('/') }) })
    }
    const leaving = new AbortController()
    const stream = await ask('GET', 'events', undefined, leaving.signal)
    const [type, caching] = ['content-type', 'cache-control'].map((name) => stream.headers.get(name))
    expect([stream.status, type, caching]).toEqual([200, 'text/event-stream', 'no-store, no-transform'])
    const { invocationId } = await executor.execute({ name: 'deploy' }, { session: 'ada' })
    const answer = await ask('POST', `calls/${invocationId}/decision`, { decision: 'allow' })
    expect([answer.status, await answer.json()]).toMatchObject([200, { state: 'COMPLETED', result: { status: 'ok' } }])
    const tools = [{ name: 'read_selection', description: 'Reads what is selected' }]
    expect((await ask('PUT', 'tools/page-1', { tools })).status).toBe(200)
    expect((await ask('PUT', 'calls', {})).status).toBe(405)
    expect((await ask('OPTIONS', 'calls')).status).toBe(405) // without `origins` there is no preflight
    expect((await ask('GET', 'nothing')).status).toBe(404)
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
    for (let text = ''; !text.includes('call:settled');) text += (await reader.read()).value ?? ''
    leaving.abort() // the reader has left
    for (let isOver = false; !isOver;) isOver = (await reader.read()).done
  })
})

describe('listen', () => {
  test('serves the files of a folder beside the handler, and no other file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-files-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const dist = join(folder, 'dist')
    mkdirSync(join(dist, 'assets'), { recursive: true })
    writeFileSync(join(folder, 'secret.txt'), 'canary')
    writeFileSync(join(dist, 'index.html'), '<p>the page')
    writeFileSync(join(dist, 'assets', 'page ü.js'), 'page()')
    writeFileSync(join(dist, 'data.bin'), 'bytes')
    writeFileSync(join(dist, '.env'), 'canary')
    symlinkSync(join(folder, 'secret.txt'), join(dist, 'link.txt'))
    const handler = ({ method, url }: Request): Response => new Response(`${method} ${new URL(url).pathname}`)
    const { url, close } = await listen(handler, { files: dist })
    onTestFinished(close)
    const answer = async (path: string, method = 'GET'): Promise<readonly [string | null, string]> => {
      const response = await fetch(`${url}${path}`, { method })
      return [response.headers.get('content-type'), await response.text()]
    }
    expect(await answer('/?x=1')).toEqual(['text/html; charset=utf-8', '<p>the page'])
    expect(await answer('/assets/page%20%C3%BC.js')).toEqual(['text/javascript; charset=utf-8', 'page()'])
    expect(await answer('/data.bin')).toEqual(['application/octet-stream', 'bytes'])
    expect((await fetch(url)).headers.get('x-content-type-options')).toBe('nosniff')
    expect((await answer('/', 'HEAD'))[1]).toBe('')
    expect((await answer('/', 'POST'))[1]).toBe('POST /')
    const elsewhere = [
      '/.env',
      '/link.txt',
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '/assets/..%5c..%5csecret.txt',
      '/assets',
      '/%ff',
    ]
    for (const path of [...elsewhere, '//secret.txt', '/constructor', '/index.html%00']) {
      expect((await answer(path))[1]).toMatch(/^GET \//)
    }
    await expect(listen(handler, { files: join(folder, 'none') })).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('answers what is no request, and a handler that throws, and goes on', async () => {
    const reports: unknown[] = []
    const { url, close } = await listen(
      (request) => {
        if (request.url.endsWith('/throws')) throw new Error('broken')
        return new Response(request.headers.get('host'), {
          headers: [
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
          ],
        })
      },
      { report: (error) => reports.push(error) },
    )
    onTestFinished(close)
    expect((await fetch(`${url}/throws`)).status).toBe(500)
    const response = await fetch(url)
    expect([await response.text(), response.headers.getSetCookie()]).toEqual([new URL(url).host, ['a=1', 'b=2']])
    expect((await fetch(url, { method: 'TRACE' }).catch(() => ({ status: 400 }))).status).toBe(400)
    expect(reports).toHaveLength(1)
  })

  test('rejects with words for a port that is taken and an address that is not there', async () => {
    const { url, close } = await listen(() => new Response(''))
    onTestFinished(close)
    const port = Number(new URL(url).port)
    const again = (options: ListenOptions): Promise<unknown> => listen(() => new Response(''), options)
    await expect(again({ port })).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
      message: `Port ${port} of 127.0.0.1 is taken: end what listens there, or give another \`port\`, such as 0 for any that is free.`,
      cause: { code: 'EADDRINUSE' },
    })
    await expect(again({ hostname: '203.0.113.1' })).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
      message: expect.stringMatching(/^This machine has no address 203\.0\.113\.1: .* as `hostname`/),
    })
  })
})
