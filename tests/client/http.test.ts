import { tool } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { httpApi, journalFile, read, seenIn, send } from './_http-api.ts'

const waitFor = { timeout: 20_000 }

describe('an approval', () => {
  test.each([
    ['with a journal', () => [memoryJournal()]],
    ['without a journal', () => []],
  ])('%s is seen, decided, and told with its result', async (_, use) => {
    const { executor, url, ran } = await httpApi({ use: use() })
    const stream = await read(url)
    const waiting = await executor.execute(
      { id: 't1', name: 'deploy', args: { to: 'prod', key: 'k' } },
      { session: 'ada' },
    )
    const { data: page } = await send(`${url}/calls`)
    expect(page.calls).toMatchObject([
      {
        invocationId: waiting.invocationId,
        id: 't1',
        toolName: 'deploy',
        state: 'APPROVAL_REQUIRED',
        args: { to: 'prod', key: '[secret]' },
        waiting: { reason: 'approval', prompt: 'Deploy to prod?' },
      },
    ])
    const { status, data } = await send(`${url}/calls/${waiting.invocationId}/decision`, {
      body: { decision: 'allow', note: 'after the backup' },
      headers: { prefer: 'wait=20' },
    })
    expect([status, data]).toMatchObject([
      200,
      {
        repeated: false,
        state: 'COMPLETED',
        result: { status: 'ok', effect: 'completed', content: [{ type: 'text', text: 'deployed to prod' }] },
      },
    ])
    expect(ran).toEqual(['prod'])
    const events = (): string[] =>
      stream.frames.flatMap(({ name, data: each }) => (name === 'event' ? [each.event] : []))
    const asked = ['call:received', 'call:waiting']
    const answered = ['call:resumed', 'tool:start', 'tool:end', 'call:settled']
    await expect.poll(events, waitFor).toEqual([...asked, ...answered])
    const one = await send(`${url}/calls/${waiting.invocationId}`)
    expect(one.data).toMatchObject({
      state: 'COMPLETED',
      approval: { decision: 'allow', decidedBy: 'Ada', note: 'after the backup' },
    })
    if (use().length > 0) {
      expect(one.data.content).toEqual([{ type: 'text', text: 'deployed to prod' }])
      expect(one.data.auditTrail?.map(({ state }) => state)).toContain('APPROVED')
    }
  })

  test('is answered at once with 202 while its call goes on', async () => {
    const { executor, url, release } = Object.assign(await httpApi(), {})
    const { invocationId } = await executor.execute({ name: 'slow' }, { session: 'ada' })
    const answer = await send(`${url}/calls/${invocationId}/decision`, { body: { decision: 'allow' } })
    expect([answer.status, answer.data]).toMatchObject([202, { repeated: false, state: expect.any(String) }])
    expect(answer.data.result).toBeUndefined()
    expect(release).toBeDefined()
  })

  test('is denied with words for the model', async () => {
    const { executor, url, ran } = await httpApi()
    const waiting = await executor.execute({ name: 'deploy', args: { to: 'prod' } }, { session: 'ada' })
    const settled = executor.calls.settled(waiting)
    await send(`${url}/calls/${waiting.invocationId}/decision`, { body: { decision: 'deny', note: 'not today' } })
    expect((await settled).content).toEqual([{ type: 'text', text: expect.stringContaining('not today') }])
    expect(ran).toEqual([])
  })

  test('takes other args, and waits on if they do not fit', async () => {
    const { executor, url, ran } = await httpApi({ use: [memoryJournal()] })
    const { invocationId } = await executor.execute({ name: 'deploy', args: { to: 'prod' } }, { session: 'ada' })
    const decide = (editedArgs: unknown) =>
      send(`${url}/calls/${invocationId}/decision`, {
        body: { decision: 'allow', editedArgs },
        headers: { prefer: 'wait=20' },
      })
    const wrong = await decide({ to: 7 })
    expect([wrong.status, wrong.data.error]).toMatchObject([400, { code: 'E_INVALID_TOOL_ARGS' }])
    expect(wrong.data.error).toHaveProperty('issues')
    expect((await decide({ to: 'staging' })).data.result?.status).toBe('ok')
    expect(ran).toEqual(['staging'])
    expect((await decide({ to: 'staging' })).data.repeated).toBe(true)
  })

  test('that comes twenty times at once, from two sessions of HTTP, runs the handler once', async () => {
    const { executor, url, ran } = await httpApi({ use: [memoryJournal()] })
    const { invocationId } = await executor.execute({ name: 'deploy', args: { to: 'prod' } }, { session: 'ada' })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        send(`${url}/calls/${invocationId}/decision`, {
          as: index % 2 === 0 ? 'ada' : 'all',
          body: { decision: 'allow' },
        }),
      ),
    )
    expect(answers.map(({ status }) => status).filter((status) => status >= 300)).toEqual([])
    expect(answers.filter(({ data }) => !data.repeated)).toHaveLength(1)
    expect(ran).toEqual(['prod'])
  })

  test('is repeated with the same answer, and refuses another', async () => {
    const { executor, url, ran } = await httpApi({ use: [memoryJournal()] })
    const { invocationId } = await executor.execute({ name: 'deploy', args: { to: 'prod' } }, { session: 'ada' })
    const decide = (body: object) =>
      send(`${url}/calls/${invocationId}/decision`, { body, headers: { prefer: 'wait=20' } })
    const first = await decide({ decision: 'allow', note: 'yes' })
    const again = await decide({ decision: 'allow', note: 'yes' })
    expect([again.status, again.data]).toEqual([200, { ...first.data, repeated: true }])
    for (const body of [{ decision: 'deny' }, { decision: 'allow', note: 'no' }]) {
      const other = await decide(body)
      expect([other.status, other.data.error.code]).toEqual([409, 'E_APPROVAL_INVALID'])
    }
    expect(ran).toEqual(['prod'])
  })

  test('is repeated after a restart, and by another process', async () => {
    const open = journalFile()
    const first = await httpApi({ use: [open()] })
    const { invocationId } = await first.executor.execute({ name: 'deploy', args: { to: 'prod' } }, { session: 'ada' })
    const body = { decision: 'allow', note: 'yes' }
    await send(`${first.url}/calls/${invocationId}/decision`, { body, headers: { prefer: 'wait=20' } })
    await first.close()
    const second = await httpApi({ use: [open()] })
    const again = await send(`${second.url}/calls/${invocationId}/decision`, { body, headers: { prefer: 'wait=20' } })
    expect([again.status, again.data]).toMatchObject([
      200,
      { repeated: true, state: 'COMPLETED', result: { status: 'ok' } },
    ])
    const other = await send(`${second.url}/calls/${invocationId}/decision`, { body: { decision: 'deny' } })
    expect(other.status).toBe(409)
    expect([first.ran, second.ran]).toEqual([['prod'], []])
  })

  test('says so if it came too late', async () => {
    const brief = { policies: [{ name: 'brief', decide: () => ({ decision: 'ask' as const, timeout: 20 }) }] }
    const { executor, url } = await httpApi({ use: [brief, memoryJournal()] })
    const { invocationId } = await executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    await new Promise((resolve) => setTimeout(resolve, 60))
    const late = await send(`${url}/calls/${invocationId}/decision`, { body: { decision: 'allow' } })
    expect([late.status, late.data.error.code]).toEqual([410, 'E_APPROVAL_EXPIRED'])
    await executor.calls.expire()
    const later = await send(`${url}/calls/${invocationId}/decision`, { body: { decision: 'allow' } })
    expect([later.status, later.data.error.code]).toEqual([410, 'E_APPROVAL_EXPIRED'])
  })
})

describe('a client tool', () => {
  test('is answered at /tool-results, and a wrong answer can be corrected', async () => {
    const { executor, url } = await httpApi({ use: [memoryJournal()] })
    const waiting = await executor.execute({ name: 'form', args: { question: 'Who?' } }, { session: 'ada' })
    const settled = executor.calls.settled(waiting)
    const { invocationId } = waiting
    const post = (body: object) => send(`${url}/tool-results`, { body: { invocationId, ...body } })
    const wrong = await post({ value: { phone: '1' } })
    expect([wrong.status, wrong.data.error.code]).toEqual([400, 'E_INVALID_TOOL_RESULT'])
    const right = await post({ value: { email: 'a@b.c' } })
    expect(right.status).toBeLessThan(300)
    expect((await settled).content).toMatchObject([{ type: 'json', data: { email: 'a@b.c' } }])
    expect((await post({ value: { email: 'a@b.c' } })).data.repeated).toBe(true)
    expect((await post({ value: { email: 'other' } })).status).toBe(409)
  })

  test('waits for a person first if it has to, and each answer is for its own question', async () => {
    const both = tool({
      name: 'sign',
      description: 'Signs',
      type: 'client',
      requiresResponse: true,
      requiresConfirmation: true,
    })
    const { executor, url } = await httpApi({ use: [memoryJournal()], extra: [both] })
    const { invocationId } = await executor.execute({ name: 'sign' }, { session: 'ada' })
    const settled = executor.calls.settled(invocationId)
    const post = async (body: object) => (await send(`${url}/tool-results`, { body: { invocationId, ...body } })).status
    const decide = (decision: string) => send(`${url}/calls/${invocationId}/decision`, { body: { decision } })
    expect(await post({ value: 'too early' })).toBe(409)
    expect((await decide('allow')).status).toBeLessThan(300)
    await expect.poll(async () => (await executor.calls.waiting())[0]?.reason, waitFor).toBe('client')
    expect((await decide('allow')).data.repeated).toBe(true)
    expect((await decide('deny')).status).toBe(409)
    expect(await post({ value: 'signed' })).toBeLessThan(300)
    expect((await settled).content).toEqual([{ type: 'text', text: 'signed' }])
  })

  test('fails with words for the model', async () => {
    const { executor, url } = await httpApi()
    const waiting = await executor.execute({ name: 'form', args: {} }, { session: 'ada' })
    const settled = executor.calls.settled(waiting)
    const { invocationId } = waiting
    await send(`${url}/tool-results`, { body: { invocationId, error: 'The user closed the form.' } })
    expect((await settled).content).toEqual([{ type: 'text', text: expect.stringContaining('closed the form') }])
  })

  test('is for the page that holds its lease, with args that are not masked', async () => {
    const { executor, url } = await httpApi()
    const { invocationId } = await executor.execute({ name: 'form', args: { pin: '1234' } }, { session: 'ada' })
    const take = (holder: string) =>
      send(`${url}/calls/${invocationId}/lease`, { body: { holder, milliseconds: 60_000 } })
    const taken = await take('page 1')
    expect(taken.data).toMatchObject({ args: { pin: '1234' }, lease: { holder: 'page 1' } })
    expect((await take('page 2')).data.error.code).toBe('E_LEASED')
    expect((await take('page 1')).status).toBe(200)
    const answer = (holder: string) =>
      send(`${url}/tool-results`, { body: { invocationId, holder, value: { email: holder } } })
    expect((await answer('page 2')).data.error.code).toBe('E_LEASED')
    expect((await answer('page 1')).status).toBeLessThan(300)
  })

  test('is free again as soon as its holder gives the lease back, which no other can', async () => {
    const { executor, url } = await httpApi()
    const { invocationId } = await executor.execute({ name: 'form', args: { pin: '1234' } }, { session: 'ada' })
    const lease = async (holder: string, milliseconds: number) =>
      send(`${url}/calls/${invocationId}/lease`, { body: { holder, milliseconds } })
    await lease('page 1', 120_000)
    expect((await lease('page 2', 0)).status).toBe(409)
    expect((await lease('page 2', 120_000)).status).toBe(409)
    const returned = await lease('page 1', 0)
    expect([returned.status, returned.data]).toEqual([200, {}])
    await expect.poll(async () => (await lease('page 2', 120_000)).status, waitFor).toBe(200)
    expect((await lease('page 1', 1)).status).toBe(400)
  })

  test('is free again once a lease has run out', async () => {
    const { executor, url } = await httpApi({ use: [memoryJournal()] })
    const { invocationId } = await executor.execute({ name: 'form', args: {} }, { session: 'ada' })
    const take = (holder: string) =>
      send(`${url}/calls/${invocationId}/lease`, { body: { holder, milliseconds: 1_000 } })
    expect((await take('page 1')).status).toBe(200)
    await expect.poll(async () => (await take('page 2')).status, { ...waitFor, interval: 200 }).toBe(200)
  })
})

describe('other requests', () => {
  test('cancel a call that runs, and one that waits', async () => {
    const { executor, url } = await httpApi()
    const running = executor.execute({ name: 'endless' }, { session: 'ada' })
    const waiting = await executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    await expect.poll(async () => (await send(`${url}/calls`)).data.calls.length, waitFor).toBe(2)
    const { data } = await send(`${url}/calls`)
    for (const { invocationId } of data.calls) {
      const cancelled = await send(`${url}/calls/${invocationId}/cancellation`, { body: { reason: 'enough' } })
      expect([cancelled.status, cancelled.data]).toEqual([200, { state: 'cancelled' }])
    }
    expect((await running).status).toBe('cancelled')
    const again = await send(`${url}/calls/${waiting.invocationId}/cancellation`, { body: {} })
    expect([again.status, again.data]).toEqual([200, { state: 'cancelled' }])
  })

  test('list no call without what it waits for, also if it pauses meanwhile', async () => {
    const { executor, url } = await httpApi()
    const waiting = executor.calls.waiting.bind(executor)
    let pausing: Promise<unknown> | undefined
    const slowly: typeof waiting = async (query) => {
      const list = await waiting(query)
      await (pausing ??= executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' }))
      return list
    }
    Object.assign(executor.calls, { waiting: slowly })
    expect((await send(`${url}/calls`)).data.calls).toEqual([]) // its events come after the list
    expect((await send(`${url}/calls`)).data.calls).toMatchObject([{ waiting: { prompt: 'Deploy to x?' } }])
  })

  test('read artifacts, whole and in ranges', async () => {
    const { executor, url } = await httpApi()
    const { handle } = await executor.execute({ name: 'log' }, { session: 'ada' })
    const get = (range?: string) =>
      send(`${url}/artifacts/${handle}`, range === undefined ? {} : { headers: { range } })
    const whole = await get()
    expect([whole.status, (await whole.text()).length]).toEqual([200, 120_000])
    const part = await get('bytes=2-5')
    expect([part.status, await part.text()]).toEqual([206, 'line'])
    expect(part.headers.get('content-range')).toBe('bytes 2-5/120000')
    expect(await (await get('bytes=-5')).text()).toBe('more\n')
    for (const bad of [
      'bytes=120000-',
      'bytes=9-3',
      'bytes=-',
      'bytes=0-1,4-5',
      'bytes=x-',
      'bytes=999999999999999-',
    ]) {
      const refused = await get(bad)
      expect([refused.status, refused.headers.get('content-range')]).toEqual([416, 'bytes */120000'])
    }
  })

  test('page through older calls, each once', async () => {
    const { executor, url } = await httpApi({ use: [memoryJournal()] })
    for (let index = 0; index < 25; index++)
      await executor.execute({ name: 'echo', args: { text: `${index}` } }, { session: 'ada' })
    await executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    const seen: string[] = []
    for (let before: string | undefined; ;) {
      const { data } = await send(
        `${url}/calls?limit=10${before === undefined ? '' : `&before=${encodeURIComponent(before)}`}`,
      )
      if (before === undefined) expect(data.calls[0]?.toolName).toBe('deploy')
      seen.push(...data.calls.map(({ invocationId }) => invocationId))
      before = data.next
      if (before === undefined) break
    }
    expect(seen).toHaveLength(26)
    expect(new Set(seen).size).toBe(26)
  })

  test('see all sessions with the rights to do so', async () => {
    const { executor, url } = await httpApi()
    const calls = ['ada', 'bob'].map((session) => executor.execute({ name: 'log' }, { session }))
    const [, { handle = '' }] = [await calls[0], await calls[1]!]
    const { data } = await send(`${url}/calls`, { as: 'all' })
    expect(data.calls.map(({ session }) => session).sort()).toEqual(['ada', 'bob'])
    expect((await send(`${url}/artifacts/${handle}?session=bob`, { as: 'all' })).status).toBe(200)
    expect((await send(`${url}/artifacts/${handle}?session=bob`)).status).toBe(404)
  })

  test('with one token for everybody see all sessions too', async () => {
    const { executor, url } = await httpApi({ authorize: () => undefined, token: 'everybody' })
    await executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    expect((await send(`${url}/calls`, { as: 'everybody' })).data.calls).toHaveLength(1)
    expect((await send(`${url}/calls`, { as: 'nobody' })).status).toBe(401)
  })

  test('are answered while the journal is down with words to try again', async () => {
    const open = journalFile()
    const mounted = open()
    const { url, executor } = await httpApi({ use: [mounted] })
    const { invocationId } = await executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    await mounted.close?.()
    for (const answer of [
      await send(`${url}/calls`),
      await send(`${url}/events`),
      await send(`${url}/calls/${invocationId}/decision`, { body: { decision: 'allow' } }),
    ]) {
      expect([answer.status, answer.data.error.code, answer.headers.get('retry-after')]).toEqual([
        503,
        'E_JOURNAL',
        '1',
      ])
    }
  })

  test('that go away cancel nothing: the call runs on', async () => {
    const made = await httpApi({ use: [memoryJournal()] })
    const { executor, url } = made
    const waiting = await executor.execute({ name: 'slow' }, { session: 'ada' })
    const leaving = new AbortController()
    const asked = fetch(`${url}/calls/${waiting.invocationId}/decision`, {
      method: 'POST',
      headers: { authorization: 'Bearer ada', 'content-type': 'application/json', prefer: 'wait=60' },
      body: '{"decision":"allow"}',
      signal: leaving.signal,
    })
    await expect.poll(async () => (await executor.calls.get(waiting.invocationId)).state, waitFor).toBe('EXECUTING')
    leaving.abort()
    await expect(asked).rejects.toThrow()
    made.release()
    expect((await executor.calls.settled(waiting)).content).toEqual([{ type: 'text', text: 'at last' }])
  })
})

describe('two processes', () => {
  test('on one journal: each sees the calls of the other, and one of ten answers counts', async () => {
    const open = journalFile()
    const [one, other] = [await httpApi({ use: [open()] }), await httpApi({ use: [open()] })]
    const stream = await read(other.url)
    const waiting = await one.executor.execute({ name: 'deploy', args: { to: 'prod' } }, { session: 'ada' })
    const { invocationId } = waiting
    await expect
      .poll(() => seenIn(stream).get(invocationId), waitFor)
      .toMatchObject({ state: 'APPROVAL_REQUIRED', args: { to: 'prod' }, waiting: { prompt: 'Deploy to prod?' } })
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        send(`${index % 2 === 0 ? one.url : other.url}/calls/${invocationId}/decision`, {
          body: { decision: 'allow' },
        }),
      ),
    )
    expect(answers.filter(({ status }) => status < 300).length).toBeGreaterThan(0)
    expect(answers.filter(({ status }) => status >= 300 && status !== 409)).toEqual([])
    expect(answers.filter(({ status, data }) => status < 300 && !data.repeated)).toHaveLength(1)
    expect((await one.executor.calls.settled(waiting)).status).toBe('ok')
    expect([...one.ran, ...other.ran]).toEqual(['prod'])
    await expect.poll(() => seenIn(stream).get(invocationId), waitFor).toMatchObject({ status: 'ok' })
  })

  test('tell of each other’s leases', async () => {
    const open = journalFile()
    const [one, other] = [await httpApi({ use: [open()] }), await httpApi({ use: [open()] })]
    const stream = await read(other.url)
    const { invocationId } = await one.executor.execute({ name: 'form', args: {} }, { session: 'ada' })
    await send(`${one.url}/calls/${invocationId}/lease`, { body: { holder: 'page 1' } })
    await expect.poll(() => seenIn(stream).get(invocationId)?.waiting?.lease?.holder, waitFor).toBe('page 1')
  })
})
