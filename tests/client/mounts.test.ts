import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createExecutor, tool } from 'toolwright'
import { httpClients, type HttpClients } from 'toolwright/client/http'
import { listen, nodeListener } from 'toolwright/client/node'
import { describe, expect, onTestFinished, test } from 'vitest'
import { missing } from './_installed.ts'
import { read, send, visitorOf } from './_counter.ts'

if (missing !== undefined) console.warn(`The counter is not mounted in Hono and Express: ${missing}`)

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

describe.each(Object.keys(mounts))('the counter in %s', (name) => {
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
      // As Next.js mounts it: export const GET = clients.fetch.
      const { fetch: GET, close } = httpClients({
        executor,
        authorize: visitorOf,
        base: '/api/tools',
        limits: { streams: 1 },
      })
      onTestFinished(close)
      const url = await mounts[name]!(GET)
      const stream = await read(url)
      const { invocationId } = await executor.execute({ name: 'deploy' }, { session: 'ada' })
      await expect
        .poll(() => stream.frames.map(({ name: frame }) => frame), waitFor)
        .toEqual(['hello', 'calls', 'event', 'event', 'event'])
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

describe('listen', () => {
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

  test('rejects with the error of the server', async () => {
    const { url, close } = await listen(() => new Response(''))
    onTestFinished(close)
    const port = Number(new URL(url).port)
    await expect(listen(() => new Response(''), { port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})
