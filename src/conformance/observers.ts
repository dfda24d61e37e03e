/**
 * Tests what every observer promises. They run in vitest.
 *
 * @module
 */
import { describe, expect, test } from 'vitest'
import { ToolFailure, type Extension, type ToolContext, type ToolEvent, type ToolResult } from '../index.ts'
import { hostileTexts, hostileValues } from './_hostile.ts'
import { testTool } from './_tool.ts'
import {
  evil,
  extremes,
  oddFields,
  repairable,
  watchedEvents,
  oddities,
  unreadable,
  watching,
} from './observers/_watching.ts'

/** An observer, and what it has said. */
export interface WatchedObserver<Said = unknown> {
  /** The extension with the observer. */
  readonly extension: Extension
  /** Everything that left it so far, one item for each event: lines, or messages. */
  readonly said: readonly Said[]
}

/** How an observer is tested. */
export interface ObserverTestOptions {
  /** Whether what it says is text. Each item then has to be one harmless line of less than 20,000 characters. Default: `false`. */
  readonly writesLines?: boolean
}

const escapable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/**
 * Describes what every observer promises, in tests of vitest: it says something of each event, changes nothing, never throws, and
 * keeps tokens to itself.
 *
 * @param name The name of the observer, for the titles of the tests.
 * @param make Makes a new observer, with what it has said.
 * @param options How the observer is tested.
 * @experimental
 * @example
 * ```ts
 * import { describeObserver } from 'toolwright/conformance/observers'
 * import { consoleObserver } from 'toolwright/observers/console'
 *
 * function watched() {
 *   const lines: string[] = []
 *   return { extension: consoleObserver({ write: (line) => void lines.push(line) }), said: lines }
 * }
 * describeObserver('consoleObserver', watched, { writesLines: true })
 * ```
 */
export function describeObserver(
  name: string,
  make: () => WatchedObserver,
  { writesLines = false }: ObserverTestOptions = {},
): void {
  const create = (): WatchedObserver => {
    const watched = make()
    const { extension, said } = Object(watched) as Partial<WatchedObserver>
    if (!Array.isArray(extension?.observers) || !Array.isArray(said))
      throw new TypeError(
        'What was made is not `{ extension, said }`: an extension `{ observers: [yours] }`, and an array of what it has said.',
      )
    return watched
  }

  function requireHarmless(output: readonly unknown[]): void {
    if (!writesLines) return
    for (const line of output) {
      expect(line).toBeTypeOf('string')
      expect(line).not.toMatch(escapable)
      expect(String(line).length).toBeLessThan(20_000)
    }
  }

  describe(`${name} is an observer that`, () => {
    test('says something of every event, and changes no outcome', async () => {
      const handler = async function* (input: unknown, { emit }: ToolContext): AsyncGenerator<unknown, unknown> {
        emit('half', { done: 0.5 })
        yield await Promise.resolve('step')
        return input
      }
      let letGo = (_value?: unknown): void => {}
      const watched = create()
      const { executor, events, reports } = watching(
        watched.extension,
        testTool(handler as never, { requiresConfirmation: true, conflicts: () => ['file:/a'] }),
        testTool(() => new Promise((resolve) => (letGo = resolve)), { name: 'holds', conflicts: () => ['file:/a'] }),
      )
      executor.on('call:blocked', () => letGo())
      const { token = '' } = await executor.execute(
        { id: 'call_1', name: 'work', args: repairable },
        { session: 'one' },
      )
      const began = new Promise((resolve) => executor.on('tool:start', resolve))
      const holding = executor.execute({ name: 'holds' })
      await began
      const result = await executor.calls.decide(token, 'allow', { note: 'fine', decidedBy: 'me' })
      await holding
      expect(result).toMatchObject({ status: 'ok', content: [{ data: { a: 1 } }] })
      expect(new Set(events.map(({ event }) => event))).toEqual(new Set(watchedEvents))
      expect(watched.said.length).toBe(events.length)
      events.forEach(({ event, invocationId }, index) => {
        expect(wordsText(watched.said[index])).toContain(event)
        expect(wordsText(watched.said[index])).toContain(invocationId)
      })
      expect(reports).toEqual([])
      requireHarmless(watched.said)
    })

    test('leaves the token of a call that waits out', async () => {
      const watched = create()
      const { executor } = watching(
        watched.extension,
        testTool(() => 'done', { requiresConfirmation: true }),
      )
      const { token = '', status } = await executor.execute({ name: 'work' })
      expect(status).toBe('waiting')
      expect(watched.said.map(wordsText).join('\n')).toContain('call:waiting')
      expect(watched.said.map(wordsText).join('\n')).not.toContain(token)
      expect(watched.said.map(wordsText).join('\n')).not.toContain('token')
    })

    test('says nothing of an event that could harm its reader, and never throws', async () => {
      const watched = create()
      const { executor, events, reports } = watching(
        watched.extension,
        testTool((_, { emit }) => {
          emit(evil, { [evil]: evil })
          throw new ToolFailure(evil, { recommendations: [evil] })
        }),
        testTool(() => 'done', { name: 'asks', requiresConfirmation: true, confirmationMessage: evil }),
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
      results.push(await executor.calls.decide(token, 'deny', { note: evil, decidedBy: evil }))
      expect(results.map(({ status }) => status)).toEqual(['error', 'error', 'error', 'error', 'waiting', 'denied'])
      expect(reports).toEqual([])
      expect(watched.said.length).toBe(events.length)
      events.forEach(({ event }, index) => expect(wordsText(watched.said[index])).toContain(event))
      requireHarmless(watched.said)
    })

    test('does not break on progress of any kind, however large', async () => {
      const progress = [...oddities(), ...extremes()]
      const watched = create()
      const { executor, events, reports } = watching(
        watched.extension,
        testTool((_, { emit }) => progress.forEach((data) => emit('step', data))),
      )
      await executor.execute({ name: 'work' })
      expect(watched.said.length).toBe(events.length)
      expect(events.length).toBe(progress.length + 4)
      expect(reports).toEqual([])
      requireHarmless(watched.said)
    })

    test('does not throw on any event, however odd its fields are, and changes nothing of it', () => {
      const watched = create()
      const observer = heardBy(watched)
      const texts = [...hostileTexts, evil]
      for (const event of watchedEvents) {
        for (const [index, odd] of [...hostileValues(), ...oddities()].entries()) {
          const text = texts[index % texts.length] ?? ''
          const frozenEvent = Object.freeze({
            event,
            toolName: text,
            invocationId: text,
            session: text,
            token: 'the token',
            ...Object.fromEntries(oddFields.map((field) => [field, odd])),
            status: odd,
            durationMs: odd,
          })
          const before = Object.entries(frozenEvent)
          observer(frozenEvent as unknown as ToolEvent)
          const changed = Object.entries(frozenEvent).filter(
            ([key, value], at) => !Object.is(value, before[at]?.[1]) || key !== before[at]?.[0],
          )
          expect([Object.keys(frozenEvent).length, changed]).toEqual([before.length, []])
        }
      }
      expect(keysAndLines(watched.said)).not.toMatch(/the token|,token,/)
      requireHarmless(watched.said)
    })
  })
}

function wordsText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output)
}

function heardBy({ extension }: WatchedObserver): (event: ToolEvent) => void {
  const [observer] = extension.observers ?? []
  if (observer === undefined) throw new Error('there is no observer')
  return observer
}

/** The lines that were said, and the keys of what was no line. */
function keysAndLines(output: readonly unknown[]): string {
  return output.map((one) => (typeof one === 'string' ? one : Object.keys(one as object).join())).join()
}
