import { connect, createServer, type Socket } from 'node:net'
import type { Hello } from 'toolwright/client/protocol'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, onTestFinished, test } from 'vitest'
import { httpApi, journalFile, read, seenIn, send } from './_http-api.ts'

const waitFor = { timeout: 20_000 }
const namesOf = ({ frames }: { frames: readonly { name: string }[] }): string[] => frames.map(({ name }) => name)

describe('a stream', () => {
  test('begins with who the user is, the time of the server, and the calls', async () => {
    const { executor, url } = await httpApi()
    await executor.execute({ name: 'echo', args: { text: 'x' } }, { session: 'ada' })
    const stream = await read(url)
    await expect.poll(() => namesOf(stream), waitFor).toEqual(['hello', 'calls'])
    const [hello, calls] = stream.frames
    expect(hello?.data).toMatchObject({ protocol: 2, session: 'ada', may: expect.arrayContaining(['decide']) })
    expect(Math.abs((hello!.data as Hello).now - Date.now())).toBeLessThan(60_000)
    expect((hello!.data as Hello).tools).toContainEqual({ name: 'form', type: 'client' })
    expect(calls?.data).toMatchObject({ calls: [{ toolName: 'echo', status: 'ok' }] })
    expect(stream.text()).toMatch(/^retry: 1000\n\n/)
  })

  test('tells of a call that begins to wait with a whole view too', async () => {
    const { executor, url } = await httpApi()
    const stream = await read(url)
    await expect.poll(() => stream.frames.length, waitFor).toBeGreaterThan(1)
    const { invocationId } = await executor.execute({ name: 'deploy', args: { to: 'prod' } }, { session: 'ada' })
    await expect.poll(() => namesOf(stream), waitFor).toContain('call')
    const view = stream.frames.flatMap(({ name, data }) => (name === 'call' ? [data] : []))[0]
    expect(view).toMatchObject({ invocationId, args: { to: 'prod' }, waiting: { prompt: 'Deploy to prod?' } })
  })

  test('goes on after a known id with nothing lost and nothing twice', async () => {
    const { executor, url } = await httpApi()
    const first = await read(url)
    await executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    await expect.poll(() => first.frames.length, waitFor).toBe(6)
    first.close()
    for (let index = 0; index < 5; index++) await executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    const lastId = first.frames.at(-1)?.id ?? ''
    const second = await read(url, 'ada', lastId)
    await expect.poll(() => second.frames.length, waitFor).toBe(21)
    expect(namesOf(second)).toEqual(['hello', ...Array.from({ length: 20 }, () => 'event')])
    const [epoch, number] = lastId.split('-')
    expect(second.frames[1]?.id).toBe(`${epoch}-${Number(number) + 1}`)
  })

  test('after the id of a page of calls misses nothing', async () => {
    const { executor, url } = await httpApi()
    const { at } = (await send(`${url}/calls`)).data
    await executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    const stream = await read(url, 'ada', at)
    await expect.poll(() => namesOf(stream), waitFor).toEqual(['hello', 'event', 'event', 'event', 'event'])
  })

  test.each([
    '',
    'garbage',
    'deadbeef-3',
    '-1',
    '99999999999999999999-1',
    '__proto__-1',
    'NaN-NaN',
    'x'.repeat(10_000),
  ])('begins with a list after an id that it does not know: %.30s', async (lastId) => {
    const { url } = await httpApi()
    const stream = await read(url, 'ada', lastId)
    await expect.poll(() => namesOf(stream), waitFor).toEqual(['hello', 'calls'])
  })

  test('begins with a list after an id of another session, and one that is yet to come', async () => {
    const { executor, url } = await httpApi()
    const first = await read(url)
    await executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    await expect.poll(() => first.frames.length, waitFor).toBe(6)
    const lastId = first.frames.at(-1)?.id ?? ''
    const others = await read(url, 'bob', lastId)
    await expect.poll(() => namesOf(others), waitFor).toEqual(['hello', 'calls'])
    const tooFar = await read(url, 'ada', lastId.replace(/\d+$/, '99'))
    await expect.poll(() => namesOf(tooFar), waitFor).toEqual(['hello', 'calls'])
  })

  test('begins with a list if 10,000 frames came meanwhile', async () => {
    const { executor, url } = await httpApi()
    const first = await read(url)
    await executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    await expect.poll(() => first.frames.length, waitFor).toBe(6)
    first.close()
    for (let index = 0; index < 2_500; index++) await executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    const second = await read(url, 'ada', first.frames.at(-1)?.id ?? '')
    await expect.poll(() => namesOf(second), waitFor).toEqual(['hello', 'calls'])
    expect((second.frames[1]!.data as { calls: object[]; next?: string }).calls).toHaveLength(200)
    expect(second.frames[1]?.data).toHaveProperty('next')
  })

  test('of a server that was started anew begins with what waits', async () => {
    const open = journalFile()
    const before = await httpApi({ use: [open()] })
    const stream = await read(before.url)
    const asked = await before.executor.execute({ name: 'deploy', args: { to: 'prod' } }, { session: 'ada' })
    await expect.poll(() => namesOf(stream), waitFor).toContain('event')
    const port = Number(new URL(before.url).port)
    await before.close()
    await expect.poll(stream.isOver, waitFor).toBe(true)
    const after = await httpApi({ use: [open()], port })
    const again = await read(after.url, 'ada', stream.frames.at(-1)?.id ?? '')
    await expect.poll(() => namesOf(again), waitFor).toEqual(['hello', 'calls'])
    expect(seenIn(again).get(asked.invocationId)).toMatchObject({ waiting: { prompt: 'Deploy to prod?' } })
  })

  test('cut between a wait and its event loses neither', async () => {
    const { executor, url } = await httpApi()
    const sockets = new Set<Socket>()
    const upstream = Number(new URL(url).port)
    let limit = Infinity
    // Lets so many bytes of an answer through, and then cuts the connection.
    const proxy = createServer((socket) => {
      const further = connect(upstream, '127.0.0.1')
      sockets.add(socket)
      socket.pipe(further)
      let passed = 0
      further.on('data', (bytes) => {
        passed += bytes.length
        if (passed > limit) socket.destroy()
        else socket.write(bytes)
      })
      for (const each of [socket, further])
        each.on('error', () => {}).on('close', () => (further.destroy(), socket.destroy()))
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void proxy.close())
    const through = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`
    const stream = await read(through)
    await expect.poll(() => namesOf(stream), waitFor).toEqual(['hello', 'calls'])
    limit = 0 // from now on nothing comes through
    const asked = await executor.execute({ name: 'deploy', args: { to: 'prod' } }, { session: 'ada' })
    await expect.poll(stream.isOver, waitFor).toBe(true)
    expect(namesOf(stream)).toEqual(['hello', 'calls'])
    limit = Infinity
    const again = await read(through, 'ada', stream.frames.at(-1)?.id ?? '')
    await expect.poll(() => namesOf(again), waitFor).toEqual(['hello', 'event', 'event', 'call'])
    expect(again.frames[2]?.data).toMatchObject({ event: 'call:waiting', invocationId: asked.invocationId })
  })

  test('of a reader that does not read gets a list when it reads on, and holds no memory', async () => {
    const { executor, clients } = await httpApi({ limits: { backlog: 100_000 } })
    const request = new Request('http://localhost/events', { headers: { authorization: 'Bearer ada' } })
    const response = await clients.fetch(request)
    const reader = response.body!.getReader()
    const decoder = new TextDecoder()
    const next = async (): Promise<string> => decoder.decode((await reader.read()).value)
    expect(await next()).toContain('event: calls')
    const text = 'x'.repeat(2_000)
    for (let index = 0; index < 1_000; index++)
      await executor.execute({ name: 'echo', args: { text } }, { session: 'ada' })
    expect(await next()).toMatch(/^id: .*\nevent: calls\n/)
    await executor.execute({ name: 'echo', args: { text: 'after it' } }, { session: 'ada' })
    expect(await next()).toContain('"text":"after it"')
    await reader.cancel()
  })

  test('of a reader that never reads ends, so that its place is free', async () => {
    const { clients } = await httpApi({ heartbeat: 10, limits: { streams: 1 } })
    const open = () =>
      clients.fetch(new Request('http://localhost/events', { headers: { authorization: 'Bearer ada' } }))
    expect((await open()).status).toBe(200)
    expect((await open()).status).toBe(429)
    await expect.poll(async () => (await open()).status, { ...waitFor, interval: 100 }).toBe(200)
  })

  test('gives signs of life, and its place is free when it is closed', async () => {
    const { url } = await httpApi({ heartbeat: 20, limits: { streams: 1 } })
    const stream = await read(url)
    await expect.poll(stream.text, waitFor).toMatch(/(: \n\n){2}/)
    expect((await read(url)).status).toBe(429)
    stream.close()
    await expect.poll(async () => (await read(url)).status, { ...waitFor, interval: 100 }).toBe(200)
  })

  test('tells of a call that has expired', async () => {
    const brief = { policies: [{ name: 'brief', decide: () => ({ decision: 'ask' as const, timeout: 30 }) }] }
    const { executor, url } = await httpApi({ use: [brief, memoryJournal()], heartbeat: 50 })
    const stream = await read(url)
    const { invocationId } = await executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    await expect
      .poll(() => seenIn(stream).get(invocationId), waitFor)
      .toMatchObject({
        status: 'denied',
        error: { code: 'E_APPROVAL_EXPIRED' },
      })
  })

  test('of all sessions has the calls of each', async () => {
    const { executor, url } = await httpApi()
    const stream = await read(url, 'all')
    for (const session of ['ada', 'bob']) await executor.execute({ name: 'echo', args: {} }, { session })
    await expect.poll(() => stream.frames.length, waitFor).toBe(10)
    const sessions = stream.frames.flatMap(({ name, data }) => (name === 'event' ? [data.session] : []))
    expect(new Set(sessions)).toEqual(new Set(['ada', 'bob']))
  })

  test('ends when the HTTP API closes, whose executor goes on', async () => {
    const { executor, url, clients } = await httpApi()
    const stream = await read(url)
    await clients.close()
    await expect.poll(stream.isOver, waitFor).toBe(true)
    expect((await send(`${url}/calls`)).status).toBe(503)
    expect((await executor.execute({ name: 'echo', args: {} })).status).toBe('ok')
  })
})
