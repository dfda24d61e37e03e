// Tools of fourteen kinds, and seeded calls of them, for tapes.
import { createHash } from 'node:crypto'
import {
  content,
  createExecutor,
  json,
  shown,
  tool,
  ToolFailure,
  type Extension,
  type ToolCall,
  type ToolEvent,
  type ToolExecutor,
  type ToolLike,
} from 'toolwright'
import { retry } from 'toolwright/middleware/retry'
import { budget } from 'toolwright/policies/budget'
import { z } from 'zod'

/** Returns numbers from 0 to below 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** What changes between a recording and a replay. */
export interface Changes {
  readonly description?: true
  readonly schema?: true
  readonly trait?: true
  readonly output?: true
  readonly hook?: true
}

const numbered = z.object({ n: z.int() })
const throwing = (error: Error): never => {
  throw error
}

/** Tools whose results differ each time, and how often the handler of each ran. */
export class World {
  readonly ran: Record<string, number> = {}
  #tickets = 0

  /** How many handlers ran. */
  get handlers(): number {
    return Object.values(this.ran).reduce((sum, count) => sum + count, 0)
  }

  readonly #hit = (name: string): number => {
    this.ran[name] = (this.ran[name] ?? 0) + 1
    return this.#tickets++
  }

  tools(changes: Changes = {}): ToolLike[] {
    const hit = this.#hit
    const failures = new Map<number, number>()
    return [
      tool({
        name: 'echo',
        description: changes.description ? 'Echoes it' : 'Echoes',
        inputSchema: changes.schema ? z.object({ n: z.number() }) : numbered,
        traits: { readonly: true },
        handler: ({ n }) => `echo ${n} ${hit('echo')}`,
      }),
      tool({
        name: 'pay',
        description: 'Pays',
        inputSchema: z.object({ to: z.string(), cents: z.int(), note: z.string().optional() }),
        traits: changes.trait ? { readonly: true } : {},
        async handler({ cents }, { emit }) {
          const ticket = hit('pay')
          emit('bank', { asked: cents })
          await Promise.resolve()
          return { paid: cents, ticket }
        },
      }),
      tool({
        name: 'big',
        description: 'Gives a lot',
        inputSchema: numbered,
        handler: ({ n }) => `${'row '.repeat(11_000)}${n} ${hit('big')}`,
      }),
      tool({
        name: 'bytes',
        description: 'Gives bytes',
        inputSchema: numbered,
        handler: ({ n }) =>
          createHash('sha512')
            .update(`${n} ${hit('bytes')}`)
            .digest(),
      }),
      tool({
        name: 'steps',
        description: 'Goes step by step',
        inputSchema: numbered,
        async *handler({ n }, { emit }) {
          const ticket = hit('steps')
          for (let step = 0; step < 3; step++) {
            yield { step, n }
            emit('note', step)
          }
          return json([ticket])
        },
      }),
      tool({
        name: 'stream',
        description: 'Streams',
        inputSchema: numbered,
        handler: ({ n }) => new Blob([`${'line\n'.repeat(n % 2 === 0 ? 5_000 : 5)}${hit('stream')}`]).stream(),
      }),
      tool({
        name: 'broken',
        description: 'Fails',
        inputSchema: numbered,
        handler({ n }) {
          hit('broken')
          if (n % 3 === 2) return { ok: false, error: `returned ${n}` }
          if (n % 3 === 1) return throwing(Object.assign(new TypeError(`type ${n}`), { status: 429 }))
          return throwing(new ToolFailure(`no ${n}`, { recommendations: ['Ask later.'], retryable: true }))
        },
      }),
      tool({
        name: 'flaky',
        description: 'Fails every other time',
        inputSchema: numbered,
        traits: { idempotent: true },
        handler({ n }) {
          const ticket = hit('flaky')
          const count = failures.get(n) ?? 0
          failures.set(n, count + 1)
          return count % 2 === 0 ? throwing(new ToolFailure('Once more.', { retryable: true })) : `got ${n} ${ticket}`
        },
      }),
      tool({
        name: 'marked',
        description: 'Marks its result',
        inputSchema: numbered,
        handler({ n }) {
          const ticket = hit('marked')
          if (n % 2 === 0) return shown('seen', { n, at: new Date(n * 1_000).toISOString(), ticket })
          return content([
            { type: 'text', text: `t ${ticket}` },
            { type: 'resource_link', uri: 'file:///a', name: 'a' },
          ])
        },
      }),
      tool({
        name: 'login',
        description: 'Has a secret',
        secrets: ['/password'],
        inputSchema: z.object({ user: z.string(), password: z.string() }),
        async handler({ user, password }, { emit }) {
          hit('login')
          emit(`as ${password}`, { password })
          if (user === 'u1') throw new ToolFailure(`wrong: ${password}`)
          return { welcome: user, with: password }
        },
      }),
      tool({
        name: 'slow',
        description: 'Is too slow',
        timeout: 15,
        inputSchema: numbered,
        async handler(_args, { signal }) {
          hit('slow')
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          return 1
        },
      }),
      tool({
        name: 'keeps',
        description: 'Keeps something beside its result',
        inputSchema: numbered,
        async handler({ n }, { keep }) {
          const { handle } = await keep(`beside ${n} ${hit('keeps')}`, { mediaType: 'text/plain' })
          return { handle }
        },
      }),
      tool({
        name: 'typed',
        description: 'Has an output schema',
        inputSchema: numbered,
        outputSchema: z.looseObject({ n: changes.output ? z.string() : z.int() }) as z.ZodType<{ n: number }>,
        ...(changes.hook && { hooks: { postToolUse: () => ({ replace: { content: { n: 0, x: 1 } } }) } }),
        handler: ({ n }) => ({ n, now: hit('typed') }),
      }),
      tool({
        name: 'read',
        description: 'Reads an artifact',
        inputSchema: z.object({ handle: z.string() }),
        traits: { readonly: true },
        handler: ({ handle }) => `read ${handle} ${hit('read')}`,
      }),
    ]
  }
}

const names = 'echo pay big bytes steps stream broken flaky marked login keeps typed'.split(' ')
/** What no file of a tape may have. */
export const canary = 'CANARY'

/** Makes calls of all kinds. Every hundredth takes too long. */
export function callsOf(count: number, seed = 7): ToolCall[] {
  const random = seeded(seed)
  return Array.from({ length: count }, (_, at) => {
    if (at % 100 === 99) return { id: `c${at}`, name: 'slow', args: { n: at } }
    const name = names[Math.floor(random() * names.length)] ?? 'echo'
    const n = Math.floor(random() * 40)
    const args =
      name === 'pay'
        ? { to: `p${n}`, cents: n }
        : name === 'login'
          ? { user: `u${n % 4}`, password: `${canary}-${n}-secret` }
          : { n }
    return { id: `c${at}`, name, args }
  })
}

/** Makes an executor with retries and a budget of 75 calls a tool. */
export function executorOf(tools: readonly ToolLike[], ...use: readonly Extension[]): ToolExecutor {
  return createExecutor({
    tools,
    use: [retry({ attempts: 2, delay: 0 }), budget({ calls: 75 }), ...use],
    report: () => {},
  })
}

const varying = new Set([
  'invocationId',
  'timestamp',
  'durationMs',
  'session',
  'digest',
  'expiresAt',
  'token',
  'decidedAt',
])

/** Returns a result or an event as text, without what differs each time: ids and times. */
export function plainText(value: unknown): string {
  return JSON.stringify(value, (name, member: unknown) => (varying.has(name) ? undefined : member))
}

/** What came out of calls. */
export interface Outcomes {
  readonly results: readonly string[]
  /** The events of each call, in order of receipt. */
  readonly events: readonly string[]
}

/** Makes calls in turns of five, and reads each artifact that has a handle by another call. */
export async function runCalls(
  executor: ToolExecutor,
  calls: readonly ToolCall[],
  session = 'main',
): Promise<Outcomes> {
  const byCall = new Map<string, ToolEvent[]>()
  const off = executor.on('*', (event) => {
    const events = byCall.get(event.invocationId) ?? []
    byCall.set(event.invocationId, events)
    events.push(event)
  })
  const results: string[] = []
  for (let at = 0; at < calls.length; at += 5) {
    for (const result of await executor.executeToolCalls(calls.slice(at, at + 5), { session })) {
      const text = await result.artifact?.asString()
      results.push(`${plainText(result)} ${text}`)
      if (result.handle === undefined) continue
      results.push(plainText(await executor.execute({ name: 'read', args: { handle: result.handle } }, { session })))
    }
  }
  off()
  return { results, events: [...byCall.values()].map((events) => events.map(plainText).join('\n')) }
}
