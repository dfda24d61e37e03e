/**
 * Registers the matchers of calls with vitest, and their types. Import it once, in a file of `setupFiles`. Gives each test a tape
 * of its own. It needs `vitest`.
 *
 * @module
 */
import { expect, test, type TestAPI } from 'vitest'
import { InvalidConfigurationError } from '../errors.ts'
import { pathOfTest } from './cassettes/_names.ts'
import { openTape, type CassetteOptions, type Tape } from './cassettes/_open.ts'
import { matchers, type CallAssertions } from './matchers.ts'

expect.extend({ ...matchers })

declare global {
  // The majors of vitest give their own interface different type parameters. All of them take the assertions of Chai's.
  namespace Chai {
    interface Assertion extends CallAssertions {}
  }
}

/** The options of the tapes of a file of tests. */
export interface CassettesOptions extends CassetteOptions {
  /** The folder of the tapes, beside the file of the tests. Default: `__cassettes__`. */
  readonly folder?: string
}

/**
 * Returns a `test` whose context has a `tape`. Each test has a file of its own, which is verified after the test, strictly, and then
 * saved if it was recorded. A test that fails saves nothing. Do not use it with `test.concurrent` on one tape.
 *
 * @param options The folder, and the options of each tape. The default of `strict` is `true`.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { withCassettes } from 'toolwright/testing/vitest'
 * import { expect } from 'vitest'
 *
 * const test = withCassettes()
 * const weather = tool('weather', async ({ city }: { city: string }) => `sunny in ${city}`)
 *
 * test('tells the weather', async ({ tape }) => {
 *   const executor = createExecutor({ tools: [weather], use: [tape] })
 *   const { value } = await executor.execute({ name: 'weather', args: { city: 'Bern' } })
 *   expect(value).toBe('sunny in Bern')
 * })
 * ```
 * @experimental
 */
export function withCassettes(options: CassettesOptions = {}): TestAPI<{ tape: Tape }> {
  const { folder = '__cassettes__', ...rest } = options
  if (typeof folder !== 'string' || folder === '') {
    throw new InvalidConfigurationError(
      '`withCassettes` takes the name of a folder: withCassettes({ folder: "__cassettes__" }).',
    )
  }
  return test.extend<{ tape: Tape }>({
    tape: async ({ task }, use) => {
      const { tape } = openTape(pathOfTest(task, folder), { strict: true, ...rest }, false)
      try {
        await use(tape)
        if (task.result?.state === 'fail') return
        tape.verify()
        await tape.save()
      } finally {
        tape.discard()
      }
    },
  })
}
