import { clientTool, createExecutor, tool, type ToolEvent } from 'toolwright'
import { has, never, refused, same, wait, words } from '../_assert.ts'
import type { Case } from '../run.ts'

const asked = { name: 't', description: 'Needs a person', requiresConfirmation: true, handler: () => 'done' } as const

/** Counts how many runs there are at a time. */
function counting(): { readonly most: () => number; readonly run: () => Promise<number> } {
  let now = 0
  let most = 0
  const run = async (): Promise<number> => {
    most = Math.max(most, ++now)
    await wait(1)
    return now--
  }
  return { most: () => most, run }
}

const time: readonly Case[] = [
  {
    name: 'time: a deadline releases the caller',
    async run() {
      const executor = createExecutor({ timeout: 40, tools: [tool('hang', () => never)] })
      const { status, effect, error } = await executor.execute({ name: 'hang' })
      same([status, effect, error?.code], ['timed_out', 'unknown', 'E_TOOL_TIMEOUT'])
    },
  },
  {
    name: 'time: the deadline of each call is its own',
    async run() {
      const tools = [tool('hang', () => never), tool('quick', async () => 'ok')]
      const executor = createExecutor({ timeout: 200, tools })
      const statuses = []
      for (const name of ['quick', 'hang', 'quick', 'hang']) statuses.push((await executor.execute({ name })).status)
      same(statuses, ['ok', 'timed_out', 'ok', 'timed_out'])
    },
  },
  {
    name: 'time: the caller gives a call up, and its handler hears of it',
    async run() {
      const caller = new AbortController()
      let heard = false
      const hang = tool('hang', (_: object, { signal }) => {
        signal.addEventListener('abort', () => (heard = true))
        return never
      })
      const running = createExecutor({ tools: [hang] }).execute({ name: 'hang' }, { signal: caller.signal })
      await wait(5)
      caller.abort()
      same([(await running).status, heard], ['cancelled', true])
    },
  },
  {
    name: 'time: the progress of a generator, and a stream of events that its caller leaves',
    async run() {
      const count = tool('count', async function* () {
        yield 1
        yield 2
        return 'end'
      })
      const executor = createExecutor({ tools: [count, tool('hang', () => never)] })
      const progress: unknown[] = []
      executor.on('tool:progress', ({ data }) => progress.push(data))
      same([words(await executor.execute({ name: 'count' })), progress], ['end', [1, 2]])
      const events: string[] = []
      const caller = new AbortController()
      for await (const { event } of executor.stream({ name: 'count' }, { signal: caller.signal })) events.push(event)
      same([events[0], events.at(-1)], ['call:received', 'call:settled'])
      const left: ToolEvent[] = []
      for await (const event of executor.stream({ name: 'hang' }, { signal: caller.signal })) {
        left.push(event)
        caller.abort()
      }
      const last = left.at(-1)
      same(last?.event === 'call:settled' && last.status, 'cancelled')
    },
  },
  {
    name: 'time: thirty calls of a turn, three at a time',
    async run() {
      const { most, run } = counting()
      const executor = createExecutor({ tools: [tool('t', run)], concurrency: 3 })
      const results = await executor.executeToolCalls(Array.from({ length: 30 }, () => ({ name: 't' })))
      same([results.length, most()], [30, 3])
    },
  },
  {
    name: 'time: one call of a session at a time',
    async run() {
      const { most, run } = counting()
      const alone = tool({ name: 't', description: 'Runs alone', traits: { concurrent: false }, handler: run })
      const executor = createExecutor({ tools: [alone] })
      const calls = Array.from({ length: 5 }, () => executor.execute({ name: 't' }, { session: 's' }))
      same([(await Promise.all(calls)).map(({ status }) => status).join(), most()], ['ok,ok,ok,ok,ok', 1])
    },
  },
]

export const calls: readonly Case[] = [
  ...time,
  {
    name: 'approvals: a token is of use once',
    async run() {
      const executor = createExecutor({ tools: [tool(asked)] })
      const { status, token = '' } = await executor.execute({ name: 't' })
      const done = await executor.calls.decide(token, 'allow', { decidedBy: 'ada' })
      same([status, done.status, words(done)], ['waiting', 'ok', 'done'])
      same(await refused(() => executor.calls.decide(token, 'allow')), 'E_APPROVAL_INVALID')
    },
  },
  {
    name: 'approvals: an approver in the process, and one that does not answer',
    async run() {
      const ask = async (): Promise<{ decision: 'allow' }> => {
        await wait(3)
        return { decision: 'allow' }
      }
      const quick = createExecutor({ tools: [tool(asked)], use: [{ approver: { ask } }] })
      same((await quick.execute({ name: 't' })).status, 'ok')
      const silent = createExecutor({ tools: [tool(asked)], use: [{ approver: { timeout: 20, ask: () => never } }] })
      same((await silent.execute({ name: 't' })).error?.code, 'E_APPROVAL_EXPIRED')
    },
  },
  {
    name: 'client tools: the client answers',
    async run() {
      const pick = clientTool({ name: 'pick', description: 'Asks the user', requiresResponse: true })
      const executor = createExecutor({ tools: [pick] })
      const { status, token = '' } = await executor.execute({ name: 'pick' })
      same([status, (await executor.calls.respond(token, { ok: 1 })).status], ['waiting', 'ok'])
    },
  },
  {
    name: 'approvals: a wait for the answer that is given up, and one that gets it',
    async run() {
      const executor = createExecutor({ tools: [tool(asked)] })
      const held = await executor.execute({ name: 't' })
      const caller = new AbortController()
      const waiting = refused(() => executor.calls.settled(held, { signal: caller.signal }))
      const other = executor.calls.settled(held, { signal: new AbortController().signal })
      caller.abort()
      same(await waiting, 'E_TOOL_CANCELLED')
      same(await refused(() => executor.calls.settled(held, { signal: caller.signal })), 'E_TOOL_CANCELLED')
      await executor.calls.decide(held.token ?? '', 'allow')
      same((await other).status, 'ok')
    },
  },
  {
    name: 'policies and middleware: denied, retried, cached',
    async run() {
      const { permissions } = await import('toolwright/policies/permissions')
      const { byTraits } = await import('toolwright/policies/by-traits')
      const { budget } = await import('toolwright/policies/budget')
      const { rateLimit } = await import('toolwright/policies/rate-limit')
      const { shadow } = await import('toolwright/policies/shadow')
      const { retry } = await import('toolwright/middleware/retry')
      const { cache } = await import('toolwright/middleware/cache')
      const { truncate } = await import('toolwright/middleware/truncate')
      const { redact } = await import('toolwright/middleware/redact')
      const { consoleObserver } = await import('toolwright/observers/console')
      let runs = 0
      const flaky = tool({
        name: 't',
        description: 'Fails once',
        traits: { readonly: true },
        handler: () => {
          if (++runs === 1) throw Object.assign(new Error('again'), { status: 429 })
          return 'ok'
        },
      })
      const use = [
        permissions({ mode: 'auto', autoDenyTools: ['no'] }),
        retry({ delay: 1 }),
        cache(),
        truncate(),
        redact(),
      ]
      const executor = createExecutor({ tools: [flaky, tool('no', () => 1)], use })
      const statuses = []
      for (const name of ['t', 't', 'no']) statuses.push((await executor.execute({ name }, { session: 's' })).status)
      same([statuses, runs], [['ok', 'ok', 'denied'], 2])
      const leaves = [byTraits, budget, rateLimit, shadow, consoleObserver]
      has(
        leaves.every((leaf) => typeof leaf === 'function'),
        'the other leaves',
      )
    },
  },
  {
    name: 'observers: open-telemetry with its API alone',
    async run() {
      const { openTelemetry, traceMeta } = await import('toolwright/observers/open-telemetry')
      const executor = createExecutor({ tools: [tool('t', () => 'x')], use: [openTelemetry()] })
      same((await executor.execute({ name: 't' })).status, 'ok')
      traceMeta()
    },
  },
]
