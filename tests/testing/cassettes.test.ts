import { readFileSync, statSync } from 'node:fs'
import {
  artifact,
  bytes,
  clientTool,
  createExecutor,
  JsonArtifact,
  SpooledArtifact,
  TextArtifact,
  tool,
  ToolFailure,
  type Extension,
  type ToolExecutor,
  type ToolLike,
  type ToolResult,
} from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { retry } from 'toolwright/middleware/retry'
import {
  cassette,
  cassetteOf,
  writeCassette,
  type CassetteOptions,
  type RecordedCall,
  type Tape,
} from 'toolwright/testing/cassettes'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { filesOf, runWithTape, tapeFolder, thrownWords } from './_tapes.ts'
import { callsOf, canary, plainText, World } from './_world.ts'

const newPath = tapeFolder()
const numbered = z.object({ n: z.number() })

/** Records with one executor, and replays with another. Returns what both gave, without ids and times. */
async function twice<Value>(
  tools: () => readonly ToolLike[],
  work: (executor: ToolExecutor, tape: Tape) => Promise<Value>,
  options: CassetteOptions = {},
  ...use: readonly Extension[]
): Promise<{ readonly recorded: Value; readonly replayed: Value; readonly path: string; readonly tape: Tape }> {
  const path = newPath()
  const run = async (mode: 'record' | 'replay'): Promise<{ readonly value: Value; readonly tape: Tape }> => {
    const tape = cassette(path, { mode, strict: true, ...options })
    const executor = createExecutor({ tools: tools(), use: [...use, tape], report: () => {} })
    const value = await work(executor, tape)
    await executor.close()
    return { value, tape }
  }
  const { value: recorded } = await run('record')
  const { value: replayed, tape } = await run('replay')
  tape.verify()
  return { recorded, replayed, path, tape }
}

const textOf = async (result: ToolResult): Promise<string> =>
  `${plainText(result)} ${await result.artifact?.asString()} ${result.artifact?.kind}`

/** A stream, by the type of what a handler may return. */
const streaming = (pieces: () => AsyncIterator<unknown>) =>
  ({ [Symbol.asyncIterator]: pieces }) as unknown as ReadableStream

it('a tape is written of calls, and calls are read of a journal and a session, and of nothing else', async () => {
  const code = 'E_INVALID_CONFIGURATION'
  await expect(writeCassette(undefined as never, [])).rejects.toMatchObject({ code })
  await expect(writeCassette('tape.jsonl', undefined as never)).rejects.toMatchObject({ code })
  const read = (...args: unknown[]): Promise<unknown> => cassetteOf(...(args as [never, never])).next()
  await expect(read()).rejects.toMatchObject({ code })
  await expect(read('calls.db', { session: 'a' })).rejects.toMatchObject({ code })
  await expect(read(memoryJournal())).rejects.toMatchObject({ code })
})

describe('a tape of all kinds of tools', () => {
  it('replays 1,107 calls with no handler, the same results and the same events', async () => {
    const path = newPath()
    const world = new World()
    const calls = callsOf(1_000)
    const recorded = await runWithTape(path, { mode: 'record' }, world.tools(), calls)
    expect(Object.keys(world.ran)).toHaveLength(14)
    expect(recorded.events.length).toBeGreaterThan(1_100)
    const other = new World()
    const replayed = await runWithTape(path, { mode: 'replay', strict: true }, other.tools(), calls)
    expect(other.ran).toEqual({})
    expect(replayed.results).toEqual(recorded.results)
    expect(replayed.events).toEqual(recorded.events)
    replayed.tape.verify()

    const files = filesOf(path)
    expect(files.length).toBeGreaterThan(100)
    expect(files.filter((file) => readFileSync(file, 'latin1').includes(canary))).toEqual([])
    const size = files.reduce((sum, file) => sum + statSync(file).size, 0)
    expect(size).toBeLessThanOrEqual(1.2 * heldBytes(replayed.tape.recorded, files.slice(1)))
  })

  /** The bytes of what the tape holds: args, what handlers did and gave, answers, and what models were told. */
  function heldBytes(calls: readonly RecordedCall[], files: readonly string[]): number {
    const texts = calls.map(({ args, attempts, answers, content, result, code, status, effect, tool: name, callId }) =>
      JSON.stringify([args, attempts, answers, content, result, code, status, effect, name, callId]),
    )
    return [...texts.map(({ length }) => length), ...files.map((file) => statSync(file).size)].reduce(
      (a, b) => a + b,
      0,
    )
  }
})

describe('a replay', () => {
  const failing = (make: () => unknown) =>
    tool({
      name: 'fails',
      description: 'Fails',
      handler: () => {
        throw make()
      },
    })

  it.each<readonly [string, () => unknown]>([
    ['an error with a status', () => Object.assign(new Error('slow down'), { status: 429 })],
    [
      'a network failure',
      () => new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED', port: 1 }) }),
    ],
    ['advice', () => new ToolFailure('no', { recommendations: ['Wait.'], retryable: true })],
    ['a failure that has changed nothing', () => new ToolFailure('refused', { effect: 'none', category: 'auth' })],
    ['a text', () => 'a text'],
    ['nothing', () => undefined],
    ['an object', () => ({ message: 'm', name: 'n' })],
    [
      'what throws when it is read',
      () =>
        Object.defineProperty({}, 'message', {
          get: () => {
            throw new Error('x')
          },
        }),
    ],
  ])('fails with %s, as the handler did', async (_name, make) => {
    const work = async (executor: ToolExecutor): Promise<string> => {
      const result = await executor.execute({ name: 'fails' })
      return plainText([result, result.error?.retryable, result.error?.category])
    }
    const { recorded, replayed } = await twice(() => [failing(make)], work)
    expect(replayed).toBe(recorded)
  })

  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  it.each<readonly [string, () => unknown]>([
    ['a date', () => ({ at: new Date(0), no: new Date(Number.NaN) })],
    ['nothing', () => undefined],
    ['an undefined member', () => ({ a: undefined, b: 1 })],
    ['a big integer', () => ({ n: 10n })],
    ['not a number', () => [Number.NaN]],
    ['a map', () => ({ map: new Map([[1, 2]]) })],
    ['a function', () => ({ run: () => 1 })],
    ['a cycle', () => cyclic],
    ['a member named $', () => ({ $: 'date', is: 'x' })],
    ['a member named __proto__', () => JSON.parse('{"a":{"__proto__":1}}') as unknown],
    ['half a character', () => `a${'\ud800'.repeat(20_000)}`],
    ['a long text', () => 'é'.repeat(20_000)],
    ['large JSON', () => Array.from({ length: 5_000 }, (_, n) => ({ n }))],
    [
      'what throws when it is read',
      () =>
        Object.defineProperty({}, 'a', {
          enumerable: true,
          get: () => {
            throw new Error('x')
          },
        }),
    ],
    ['a buffer', () => new Uint8Array([1, 2, 255]).buffer],
    [
      'an iterable of text',
      () => ({
        async *[Symbol.asyncIterator]() {
          yield 'a\ud83d'
          yield '\ude00b'
        },
      }),
    ],
    [
      'text and bytes',
      () => ({
        async *[Symbol.asyncIterator]() {
          yield 'a'
          yield new Uint8Array([98])
        },
      }),
    ],
    [
      'a stream that fails',
      () => ({
        async *[Symbol.asyncIterator]() {
          yield 'a'
          throw new Error('torn')
        },
      }),
    ],
    ['bytes of a media type', () => bytes(new Uint8Array([37, 80]), { mediaType: 'application/pdf' })],
  ])('gives %s, as the handler did', async (_name, make) => {
    const gives = tool({ name: 'gives', description: 'Gives', handler: () => make() as string })
    const { recorded, replayed } = await twice(
      () => [gives],
      async (executor) => textOf(await executor.execute({ name: 'gives' })),
    )
    expect(replayed).toBe(recorded)
  })

  it('gives artifacts of their classes, of the tool’s own too', async () => {
    class Log extends TextArtifact {
      static override readonly kind = 'log'
    }
    const source = (text: string) => ({
      reader: { byteLength: text.length, read: (a: number, b: number) => new TextEncoder().encode(text).slice(a, b) },
    })
    const tools = (): ToolLike[] => [
      tool({ name: 'log', description: 'Logs', artifact: Log, handler: () => new Log(source('a log')) }),
      tool({ name: 'json', description: 'JSON', handler: () => new JsonArtifact(source('{"a":1}')) }),
      tool({
        name: 'large',
        description: 'Large',
        artifact: Log,
        handler: () => new Log(source('line\n'.repeat(10_000))),
      }),
      tool({
        name: 'other',
        description: 'Of no known class',
        handler: () =>
          new (class extends SpooledArtifact {
            static override readonly kind = 'odd'
          })(source('odd')),
      }),
    ]
    const { recorded, replayed } = await twice(tools, async (executor) => {
      const results: string[] = []
      for (const name of ['log', 'json', 'large', 'other']) results.push(await textOf(await executor.execute({ name })))
      return results
    })
    expect(replayed).toEqual(recorded)
    expect(recorded.map((text) => text.split(' ').at(-1))).toEqual(['log', 'json', 'log', 'odd'])
  })

  it('gives equal calls their results in order, however long their validators take', async () => {
    const slowly = numbered.refine(async () => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 8))
      return true
    })
    let ticket = 0
    const tools = (): ToolLike[] => [
      tool({ name: 'pay', description: 'Pays', inputSchema: slowly, handler: ({ n }) => `${n} ${ticket++}` }),
    ]
    const calls = Array.from({ length: 8 }, (_, at) => ({ name: 'pay', args: { n: at % 2 } }))
    const { recorded, replayed } = await twice(tools, async (executor) => {
      const texts: unknown[] = []
      for (let turn = 0; turn < 4; turn++) {
        for (const { content } of await executor.executeToolCalls(calls)) texts.push(content)
      }
      return texts
    })
    expect(recorded).toHaveLength(32)
    expect(replayed).toEqual(recorded)
  })

  it('answers for people and clients, each as they did', async () => {
    let wired = 0
    const tools = (): ToolLike[] => [
      clientTool({ name: 'pick', description: 'Picks', inputSchema: numbered, requiresResponse: true }),
      tool({
        name: 'wire',
        description: 'Wires',
        requiresConfirmation: true,
        inputSchema: numbered,
        handler: ({ n }) => `wired ${n} ${wired++}`,
      }),
    ]
    let isRecorded = false
    const { recorded, replayed, tape } = await twice(tools, async (executor, { answer }) => {
      const texts: string[] = []
      executor.on('*', (event) => texts.push(plainText(event)))
      if (isRecorded) answer(executor)
      const settle = async (name: string, n: number, reply: (token: string) => Promise<ToolResult>): Promise<void> => {
        const result = await executor.execute({ name, args: { n } })
        texts.push(plainText(isRecorded ? await executor.calls.settled(result) : await reply(result.token ?? '')))
      }
      for (let n = 0; n < 3; n++) {
        await settle('pick', n, (token) => executor.calls.respond(token, { file: `f${n}` }))
        const decision = n === 1 ? 'deny' : 'allow'
        const edited = n === 2 ? { editedArgs: { n: 20 } } : {}
        await settle('wire', n, (token) =>
          executor.calls.decide(token, decision, { note: 'mind it', decidedBy: 'ada', ...edited }),
        )
      }
      isRecorded = true
      return texts
    })
    expect(replayed).toEqual(recorded)
    expect(wired).toBe(2)
    expect(tape.recorded.at(-1)).toMatchObject({ args: { n: 2 }, answers: [{ args: { n: 20 }, note: 'mind it' }] })
  })

  it('misses a call whose args a person edited otherwise', async () => {
    const path = newPath()
    const wire = tool({
      name: 'wire',
      description: 'Wires',
      requiresConfirmation: true,
      inputSchema: numbered,
      handler: ({ n }) => `wired ${n}`,
    })
    const run = async (mode: 'record' | 'replay', n: number): Promise<Tape> => {
      const tape = cassette(path, { mode })
      const executor = createExecutor({ tools: [wire], use: [tape] })
      const { token } = await executor.execute({ name: 'wire', args: { n: 1 } })
      await executor.calls.decide(token ?? '', 'allow', { editedArgs: { n } })
      await executor.close()
      return tape
    }
    await run('record', 2)
    expect(thrownWords((await run('replay', 2)).verify)).toBe('')
    expect(thrownWords((await run('replay', 3)).verify)).toMatch(/was edited to other args/)
  })

  it('says how to record a tape that has no calls', async () => {
    const wire = tool({ name: 'wire', description: 'Wires', handler: () => 'wired' })
    const tape = cassette(newPath(), { mode: 'replay' })
    await createExecutor({ tools: [wire], use: [tape] }).execute({ name: 'wire' })
    expect(thrownWords(tape.verify)).toMatch(
      /wire\(\{\}\) was not recorded\. The cassette has no calls: record it \(`mode`/,
    )
  })

  it('says that a call waits which was answered when it was recorded', async () => {
    const path = newPath()
    const wire = tool({ name: 'wire', description: 'Wires', requiresConfirmation: true, handler: () => 'wired' })
    const recording = createExecutor({ tools: [wire], use: [cassette(path, { mode: 'record' })] })
    const { token } = await recording.execute({ name: 'wire' })
    await recording.calls.decide(token ?? '', 'allow')
    await recording.close()
    const tape = cassette(path, { mode: 'replay' })
    await createExecutor({ tools: [wire], use: [tape] }).execute({ name: 'wire' })
    expect(thrownWords(tape.verify)).toMatch(/wire\(\{\}\) is waiting, and was recorded as ok/)
  })

  it('ends a call at once that took too long, and tells the same', async () => {
    const slow = tool({ name: 'slow', description: 'Slow', timeout: 20, handler: () => new Promise<never>(() => {}) })
    const late = tool({
      name: 'late',
      description: 'Streams too long',
      timeout: 20,
      handler: () =>
        streaming(async function* () {
          yield 'a'
          await new Promise(() => {})
        }),
    })
    const { recorded, replayed } = await twice(
      () => [slow, late],
      async (executor) => [
        await textOf(await executor.execute({ name: 'slow' })),
        await textOf(await executor.execute({ name: 'late' })),
      ],
    )
    expect(replayed).toEqual(recorded)
    expect(recorded[0]).toMatch(/timed_out/)
  })

  it('takes as long as the handler did, if it is asked to', async () => {
    const waits = tool({
      name: 'waits',
      description: 'Waits',
      handler: () => new Promise((resolve) => setTimeout(resolve, 40, 'x')),
    })
    const durations: number[] = []
    await twice(
      () => [waits],
      async (executor) => {
        durations.push((await executor.execute({ name: 'waits' })).durationMs)
      },
      { timing: 'recorded' },
    )
    expect(durations[1]).toBeGreaterThanOrEqual(30)
  })

  it('opens a handle in the session that wrote it, and in no other', async () => {
    const big = tool({ name: 'big', description: 'Gives a lot', handler: () => 'x'.repeat(30_000) })
    const reads = tool({
      name: 'reads',
      description: 'Reads',
      inputSchema: z.object({ log: z.string().transform(artifact(TextArtifact)) }),
      handler: async ({ log }) => `${(await log.asString()).length}`,
    })
    const { recorded, replayed } = await twice(
      () => [big, reads],
      async (executor) => {
        const { handle = '' } = await executor.execute({ name: 'big' }, { session: 'one' })
        const open = async (session: string) =>
          plainText(await executor.execute({ name: 'reads', args: { log: handle } }, { session }))
        return [handle, await open('one'), await open('two')]
      },
    )
    expect(replayed).toEqual(recorded)
    expect(recorded[1]).toContain('30000')
    expect(recorded[2]).toContain('There is no artifact')
  })

  it('stands before the runner of a type of the application’s own', async () => {
    let ran = 0
    const runner: Extension = { runners: [{ type: 'remote', run: () => `far ${ran++}` }] }
    const far = tool({ name: 'far', description: 'Far', type: 'remote' })
    const { recorded, replayed } = await twice(
      () => [far],
      async (executor) => (await executor.execute({ name: 'far' })).content,
      {},
      runner,
    )
    expect(replayed).toEqual(recorded)
    expect(ran).toBe(1)
  })

  it('runs for real what is live', async () => {
    let count = 0
    const live = tool({ name: 'live', description: 'Counts', handler: () => (count++, 'same') })
    await twice(
      () => [live],
      (executor) => executor.execute({ name: 'live' }),
      { live: ({ name }) => name === 'live' },
    )
    expect(count).toBe(2)
  })

  it('is of each retry', async () => {
    let count = 0
    const flaky = tool({
      name: 'flaky',
      description: 'Fails twice',
      traits: { idempotent: true },
      handler: () => {
        if (count++ < 2) throw new ToolFailure('Once more.', { retryable: true })
        return `after ${count}`
      },
    })
    const { recorded, replayed, tape } = await twice(
      () => [flaky],
      async (executor) => (await executor.execute({ name: 'flaky' })).content,
      {},
      retry({ delay: 0 }),
    )
    expect(replayed).toEqual(recorded)
    expect(tape.recorded[0]?.attempts).toHaveLength(3)
  })
})

describe('a tape has no secret', () => {
  const secret = `${canary}-1234`
  const login = (give: (password: string) => unknown) =>
    tool({
      name: 'login',
      description: 'Logs in',
      secrets: ['/password'],
      inputSchema: z.object({ password: z.string() }),
      handler: ({ password }) => give(password) as string,
    })

  it.each<readonly [string, (password: string) => unknown]>([
    ['a text', (password) => `with ${password}`],
    ['JSON', (password) => ({ [password]: { password, text: `x ${password}` } })],
    ['bytes', (password) => new TextEncoder().encode(`with ${password}`)],
    ['a stream', (password) => new Blob([`with ${password}`]).stream()],
    ['a long stream', (password) => new Blob([`with ${password}\n`.repeat(5_000)]).stream()],
    ['an error', (password) => Promise.reject(new TypeError(`with ${password}`))],
    ['advice', (password) => Promise.reject(new ToolFailure('no', { recommendations: [`not ${password}`] }))],
    [
      'steps',
      async function* (password) {
        yield { password }
        return password
      },
    ],
  ])('in %s', async (_name, give) => {
    const { path } = await twice(
      () => [login(give)],
      (executor) => executor.execute({ name: 'login', args: { password: secret } }),
    )
    expect(filesOf(path).filter((file) => readFileSync(file, 'latin1').includes(canary))).toEqual([])
  })

  it('nor what the application redacts, in lines and in files', async () => {
    const mail = tool({
      name: 'mail',
      description: 'Mails',
      inputSchema: z.object({ to: z.string() }),
      handler: ({ to }) => `to ${to} ${'x'.repeat(to.startsWith('l') ? 20_000 : 1)}`,
    })
    const redact = (text: string): string => text.replaceAll(/\w+@\w+\.\w+/g, '(mail)')
    const { path, tape } = await twice(
      () => [mail],
      async (executor) => {
        await executor.execute({ name: 'mail', args: { to: 'ada@example.org' } })
        const { handle } = await executor.execute({ name: 'mail', args: { to: 'long@example.org' } })
        return handle
      },
      { redact },
    )
    expect(filesOf(path).filter((file) => readFileSync(file, 'utf8').includes('example.org'))).toEqual([])
    expect(tape.recorded.map(({ args }) => args)).toEqual([{ to: '(mail)' }, { to: '(mail)' }])
  })

  it('and says so if what redacts makes no JSON', async () => {
    const tape = cassette(newPath(), { mode: 'record', redact: (text) => text.replaceAll('"', '') })
    const now = tool('now', () => '12:00')
    await createExecutor({ tools: [now], use: [tape] }).execute({ name: 'now' })
    await expect(tape.save()).rejects.toThrow(/`redact` of a cassette made a line that is no JSON/)
  })
})

describe('the mode', () => {
  const now = (give: () => string) =>
    tool({ name: 'now', description: 'Tells the time', inputSchema: numbered, handler: give })
  const call = async (tape: Tape, give: () => string, n = 1): Promise<ToolResult> => {
    const executor = createExecutor({ tools: [now(give)], use: [tape] })
    const result = await executor.execute({ name: 'now', args: { n } })
    await executor.close()
    return result
  }

  it('is to record what is not there, and to replay what is', async () => {
    vi.stubEnv('CI', '')
    vi.stubEnv('TOOLWRIGHT_CASSETTES', '')
    const path = newPath()
    expect(await call(cassette(path), () => 'one')).toMatchObject({ value: 'one' })
    expect(await call(cassette(path), () => 'two')).toMatchObject({ value: 'one' })
    vi.unstubAllEnvs()
  })

  it('is to replay where CI is set, so that a test without a tape fails', async () => {
    vi.stubEnv('CI', 'true')
    vi.stubEnv('TOOLWRIGHT_CASSETTES', undefined)
    const tape = cassette(newPath())
    expect(await call(tape, () => 'one')).toMatchObject({
      status: 'error',
      content: [{ text: expect.stringMatching(/was not recorded/) }],
    })
    expect(() => tape.verify()).toThrow(/was not recorded/)
    expect(() => cassette(newPath(), { onMiss: 'run' })).toThrow(/would call real tools where CI is set/)
    vi.unstubAllEnvs()
  })

  it('is what the environment says', async () => {
    const path = newPath()
    await call(cassette(path, { mode: 'record' }), () => 'one')
    vi.stubEnv('TOOLWRIGHT_CASSETTES', 'record')
    await call(cassette(path), () => 'two')
    vi.stubEnv('TOOLWRIGHT_CASSETTES', 'recrod')
    expect(() => cassette(path)).toThrow(
      'TOOLWRIGHT_CASSETTES is "recrod". Set it to one of record, replay, append, off.',
    )
    vi.unstubAllEnvs()
    expect(await call(cassette(path, { mode: 'replay' }), () => 'three')).toMatchObject({ value: 'two' })
  })

  it('append keeps what is there, and adds what is not', async () => {
    const path = newPath()
    await call(cassette(path, { mode: 'record' }), () => 'one')
    expect(await call(cassette(path, { mode: 'append' }), () => 'two')).toMatchObject({ value: 'one' })
    expect(await call(cassette(path, { mode: 'append' }), () => 'x'.repeat(20_000), 2)).toMatchObject({ status: 'ok' })
    const tape = cassette(path, { mode: 'replay' })
    expect(tape.recorded.map(({ args }) => args)).toEqual([{ n: 1 }, { n: 2 }])
    expect((await call(tape, () => 'three', 2)).artifact?.byteLength()).toBe(20_000)
  })

  it('off runs handlers, and writes nothing', async () => {
    const path = newPath()
    const tape = cassette(path, { mode: 'off' })
    expect(await call(tape, () => 'one')).toMatchObject({ value: 'one' })
    tape.verify()
    expect(() => statSync(path)).toThrow(/ENOENT/)
  })

  it('run lets a missed call run, and tells of it', async () => {
    vi.stubEnv('CI', '')
    const path = newPath()
    await call(cassette(path, { mode: 'record' }), () => 'one')
    const tape = cassette(path, { mode: 'replay', onMiss: 'run' })
    expect(await call(tape, () => 'two', 2)).toMatchObject({ value: 'two' })
    expect(tape.misses).toMatchObject([expect.stringMatching(/^now\(\{"n":2\}\) was not recorded/)])
    vi.unstubAllEnvs()
  })

  it('record refuses a second tape on the same file until the first is saved', async () => {
    const path = newPath()
    const first = cassette(path, { mode: 'record' })
    expect(() => cassette(path, { mode: 'record' })).toThrow(/is being recorded already/)
    expect(() => cassette(path, { mode: 'replay' })).toThrow(/is being recorded already/)
    await call(first, () => 'one')
    expect(cassette(path, { mode: 'replay' }).recorded).toHaveLength(1)
  })

  it('record anew deletes the files that no call names any more', async () => {
    const path = newPath()
    await call(cassette(path, { mode: 'record' }), () => 'a'.repeat(20_000))
    expect(filesOf(path)).toHaveLength(2)
    await call(cassette(path, { mode: 'record' }), () => 'short')
    expect(filesOf(path)).toHaveLength(1)
  })
})
