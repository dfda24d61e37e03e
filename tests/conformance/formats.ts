import { assert, jsonValue, property } from 'fast-check'
import type { Format } from 'toolwright'
import { describeFormat, type FormatFixtures, type FormatTestOptions } from 'toolwright/conformance/formats'
import { expect, test } from 'vitest'

export type { ReadAnswer } from 'toolwright/conformance/formats'

/** What every format promises, and that with random messages beside. */
export function formatConformance(
  name: string,
  make: (options?: FormatTestOptions) => Format,
  fixtures: FormatFixtures,
): void {
  describeFormat(name, make, fixtures)

  test(`${name} answers any message, or says that it reads no calls in it`, () => {
    const format = make()
    assert(
      property(jsonValue({ maxDepth: 6 }), (message) => {
        expect(typeof format.detect(message)).toBe('boolean')
        try {
          for (const call of format.calls(message)) expect(typeof call.name).toBe('string')
        } catch (error) {
          expect(error).toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
        }
        expect(() => format.results([], message)).not.toThrow()
      }),
      { numRuns: 200 },
    )
  })
}
