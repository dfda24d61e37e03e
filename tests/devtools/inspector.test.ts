import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { createExecutor, tool } from 'toolwright'
import { inspector, type Inspector, type InspectorOptions } from 'toolwright/devtools/inspector'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ended, file, place, program, start, storyTools, toolwright } from '../cli/_command.ts'
import { buildPage, pageFolder } from './_page.ts'

beforeAll(buildPage)

const ask = tool({ name: 'ask', description: 'Asks first', requiresConfirmation: true, handler: () => 'done' })
const greet = tool('greet', ({ name }: { name: string }) => `Hello, ${name}`)

interface Sent {
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}
type Get = (path: string, sent?: Sent, token?: string) => Promise<Response>

function made(options: Omit<InspectorOptions, 'executor'> = {}): Inspector & { readonly get: Get } {
  const executor = createExecutor({ tools: [ask, greet] })
  const own = inspector({ executor, report: () => {}, ...options })
  onTestFinished(async () => {
    await own.close()
    await executor.close()
  })
  const get: Get = (path, { headers, ...init } = {}, token = own.token) => {
    const authorization = token === '' ? {} : { authorization: `Bearer ${token}` }
    return own.fetch(new Request(`http://localhost${path}`, { ...init, headers: { ...authorization, ...headers } }))
  }
  return { ...own, get }
}

/** Sends a request with any `Host`. Resolves with the status. */
function statusOf(url: string, host: string, path = '/'): Promise<number> {
  const { port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject).end()
  })
}

describe('the inspector', () => {
  test('serves a page without a token, and nothing else', async () => {
    const { get: ask_ } = made()
    const page = await ask_('/', {}, '')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const html = await page.text()
    const parts = [...html.matchAll(/(?:src|href)="\.(\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(parts).toHaveLength(2)
    for (const path of parts) expect((await ask_(path, {}, '')).status).toBe(200)
    for (const path of ['/api/calls', '/api/events', '/api/tools', '/api/artifacts/x']) {
      expect((await ask_(path, {}, '')).status, path).toBe(401)
      expect((await ask_(path, {}, 'guessed')).status, path).toBe(401)
    }
    expect((await ask_('/api/calls')).status).toBe(200)
    for (const path of ['/package.json', '/..%2f..%2fpackage.json', '/%00', '/inspector.js', '/api']) {
      expect((await ask_(path)).status, path).toBe(404)
    }
    expect((await ask_('/', { method: 'POST' })).status).toBe(405)
  })

  test('lets the page load scripts and styles of its own alone', async () => {
    const { get: ask_ } = made()
    const { headers } = await ask_('/')
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(await (await ask_('/')).text()).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=/)
  })

  test('answers under the names of this machine only', async () => {
    const { listen } = made()
    const { url, close } = await listen()
    onTestFinished(close)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/)
    expect(await statusOf(url, 'localhost:4984')).toBe(200)
    for (const path of ['/', '/api/calls', '/api/tools']) expect(await statusOf(url, 'evil.example', path)).toBe(403)
  })

  test('is mounted under a path of a server that is there', async () => {
    const { get: ask_ } = made({ base: '/tools/' })
    const moved = await ask_('/tools')
    expect([moved.status, moved.headers.get('location')]).toEqual([308, '/tools/'])
    expect((await ask_('/tools/')).headers.get('content-type')).toMatch(/html/)
    expect((await ask_('/tools/api/calls')).status).toBe(200)
    expect((await ask_('/')).status).toBe(404)
  })

  test('has another token each time, and refuses one that no header can carry', () => {
    expect(made().token).not.toBe(made().token)
    expect(() => made({ token: 'with space' })).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
  })

  test('calls tools for the page only if the application lets it', async () => {
    const json = { 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'greet', args: { name: 'Ada' } })
    const closed = made()
    expect((await closed.get('/api/tools', { method: 'POST', body, headers: json })).status).toBe(403)
    expect(await (await closed.get('/api/tools')).json()).toMatchObject({ canCall: false })
    const open = made({ canCall: true })
    expect(await (await open.get('/api/tools')).json()).toMatchObject({
      canCall: true,
      tools: [{ name: 'ask' }, { name: 'greet', inputSchema: { type: 'object' } }],
    })
    expect((await open.get('/api/tools', { method: 'POST', body }, '')).status).toBe(401)
    expect((await open.get('/api/tools', { method: 'POST', body })).status).toBe(415)
    expect(
      (await open.get('/api/tools', { method: 'POST', body, headers: { ...json, origin: 'https://evil.example' } }))
        .status,
    ).toBe(403)
    const answer = await open.get('/api/tools', { method: 'POST', body, headers: json })
    const { invocationId } = (await answer.json()) as { invocationId: string }
    expect(answer.status).toBe(202)
    await expect
      .poll(async () => (await open.get(`/api/calls/${invocationId}`)).json(), { timeout: 20_000 })
      .toMatchObject({ toolName: 'greet', status: 'ok' })
  })

  test('has the notice of what is built into it', () => {
    expect(readFileSync(join(pageFolder, 'THIRD-PARTY-LICENSES'), 'utf8')).toMatch(
      /^Preact\n\n.*MIT License.*Copyright/s,
    )
  })

  test('is small: 17.51 kB of JavaScript and 2.5 kB of CSS', () => {
    const size = (name: string): number => gzipSync(readFileSync(join(pageFolder, name)), { level: 9 }).length / 1e3
    expect(size('page.js')).toBeLessThanOrEqual(17.51)
    expect(size('page.css')).toBeLessThanOrEqual(2.5)
  })
})

describe('toolwright inspect', { timeout: 120_000 }, () => {
  test('prints the address of a page that has the calls of another process, and ends when it is told to', async () => {
    const journal = place('inspected.db')
    const child = start([...program, 'inspect', storyTools, '--port', '0', '--journal', journal])
    const end = ended(child)
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    const [, url = '', token = ''] = /^(http:\/\/127\.0\.0\.1:\d+\/)#token=(\S+)\n$/.exec(line) ?? []
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(url)).status).toBe(200)
    const message = file(
      'inspected.json',
      JSON.stringify({
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'keep_notes', arguments: '{"clear":true}' } }],
      }),
    )
    expect((await toolwright(['run', storyTools, message, '--journal', journal])).code).toBe(0)
    const { calls } = (await (await fetch(`${url}api/calls`, { headers })).json()) as {
      calls: { invocationId: string; waiting: { prompt: string } }[]
    }
    expect(calls).toMatchObject([{ toolName: 'keep_notes', waiting: { prompt: 'Throw all notes away?' } }])
    const answer = await fetch(`${url}api/calls/${calls[0]?.invocationId}/decision`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', prefer: 'wait=20' },
      body: '{"decision":"allow"}',
    })
    expect(await answer.json()).toMatchObject({ state: 'COMPLETED', result: { status: 'ok' } })
    child.kill('SIGTERM')
    expect(await end).toMatchObject({ code: 143, stderr: '' })
  })

  test('keeps results in memory without a journal, and takes a token from the environment', async () => {
    const child = start([...program, 'inspect', storyTools, '--port', '0'], { TOOLWRIGHT_INSPECT_TOKEN: 'again' })
    const end = ended(child)
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    const [, url = ''] = /^(http:\S+\/)#token=again\n$/.exec(line) ?? []
    const headers = { authorization: 'Bearer again', 'content-type': 'application/json' }
    const body = '{"name":"exchange","args":{"amount":10,"from":"EUR","to":"NOK"}}'
    const called = await fetch(`${url}api/tools`, { method: 'POST', headers, body })
    const { invocationId } = (await called.json()) as { invocationId: string }
    await expect
      .poll(async () => (await fetch(`${url}api/calls/${invocationId}`, { headers })).json(), { timeout: 20_000 })
      .toMatchObject({ content: [{ data: { amount: 115, currency: 'NOK' } }] })
    child.kill('SIGTERM')
    await end
  })

  test('says that a port is taken, and which ports there are', async () => {
    const { listen } = made()
    const { url, close } = await listen()
    onTestFinished(close)
    const { port } = new URL(url)
    expect(await toolwright(['inspect', storyTools, '--port', port])).toEqual({
      code: 2,
      stdout: '',
      stderr: `toolwright: Port ${port} is taken. Give another one with --port, or 0 for any.\n`,
    })
    expect(await toolwright(['mcp', storyTools, '--http', port])).toMatchObject({
      code: 2,
      stderr: `toolwright: Port ${port} is taken. Give another one with --http, or 0 for any.\n`,
    })
    expect((await toolwright(['inspect', storyTools, '--port', '65536'])).stderr).toMatch(/at most 65535/)
  })
})
