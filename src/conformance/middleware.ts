/**
 * Tests what every middleware promises. They run in vitest.
 *
 * @module
 */
import { describe, expect, test } from 'vitest'
import {
  content,
  createExecutor,
  json,
  ToolFailure,
  type Extension,
  type ToolContext,
  type ToolResult,
} from '../index.ts'
import { frozen } from './_frozen.ts'
import { hostileValues } from './_hostile.ts'
import { runTool, testTool } from './_tool.ts'

async function resultParts({
  status,
  effect,
  isError,
  content: blocks,
  artifact,
  error,
}: ToolResult): Promise<unknown> {
  const text = await artifact?.asString()
  const { code, message, cause, retryable } = error ?? {}
  return { status, effect, isError, blocks, text, mediaType: artifact?.mediaType, code, message, cause, retryable }
}

class RowInstance {
  readonly name = 'an instance'
  toJSON(): unknown {
    return { row: this.name }
  }
}

const toolFailure = new ToolFailure('It is not there', { recommendations: ['Look elsewhere'] })
const typeError = new TypeError('not a function')

const values: readonly (readonly [title: string, make: () => unknown])[] = [
  ['text', () => 'some text'],
  ['text with spaces and ends of lines around it', () => '\n  some text \n'],
  ['long text', () => '0123456789'.repeat(1_000)],
  ['empty text', () => ''],
  ['a number', () => 5],
  ['null', () => null],
  ['nothing', () => undefined],
  ['an object', () => ({ a: [1, { b: 'text' }], __proto__: null })],
  ['an object with a member `__proto__`', () => JSON.parse('{"__proto__":{"a":"b"},"constructor":1}') as unknown],
  ['what cannot be changed', () => frozen({ a: [{ b: 'c' }] })],
  ['an array', () => [1, 'two', null]],
  ['content blocks', () => [{ type: 'text', text: 'a block' }]],
  ['marked content', () => content([{ type: 'resource_link', uri: 'file:///a', name: 'a' }])],
  ['marked JSON', () => json([{ type: 'text', text: 'no block' }])],
  ['marked text', () => json('text')],
  ['bytes', () => new Uint8Array([1, 2, 255])],
  ['a Buffer', () => Buffer.from('bytes')],
  ['a date', () => new Date(0)],
  ['an instance', () => new RowInstance()],
  [
    'a stream',
    async function* () {
      yield await Promise.resolve('one')
    },
  ],
  ['a stream of the web', () => new Blob(['pieces']).stream()],
  ['what is no result', () => new Map([['a', 1]])],
]

const failures: readonly (readonly [title: string, thrown: unknown])[] = [
  ['a failure that is meant', toolFailure],
  ['a fault', typeError],
  ['text', 'thrown text'],
  ['nothing', undefined],
]

/**
 * Describes what every extension with middleware promises, in tests of vitest: what the handler gives reaches the caller, and
 * what the caller does reaches the handler. Middleware that changes results on purpose is tested with options that change nothing
 * of what the suite hands on.
 *
 * @param name The name of the middleware, for the titles of the tests.
 * @param makeExtension Makes a new extension with middleware.
 * @experimental
 * @example
 * ```ts
 * import { describeMiddleware } from 'toolwright/conformance/middleware'
 * import { retry } from 'toolwright/middleware/retry'
 *
 * describeMiddleware('retry', () => retry({ delay: 0 }))
 * ```
 */
export function describeMiddleware(name: string, makeExtension: () => Extension): void {
  const create = (): Extension => {
    const extension = makeExtension() as Extension | undefined
    // Without any, every test would pass, and nothing would be tested.
    if (!Array.isArray(extension?.middleware) || extension.middleware.length === 0)
      throw new TypeError(
        'The extension has no `middleware`: it is an array of functions, `{ middleware: [(input, context, next) => …] }`.',
      )
    return extension
  }
  const kinds = [{}, { traits: { readonly: true } }, { traits: { idempotent: true } }, { type: 'mcp' }]

  describe.each(kinds)(`${name} around a tool with %j`, (options) => {
    test.each(values)('hands %s on', async (_, make) => {
      const plain = await runTool([], make, options)
      const result = await runTool([create()], make, options)
      // What the middleware itself threw says more than the difference.
      if (plain.error === undefined && result.error !== undefined) throw result.error
      expect(await resultParts(result)).toEqual(await resultParts(plain))
    })

    test.each(failures)('hands on what is thrown: %s', async (_, thrown) => {
      const handler = (): never => {
        throw thrown
      }
      const plain = await runTool([], handler, options)
      expect(await resultParts(await runTool([create()], handler, options))).toEqual(await resultParts(plain))
    })

    test('hands any JSON on, and changes neither it nor the input', async () => {
      const use = [create()]
      for (const value of hostileValues()) {
        const args = { arg: value }
        const before = JSON.stringify(args)
        const tools = [testTool((input: object) => ({ value, input }), options)]
        const result = await createExecutor({ tools, use }).execute({ name: 'work', args })
        expect(await result.artifact?.asString()).toBe(JSON.stringify({ value, input: args }))
        expect(JSON.stringify(args)).toBe(before)
      }
    })

    test('runs the tool once if it succeeds, and the result is its own', async () => {
      let runs = 0
      const work = testTool(async ({ index }: { index: number }) => {
        runs++
        await new Promise((resolve) => setTimeout(resolve, index % 3))
        return { index }
      }, options)
      const executor = createExecutor({ tools: [work], use: [create()] })
      const results = await Promise.all(
        Array.from({ length: 30 }, (_, index) => executor.execute({ name: 'work', args: { index } })),
      )
      results.forEach((result, index) => expect(result).toMatchObject({ status: 'ok', content: [{ data: { index } }] }))
      expect(runs).toBe(30)
    })

    test('is over at once when the caller gives up, and the handler hears of it', async () => {
      const controller = new AbortController()
      let handlerSignal: AbortSignal | undefined
      const handler = (_: unknown, { signal }: ToolContext): Promise<never> => {
        handlerSignal = signal
        controller.abort()
        return new Promise(() => {})
      }
      const executor = createExecutor({ tools: [testTool(handler, options)], use: [create()] })
      const result = await executor.execute({ name: 'work' }, { signal: controller.signal })
      expect(result).toMatchObject({ status: 'cancelled', error: { code: 'E_TOOL_CANCELLED' } })
      expect(handlerSignal?.aborted).toBe(true)
    })

    test('is over at the deadline', async () => {
      const result = await runTool([create()], () => new Promise(() => {}), { ...options, timeout: 5 })
      expect(result).toMatchObject({ status: 'timed_out', error: { code: 'E_TOOL_TIMEOUT' } })
    })

    test('works as the own middleware of a tool', async () => {
      const own = { ...options, middleware: create().middleware }
      expect(await runTool([], () => 'text', own)).toMatchObject({ content: [{ text: 'text' }] })
    })

    test('can be mounted twice, and closed twice', async () => {
      const extension = create()
      expect(await runTool([extension, create(), extension], () => 'text', options)).toMatchObject({ status: 'ok' })
      await extension.close?.()
      await extension.close?.()
    })
  })
}
