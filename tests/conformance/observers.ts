import { anything, assert, constantFrom, property, record, string } from 'fast-check'
import {
  createExecutor,
  tool,
  ToolFailure,
  type Extension,
  type Tool,
  type ToolContext,
  type ToolEvent,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import { describe, expect, test } from 'vitest'
import { flood, requireBoundedEvent } from './_extremes.ts'

export interface Watched<Said = unknown> {
  readonly extension: Extension
  /** Everything that left it so far: lines, or messages. */
  readonly said: readonly Said[]
}

const names = [
  'call:received',
  'call:paused',
  'call:resumed',
  'tool:start',
  'tool:progress',
  'tool:end',
  'call:settled',
] as const

// What a terminal obeys or a reader is deceived by, and what breaks a line.
export const evil = '\u001b[2J\u009b31m\r\n\u0007\u202e\u2066\u2028\ufeff\u{e0041}\ud800"\\'
const escapable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

type Handler = (input: never, context: ToolContext) => unknown

export function toolOf(handler: Handler, options: object = {}): Tool {
  return tool({
    name: 'work',
    description: 'Does what the test says',
    inputSchema: { type: 'object' },
    handler,
    ...options,
  } as never)
}

interface Watching {
  readonly executor: ToolExecutor
  readonly events: readonly ToolEvent[]
  readonly reports: readonly unknown[]
}

export function watching(extension: Extension, ...tools: Tool[]): Watching {
  const events: ToolEvent[] = []
  const reports: unknown[] = []
  const executor = createExecutor({ tools, use: [extension], report: (error) => void reports.push(error) })
  for (const name of names) executor.on(name, (event) => void events.push(event))
  return { executor, events, reports }
}

/** An object of which nothing can be asked without an error. */
function unreadable(): object {
  return new Proxy(
    {},
    new Proxy(
      {},
      {
        get: () => () => {
          throw new Error('unreadable')
        },
      },
    ),
  )
}

function textOf(said: unknown): string {
  return typeof said === 'string' ? said : JSON.stringify(said)
}

/**
 * What every leaf with observers promises. `create` gives a new one; `writesLines` tells whether what it says is text, which
 * then has to be one harmless line of bounded length.
 */
export function observerConformance(
  title: string,
  create: () => Watched,
  { writesLines }: { writesLines: boolean },
): void {
  function heardBy({ extension }: Watched): (event: ToolEvent) => void {
    const [observer] = extension.observers ?? []
    if (observer === undefined) throw new Error('there is no observer')
    return observer
  }

  function requireHarmless(said: readonly unknown[]): void {
    if (!writesLines) return
    for (const line of said) {
      expect(line).toBeTypeOf('string')
      expect(line).not.toMatch(escapable)
      expect(String(line).length).toBeLessThan(20_000)
    }
  }

  describe(`${title} is an observer that`, () => {
    test('says something of every event, and changes no outcome', async () => {
      const handler = async function* (input: unknown, { emit }: ToolContext): AsyncGenerator<unknown, unknown> {
        emit('half', { done: 0.5 })
        yield await Promise.resolve('step')
        return input
      }
      const watched = create()
      const { executor, events, reports } = watching(
        watched.extension,
        toolOf(handler as never, { requiresConfirmation: true }),
      )
      const { token = '' } = await executor.execute({ id: 'call_1', name: 'work', args: { a: 1 } }, { session: 'one' })
      const result = await executor.decide(token, 'allow', { note: 'fine', decidedBy: 'me' })
      expect(result).toMatchObject({ status: 'ok', content: [{ data: { a: 1 } }] })
      expect(new Set(events.map(({ event }) => event))).toEqual(new Set(names))
      expect(watched.said.length).toBe(events.length)
      events.forEach(({ event, invocationId }, index) => {
        expect(textOf(watched.said[index])).toContain(event)
        expect(textOf(watched.said[index])).toContain(invocationId)
      })
      expect(reports).toEqual([])
      requireHarmless(watched.said)
    })

    test('is told of no event above 1 MiB beside its args, whatever comes in', async () => {
      const watched = create()
      const events = await flood([watched.extension])
      expect(new Set(events.map(({ event }) => event))).toEqual(new Set(names))
      events.forEach(requireBoundedEvent)
      expect(watched.said.length).toBe(events.length)
      requireHarmless(watched.said)
    })

    test('leaves the token of a call that waits out', async () => {
      const watched = create()
      const { executor } = watching(
        watched.extension,
        toolOf(() => 'done', { requiresConfirmation: true }),
      )
      const { token = '', status } = await executor.execute({ name: 'work' })
      expect(status).toBe('pending')
      expect(watched.said.map(textOf).join('\n')).toContain('call:paused')
      expect(watched.said.map(textOf).join('\n')).not.toContain(token)
      expect(watched.said.map(textOf).join('\n')).not.toContain('token')
    })

    test('says nothing of an event that could harm whoever reads it, and never throws', async () => {
      const watched = create()
      const { executor, events, reports } = watching(
        watched.extension,
        toolOf((_, { emit }) => {
          emit(evil, { [evil]: evil })
          throw new ToolFailure(evil, { recommendations: [evil] })
        }),
        toolOf(() => 'done', { name: 'asks', requiresConfirmation: true, confirmationMessage: evil }),
      )
      const session = evil
      const results: ToolResult[] = [
        await executor.execute({ id: evil, name: 'work', args: { a: evil.replace('\ud800', '') } }, { session }),
        await executor.execute({ name: 'work', args: evil }, { session }),
        await executor.execute({ name: evil, args: { [evil]: evil } }, { session, invocationId: evil }),
        await executor.execute({ name: 'work', args: unreadable() }),
        await executor.execute({ name: 'asks' }, { session }),
      ]
      const { token = '' } = results[4] ?? {}
      results.push(await executor.decide(token, 'deny', { note: evil, decidedBy: evil }))
      expect(results.map(({ status }) => status)).toEqual(['error', 'error', 'error', 'error', 'pending', 'denied'])
      expect(reports).toEqual([])
      expect(watched.said.length).toBe(events.length)
      events.forEach(({ event }, index) => expect(textOf(watched.said[index])).toContain(event))
      requireHarmless(watched.said)
    })

    test('does not break on progress of any kind, however large', async () => {
      const circle: unknown[] = []
      circle.push(circle)
      let deep: unknown = 'deep'
      for (let depth = 0; depth < 20_000; depth++) deep = { deep }
      const progress = [
        circle,
        deep,
        unreadable(),
        Array.from({ length: 200_000 }, () => ({ a: 'b' })),
        'x'.repeat(10_000_000),
        { ['k'.repeat(1_000_000)]: 1 },
        Object.assign([], { length: 4_000_000_000 }),
        5n,
        Symbol('a'),
        () => {},
        undefined,
        Number.NaN,
        new Error(evil),
        new Date(Number.NaN),
        new Uint8Array(1_000_000),
        new Map([[1, 2]]),
        Object.create(null),
        {
          toJSON: () => {
            throw new Error('no')
          },
        },
      ]
      const watched = create()
      const { executor, events, reports } = watching(
        watched.extension,
        toolOf((_, { emit }) => progress.forEach((data) => emit('step', data))),
      )
      await executor.execute({ name: 'work' })
      expect(watched.said.length).toBe(events.length)
      expect(events.length).toBe(progress.length + 4)
      expect(reports).toEqual([])
      requireHarmless(watched.said)
    })

    test('does not throw on any event, not even on one that is none, and changes nothing of it', () => {
      const watched = create()
      const observer = heardBy(watched)
      const event = record({
        event: constantFrom(...names),
        toolName: string(),
        invocationId: string(),
        session: string(),
        token: constantFrom('the token'),
        ...Object.fromEntries(
          ['callId', 'seq', 'timestamp', 'args', 'input', 'data', 'type', 'error', 'result', 'meta', 'prompt'].map(
            (field) => [field, anything()],
          ),
        ),
        status: anything(),
        durationMs: anything(),
      })
      assert(
        property(event, (given) => {
          const before = { ...given }
          observer(Object.freeze(given) as unknown as ToolEvent)
          expect(Object.entries(given)).toEqual(Object.entries(before))
        }),
      )
      expect(
        watched.said.map((said) => (typeof said === 'string' ? said : Object.keys(said as object).join())).join(),
      ).not.toMatch(/the token|,token,/)
      requireHarmless(watched.said)
    })
  })
}
