import { connect, WireError, type ConnectOptions } from 'toolwright/client/browser'
import { listen } from 'toolwright/client/node'
import { protocolVersion, type ToolClient } from 'toolwright/client/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { httpApi, send, type HttpApi } from './_http-api.ts'

const as = { authorization: 'Bearer ada' }

function opened(url: string, options: ConnectOptions = {}): ToolClient {
  const client = connect(url, { headers: as, ...options })
  onTestFinished(() => client.close())
  return client
}

/** Resolves when the page is in a state. */
function becomes(client: ToolClient, state: ToolClient['state']): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => void (client.state === state && resolve())
    client.subscribe(look)
    look()
  })
}

/** Sends the requests of a page of another version, as a browser does. */
function fetchOf(version: number | undefined, origin: string): typeof fetch {
  return async (address, init) => {
    const url = new URL(address as string)
    url.searchParams.delete('protocol')
    if (version !== undefined) url.searchParams.set('protocol', String(version))
    const headers = new Headers(init?.headers)
    headers.set('origin', origin)
    return fetch(url, { ...init, headers })
  }
}

/** A server that says it speaks another version, in front of a real one. */
async function serverOf(
  version: () => number,
): Promise<HttpApi & { readonly asked: string[]; readonly endStreams: () => void }> {
  const real = await httpApi({ heartbeat: 100 })
  const asked: string[] = []
  const ends: (() => void)[] = []
  const { url, close } = await listen(async (request) => {
    const { pathname, searchParams } = new URL(request.url)
    asked.push(`${request.method} ${pathname}`)
    expect(searchParams.get('protocol')).toBe('2') // a server of another version reads what a page says, or does not
    const answer = await real.clients.fetch(request)
    if (pathname === '/calls')
      return new Response((await answer.text()).replace('"protocol":2', `"protocol":${version()}`), answer)
    if (pathname !== '/events') return answer
    const texts = answer.body!.pipeThrough(new TextDecoderStream())
    const change = new TransformStream<string, string>({
      start: (controller) => void ends.push(() => controller.terminate()),
      transform: (text, to) => to.enqueue(text.replace('"protocol":2', `"protocol":${version()}`)),
    })
    return new Response(texts.pipeThrough(change).pipeThrough(new TextEncoderStream()), answer)
  })
  onTestFinished(close)
  return { ...real, url, asked, endStreams: () => ends.forEach((end) => end()) }
}

describe('a server of version 2', () => {
  test('speaks with a page of its version', async () => {
    const { url } = await httpApi()
    const client = opened(url, { fetch: fetchOf(protocolVersion, new URL(url).origin) })
    await becomes(client, 'open')
    expect(client.refusal).toBeUndefined()
    expect(client.hello).toMatchObject({ protocol: 2, session: 'ada' })
  })

  test.each([
    ['that says none', undefined, 'version 1', 'The page is older: reload it'],
    ['of version 1', 1, 'version 1', 'The page is older: reload it'],
    ['of version 3', 3, 'version 3', 'The server is older: give it the release'],
  ] as const)('refuses a page %s, which stops, and says what to do', async (_page, version, name, words) => {
    const { url, executor, ran } = await httpApi()
    const waiting = await executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    const client = opened(url, { fetch: fetchOf(version, new URL(url).origin) })
    await becomes(client, 'refused')
    expect(client.refusal).toMatchObject({ code: 'E_PROTOCOL', message: expect.stringContaining(words) })
    expect(client.refusal?.message).toContain(`The page speaks ${name} of the protocol, and the server version 2.`)
    const decided = client.decide(waiting.invocationId, 'allow')
    await expect(decided).rejects.toBeInstanceOf(WireError)
    await expect(decided).rejects.toMatchObject({ code: 'E_PROTOCOL', status: 403 })
    expect(ran).toEqual([])
  })

  test.each(['x', '0', '-1', '1.5', ''])('refuses a version that is none: %j', async (version) => {
    const { url } = await httpApi()
    const { status, data } = await send(`${url}/calls?protocol=${version}`)
    expect([status, data.error.code]).toEqual([403, 'E_PROTOCOL'])
    expect(data.error.message).toContain('?protocol=2')
  })

  test('answers a program that says no version, and the link to an artifact', async () => {
    const { url, executor } = await httpApi()
    expect((await send(`${url}/calls`)).status).toBe(200)
    const { handle } = await executor.execute({ name: 'log' }, { session: 'ada' })
    const linked = await fetch(`${url}/artifacts/${handle}`, { headers: { ...as, 'sec-fetch-site': 'same-origin' } })
    expect(linked.status).toBe(200)
    await linked.body?.cancel()
  })
})

describe('a page of version 2', () => {
  test.each([
    [1, 'The server is older: give it the release'],
    [3, 'The page is older: reload it'],
  ])('stops at a server of version %i, says what to do, and sends it nothing', async (version, words) => {
    const { url, executor, asked, ran } = await serverOf(() => version)
    const waiting = await executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    const client = opened(url)
    await becomes(client, 'refused')
    expect(client.refusal).toMatchObject({ code: 'E_PROTOCOL', message: expect.stringContaining(words) })
    expect(client.calls()).toEqual([])
    const decided = client.decide(waiting.invocationId, 'allow')
    await expect(decided).rejects.toBeInstanceOf(WireError)
    await expect(decided).rejects.toMatchObject({ code: 'E_PROTOCOL', status: 0 })
    expect([asked, ran]).toEqual([['GET /calls'], []])
  })

  test('stops when a server of another version takes the place of its own', async () => {
    let version = 2
    const { url, endStreams } = await serverOf(() => version)
    const client = opened(url)
    await becomes(client, 'open')
    version = 1
    endStreams()
    await becomes(client, 'refused')
    expect(client.refusal?.message).toContain('The server is older')
    await expect(client.cancel('none')).rejects.toMatchObject({ code: 'E_PROTOCOL' })
  })
})
