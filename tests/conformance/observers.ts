import { anything, assert, constantFrom, property, record, string } from 'fast-check'
import type { ToolEvent } from 'toolwright'
import {
  describeObserver,
  type ObserverTestOptions,
  type WatchedObserver as Watched,
} from 'toolwright/conformance/observers'
import { describe, expect, test } from 'vitest'
import { oddFields, watchedEvents } from '../../src/conformance/observers/_watching.ts'
import { flood, requireBoundedEvent } from './_extremes.ts'

export { testTool } from '../../src/conformance/_tool.ts'
export { evil, watching } from '../../src/conformance/observers/_watching.ts'
export type { Watched }

/** What every leaf with observers promises, and that beside with floods of words and events at random. */
export function observerConformance(
  title: string,
  create: () => Watched,
  options: Required<ObserverTestOptions>,
): void {
  describeObserver(title, create, options)

  function requireHarmless(said: readonly unknown[]): void {
    if (!options.writesLines) return
    for (const line of said) {
      expect(line).toBeTypeOf('string')
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      expect(String(line).length).toBeLessThan(20_000)
    }
  }

  describe(`${title} is an observer that`, () => {
    test('is told of no event above 1 MiB beside its args, whatever comes in', async () => {
      const watched = create()
      const events = await flood([watched.extension])
      expect(new Set(events.map(({ event }) => event))).toEqual(new Set(watchedEvents))
      events.forEach(requireBoundedEvent)
      expect(watched.said.length).toBe(events.length)
      requireHarmless(watched.said)
    })

    test('does not throw on events at random, not even on one that is none, and changes nothing of it', () => {
      const watched = create()
      const [observer = expect.fail('there is no observer')] = watched.extension.observers ?? []
      const event = record({
        event: constantFrom(...watchedEvents),
        toolName: string(),
        invocationId: string(),
        session: string(),
        token: constantFrom('the token'),
        ...Object.fromEntries(oddFields.map((field) => [field, anything()])),
        status: anything(),
        durationMs: anything(),
      })
      assert(
        property(event, (sample) => {
          const before = { ...sample }
          observer(Object.freeze(sample) as unknown as ToolEvent)
          expect(Object.entries(sample)).toEqual(Object.entries(before))
        }),
      )
      expect(
        watched.said.map((said) => (typeof said === 'string' ? said : Object.keys(said as object).join())).join(),
      ).not.toMatch(/the token|,token,/)
      requireHarmless(watched.said)
    })
  })
}
