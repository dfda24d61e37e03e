import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  content as contentOf,
  createExecutor,
  json,
  memoryStore,
  ToolRegistry,
  type Caller,
  type Extension,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { cache } from 'toolwright/middleware/cache'
import { consoleObserver } from 'toolwright/observers/console'
import { byTraits } from 'toolwright/policies/by-traits'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { data, deferred, heard, names, outcome, soon, text, work } from './_calls.ts'
import { places, recordIn, type Place } from './_journals.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const invalid = { code: 'E_APPROVAL_INVALID' }

/** Two executors on one place, as two processes are, whose tools leave their input behind. */
interface House {
  readonly place: Place
  readonly inputs: unknown[]
  readonly registry: ToolRegistry
  readonly open: (use?: readonly Extension[]) => ToolExecutor
}

function house(place: Place): House {
  const inputs: unknown[] = []
  const handler = (input: never): unknown => {
    inputs.push(input)
    return { ran: input }
  }
  const registry = new ToolRegistry([
    work('guarded', handler, { requiresConfirmation: true }),
    work('form', handler, { type: 'client', requiresResponse: true, timeout: 60_000 }),
  ])
  const open = (use: readonly Extension[] = []): ToolExecutor =>
    createExecutor({ tools: registry, use: [place.open(), ...use], report: () => {} })
  return { place, inputs, registry, open }
}

async function asked(executor: ToolExecutor, name = 'guarded', args: unknown = { to: 'ada' }): Promise<string> {
  const { token, status } = await executor.execute({ name, args }, { session: 's' })
  expect(status).toBe('waiting')
  return token ?? ''
}

const forgeries: readonly (readonly [string, (token: string, other: string) => unknown])[] = [
  ['altered in its last digit', (token) => token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')],
  ['cut', (token) => token.slice(0, -2)],
  ['with something behind it', (token) => `${token}0`],
  ['in capitals', (token) => token.toUpperCase()],
  ['guessed', (token) => `${token.split('.')[0]}.${'0'.repeat(64)}`],
  ['with the secret of another call', (token, other) => `${token.split('.')[0]}.${other.split('.')[1]}`],
  ['without a secret', (token) => token.split('.')[0]],
  ['empty', () => ''],
  ['of a number', () => 7],
  ['that is an array of it', (token) => [token]],
  ['missing', () => undefined],
]

describe.each(places)('an approval (%s)', (_, place) => {
  test.each(forgeries)('is refused with a token %s, and the right one is still of use', async (__, forge) => {
    const { inputs, open } = house(place())
    const executor = open()
    const token = await asked(executor)
    const other = await asked(executor, 'guarded', { to: 'eve' })
    await expect(executor.calls.decide(forge(token, other) as string, 'allow')).rejects.toMatchObject(invalid)
    expect(inputs).toEqual([])
    expect((await executor.calls.decide(token, 'allow')).status).toBe('ok')
    expect(inputs).toEqual([{ to: 'ada' }])
  })

  test('is refused from another session, also while the right session answers', async () => {
    const { inputs, open } = house(place())
    const [one, other] = [open(), open()]
    const token = await asked(one)
    const wrong = Array.from({ length: 10 }, () => other.calls.decide(token, 'allow', { session: 'other' }))
    const right = one.calls.decide(token, 'allow', { session: 's' })
    for (const attempt of await Promise.allSettled(wrong)) {
      expect(attempt).toMatchObject({ status: 'rejected', reason: invalid })
    }
    expect((await right).status).toBe('ok')
    expect(inputs).toHaveLength(1)
  })

  test('is refused with the token of another journal', async () => {
    const mine = house(place())
    const theirs = house(place())
    const token = await asked(theirs.open())
    await expect(mine.open().calls.decide(token, 'allow')).rejects.toMatchObject(invalid)
    expect([...mine.inputs, ...theirs.inputs]).toEqual([])
  })

  test('is of use once: not again, not after a restart, and not for the opposite', async () => {
    const { inputs, open } = house(place())
    const token = await asked(open())
    expect((await open().calls.decide(token, 'allow')).status).toBe('ok')
    for (const decision of ['allow', 'deny'] as const) {
      await expect(open().calls.decide(token, decision)).rejects.toMatchObject(invalid)
    }
    expect(inputs).toHaveLength(1)
  })

  test('cannot follow a denial', async () => {
    const { inputs, open } = house(place())
    const executor = open()
    const token = await asked(executor)
    expect((await executor.calls.decide(token, 'deny')).status).toBe('denied')
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject(invalid)
    expect(inputs).toEqual([])
  })

  test('that is given twenty times at once, in two executors, runs the call once', async () => {
    const { inputs, open } = house(place())
    const [one, other] = [open(), open()]
    const token = await asked(open())
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (__, index) => (index % 2 === 0 ? one : other).calls.decide(token, 'allow')),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const each of all) if (each.status === 'rejected') expect(each.reason).toMatchObject(invalid)
    expect(inputs).toHaveLength(1)
  })

  test('that meets a denial at the same time: one of them counts', async () => {
    const { inputs, open } = house(place())
    const executor = open()
    const token = await asked(executor)
    const all = await Promise.allSettled([executor.calls.decide(token, 'deny'), executor.calls.decide(token, 'allow')])
    const settled = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value.status] : []))
    expect(settled).toHaveLength(1)
    expect(inputs).toHaveLength(settled[0] === 'ok' ? 1 : 0)
  })

  test('is of the args that were shown, whatever the caller does to its object meanwhile', async () => {
    const { inputs, open } = house(place())
    const executor = open()
    const args = { to: 'ada', deep: { amount: 1 } }
    const token = await asked(executor, 'guarded', args)
    args.to = 'eve'
    args.deep.amount = 1_000_000
    expect(data(await executor.calls.decide(token, 'allow'))).toEqual({ ran: { to: 'ada', deep: { amount: 1 } } })
    expect(inputs).toEqual([{ to: 'ada', deep: { amount: 1 } }])
  })

  test('asked in process is of the args that were shown, too', async () => {
    const { inputs, open } = house(place())
    const { promise, resolve } = deferred()
    const shown: unknown[] = []
    const approver: Extension = {
      approver: {
        ask: async ({ input }) => {
          shown.push(structuredClone(input))
          Object.assign(input as object, { to: 'mallory' })
          await promise
          return { decision: 'allow' }
        },
      },
    }
    const executor = open([approver])
    const args = { to: 'ada' }
    const running = executor.execute({ name: 'guarded', args })
    await vi.waitFor(() => expect(shown).toEqual([{ to: 'ada' }]))
    args.to = 'eve'
    resolve()
    expect((await running).status).toBe('ok')
    expect(inputs).toEqual([{ to: 'ada' }])
  })

  test('is void once the tool has been defined anew', async () => {
    const { inputs, open, registry } = house(place())
    const executor = open()
    const token = await asked(executor)
    const ran: unknown[] = []
    registry.add(
      work('guarded', (input) => void ran.push(input), { requiresConfirmation: true, description: 'Harmless' }),
      { onCollision: 'replace' },
    )
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject(invalid)
    expect([inputs, ran]).toEqual([[], []])
  })

  test('is void once it has expired', async () => {
    const { inputs, open } = house(place())
    const executor = open()
    const token = await asked(executor)
    const late = Date.now() + 86_400_001
    vi.spyOn(Date, 'now').mockReturnValue(late)
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject({ code: 'E_APPROVAL_EXPIRED' })
    expect(inputs).toEqual([])
  })

  test('is void once the call has been sealed', async () => {
    const { inputs, open } = house(place())
    const executor = open()
    const token = await asked(executor)
    await open().calls.recover({ approvals: 'seal' })
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject(invalid)
    expect(inputs).toEqual([])
  })

  test('does not outweigh a policy that denies meanwhile', async () => {
    const { inputs, open } = house(place())
    let isDenied = false
    const policy: Extension = {
      policies: [{ name: 'turns', decide: () => (isDenied ? { decision: 'deny' } : undefined) }],
    }
    const executor = open([policy])
    const token = await asked(executor)
    isDenied = true
    expect((await executor.calls.decide(token, 'allow')).status).toBe('denied')
    expect(inputs).toEqual([])
  })

  test('goes on with the session, the caller and, in its process, the values of the call', async () => {
    const storage = place()
    const seen: unknown[] = []
    const t = work('t', (__, { session, caller, values }) => void seen.push([session, caller, values]), {
      requiresConfirmation: true,
    })
    const open = (): ToolExecutor => createExecutor({ tools: [t], use: [storage.open()] })
    const options = { session: 's', caller: 'user' as const, values: { tenant: 'y' } }
    const first = open()
    const one = await first.execute({ name: 't' }, options)
    await first.calls.decide(one.token ?? '', 'allow')
    const two = await first.execute({ name: 't' }, options)
    await open().calls.decide(two.token ?? '', 'allow', { values: { tenant: 'z' } })
    expect(seen).toEqual([
      ['s', 'user', { tenant: 'y' }],
      ['s', 'user', { tenant: 'z' }],
    ])
  })

  test('is told of with gap-free numbers, also where another executor goes on', async () => {
    const { open } = house(place())
    const [one, other] = [open(), open()]
    const events = [heard(one), heard(other)]
    const token = await asked(one)
    await other.calls.decide(token, 'allow', { decidedBy: 'ada' })
    const all = events.flat()
    expect(all.map(({ seq }) => seq)).toEqual(all.map((__, index) => index))
    expect(names(all)).toBe('call:received call:waiting call:resumed tool:start tool:end call:settled')
  })
})

describe.each(places)("a client's answer (%s)", (_, place) => {
  test.each(forgeries)('is refused with a token %s, and the right one is still of use', async (__, forge) => {
    const { open } = house(place())
    const executor = open()
    const token = await asked(executor, 'form')
    const other = await asked(executor, 'form', { b: 1 })
    await expect(executor.calls.respond(forge(token, other) as string, 'forged')).rejects.toMatchObject(invalid)
    expect(text(await executor.calls.respond(token, 'mine'))).toBe('mine')
  })

  test('is refused from another session', async () => {
    const { open } = house(place())
    const executor = open()
    const token = await asked(executor, 'form')
    await expect(executor.calls.respond(token, 'x', { session: 'other' })).rejects.toMatchObject(invalid)
    expect((await executor.calls.respond(token, 'x', { session: 's' })).status).toBe('ok')
  })

  test('counts once: of two the first, and of twenty at once a single one', async () => {
    const { open } = house(place())
    const [executor, other] = [open(), open()]
    const token = await asked(executor, 'form')
    expect(text(await executor.calls.respond(token, 'first'))).toBe('first')
    await expect(executor.calls.respond(token, 'second')).rejects.toMatchObject(invalid)
    const another = await asked(executor, 'form')
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (__, index) =>
        (index % 2 === 0 ? executor : other).calls.respond(another, `answer ${index}`),
      ),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('is no result once the client was silent for too long', async () => {
    const { open } = house(place())
    const executor = open()
    const token = await asked(executor, 'form')
    const late = Date.now() + 60_001
    vi.spyOn(Date, 'now').mockReturnValue(late)
    const result = await executor.calls.respond(token, 'late')
    expect(outcome(result)).toBe('timed_out unknown E_CLIENT_TOOL')
    expect(text(result)).not.toContain('late')
    await expect(executor.calls.respond(token, 'later')).rejects.toMatchObject(invalid)
  })

  test('is refused once the call has been sealed', async () => {
    const { open } = house(place())
    const executor = open()
    const token = await asked(executor, 'form')
    await open().calls.recover({ approvals: 'seal' })
    await expect(executor.calls.respond(token, 'x')).rejects.toMatchObject(invalid)
  })

  test('does not go with the token of an approval, and a decision not with that of a client', async () => {
    const { inputs, open } = house(place())
    const executor = open()
    const approval = await asked(executor, 'guarded')
    const client = await asked(executor, 'form')
    await expect(executor.calls.respond(approval, { ran: 'forged' })).rejects.toMatchObject(invalid)
    await expect(executor.calls.decide(client, 'allow')).rejects.toMatchObject(invalid)
    expect(inputs).toEqual([])
    expect((await executor.calls.respond(client, 'x')).status).toBe('ok')
    expect((await executor.calls.decide(approval, 'allow')).status).toBe('ok')
  })
})

describe('what a session keeps', () => {
  test('is given to no other session by the cache', async () => {
    let runs = 0
    const executor = createExecutor({
      tools: [work('t', (__, { session }) => `${session} ${++runs}`, { traits: { readonly: true } })],
      use: [cache()],
    })
    const of = async (session: string, caller: Caller = 'model'): Promise<string> =>
      text(await executor.execute({ name: 't', args: { a: 1 } }, { session, caller }))
    expect([await of('ada'), await of('ada'), await of('eve'), await of('ada', 'user')]).toEqual([
      'ada 1',
      'ada 1',
      'eve 2',
      'ada 3',
    ])
  })

  test('is opened by its handle for no other session', async () => {
    const store = memoryStore()
    const executor = createExecutor({ tools: [work('t', () => 'x'.repeat(50_000))], use: [{ store }] })
    const { handle = '' } = await executor.execute({ name: 't' }, { session: 'ada' })
    expect((await store.open(handle, { session: 'ada' })).byteLength).toBe(50_000)
    for (const forged of [handle, handle.toUpperCase(), `${handle} `, '', '../x', '__proto__']) {
      const opened = async (): Promise<unknown> => store.open(forged, { session: 'eve' })
      await expect(opened(), forged).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    }
  })
})

test('a tool that a caller may not see is not there: in words, events and records', async () => {
  const use = memoryJournal()
  let runs = 0
  const executor = createExecutor({
    tools: [
      work('for_user', () => ++runs, { audience: 'user', aliases: ['other_name'] }),
      work('for_app', () => ++runs, { mcpConfig: { serverName: 'x' }, ui: { visibility: ['app'] } }),
    ],
    use: [use],
  })
  const seen = async (name: string, caller: Caller): Promise<unknown> => {
    const { invocationId, content, error, callId, effect } = await executor.execute(
      { name, args: { a: 1 } },
      { caller },
    )
    const { name: named, state, callId: recorded } = await recordIn(use, invocationId)
    const words = JSON.stringify([content, error?.code, error?.recommendations, callId, effect, named, state, recorded])
    return words.replaceAll(name, 'NAME')
  }
  const unknown = await seen('no_such_tool', 'model')
  for (const name of ['for_user', 'other_name', 'for_app']) expect(await seen(name, 'model'), name).toBe(unknown)
  const unknownToApp = await seen('no_such_tool', { app: 'y' })
  for (const name of ['for_user', 'for_app']) expect(await seen(name, { app: 'y' }), name).toBe(unknownToApp)
  expect(runs).toBe(0)
})

const canary = 'canary-4f1c'

describe.each(places)('a secret (%s)', (_, place) => {
  interface Seen {
    readonly everything: string
    readonly results: readonly ToolResult[]
  }

  async function everythingOf(handler: () => unknown, options: object, args: unknown): Promise<Seen> {
    const storage = place()
    const mounted = storage.open()
    const lines: string[] = []
    const observers = [
      consoleObserver({ write: (line) => void lines.push(line) }),
      consoleObserver({ write: (line) => void lines.push(line), format: 'json' }),
    ]
    const executor = createExecutor({
      tools: [
        work('t', handler, { secrets: ['/password', '/deep/token'], ...options }),
        work('asks', handler, { secrets: ['/password', '/deep/token'], requiresConfirmation: true, ...options }),
      ],
      use: [mounted, ...observers],
      report: () => {},
    })
    const events = heard(executor)
    const results: ToolResult[] = []
    for (const name of ['t', 'asks', 't']) {
      const result = await executor.execute({ name, args }, { session: 's', values: { key: canary } })
      results.push(result)
      if (result.token !== undefined) results.push(await executor.calls.decide(result.token, 'allow'))
    }
    results.push(await executor.execute({ name: 't', args: `${JSON.stringify(args)} ` }))
    const records = await Promise.all(results.map(({ invocationId }) => recordIn(mounted, invocationId)))
    const snapshots = await Promise.all(results.map(({ invocationId }) => executor.calls.get(invocationId)))
    await executor.close()
    const files =
      storage.file === undefined
        ? []
        : readdirSync(dirname(storage.file)).map((name) =>
            readFileSync(join(dirname(storage.file ?? ''), name), 'latin1'),
          )
    const shown = results.map(({ content, error, token: __, ...rest }) => [content, error?.toJSON(), rest])
    expect(files.length).toBe(storage.file === undefined ? 0 : 1)
    return { everything: [JSON.stringify([events, records, snapshots, shown]), ...lines, ...files].join('\n'), results }
  }

  const args = { password: canary, deep: { token: canary, other: 'kept' } }

  test('in args is in no event, record, file, log and content', async () => {
    const { everything, results } = await everythingOf(() => 'done', {}, args)
    expect(results.map(({ status }) => status)).toEqual(['ok', 'waiting', 'ok', 'ok', 'ok'])
    expect(everything).toContain('kept')
    expect(everything).not.toContain(canary)
  })

  test('in args that do not fit is in no event, record, file, log and content', async () => {
    const inputSchema = {
      type: 'object',
      properties: {
        password: { const: 'right' },
        deep: { type: 'object', properties: { token: { type: 'number' } } },
      },
    }
    const { everything, results } = await everythingOf(() => 'done', { inputSchema }, args)
    expect(new Set(results.map(({ error }) => error?.code))).toEqual(new Set(['E_INVALID_TOOL_ARGS']))
    expect(everything).not.toContain(canary)
  })

  test('in the stack and the cause of an error is in no event, record, file, log and content', async () => {
    const handler = (): never => {
      const error = new Error('refused', { cause: new Error(canary) })
      error.stack = `Error: refused\n    at ${canary} (/home/${canary}.js:1:1)`
      throw Object.assign(error, { config: { headers: { authorization: canary } } })
    }
    const { everything, results } = await everythingOf(handler, {}, {})
    expect(results.filter(({ error }) => error?.code === 'E_TOOL_DOWNSTREAM_ERROR').length).toBeGreaterThan(2)
    expect(everything).not.toContain(canary)
  })

  test('of the environment is in no event, record, file, log and content', async () => {
    vi.stubEnv('API_KEY', canary)
    const { everything } = await everythingOf(
      () => {
        throw new Error('no key')
      },
      {},
      { a: 1 },
    )
    vi.unstubAllEnvs()
    expect(everything).not.toContain(canary)
  })

  class User {
    password = canary
    deep = { toJSON: () => ({ token: canary, other: 'kept' }) }
  }
  test.each<[string, () => unknown]>([
    ['a plain object', () => ({ password: canary, deep: { token: canary, other: 'kept' } })],
    ['an instance', () => new User()],
    ['what makes JSON of itself', () => ({ toJSON: () => Object.assign({}, new User()) })],
    ['marked JSON', () => json(new User())],
    ['content', () => contentOf([{ type: 'json', data: new User() }])],
    ['an object that is too large to be shown', () => Object.assign(new User(), { more: 'x'.repeat(50_000) })],
  ])('in a result is in no event, record, file, log and content: %s', async (__, handler) => {
    const { everything, results } = await everythingOf(handler, {}, { a: 1 })
    expect(results.map(({ status }) => status)).toEqual(['ok', 'waiting', 'ok', 'ok', 'ok'])
    for (const { artifact } of results) {
      const all = (await artifact?.asString()) ?? 'kept'
      expect(all).toContain('kept')
      expect(all).not.toContain(canary)
    }
    expect(everything).not.toContain(canary)
  })
})

test.each(['readonly', 'idempotent'])('a server that calls its tool %s makes no policy milder', async (trait) => {
  let runs = 0
  const options = { type: 'mcp', mcpConfig: { serverName: 'x' }, traits: { [trait]: true } }
  const executor = createExecutor({
    tools: [work('delete_all', () => ++runs, options)],
    use: [byTraits({ readonly: 'allow', destructive: 'deny', otherwise: 'ask' })],
  })
  expect((await soon(executor.execute({ name: 'delete_all' }))).status).toBe('denied')
  const asking = createExecutor({
    tools: [work('delete_all', () => ++runs, options)],
    use: [byTraits({ readonly: 'allow', otherwise: 'ask' }), cache()],
  })
  expect((await soon(asking.execute({ name: 'delete_all' }))).status).toBe('waiting')
  expect(runs).toBe(0)
})
