import { createExecutor, type ToolContext, type ToolResult, type ToolTraits } from 'toolwright'
import { InvalidConfigurationError, InvalidToolResultError, ToolFailure } from 'toolwright/errors'
import { retry, type RetryOptions } from 'toolwright/middleware/retry'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { middlewareConformance, runTool, testTool } from '../conformance/middleware.ts'

middlewareConformance('retry', () => retry({ delay: 0 }))

const passing = (): Error => Object.assign(new Error('reset'), { code: 'ECONNRESET' })

interface Outcome {
  readonly result: ToolResult
  /** `context.attempt`, for each run. */
  readonly attempts: readonly number[]
}

/** A call of a tool that fails a number of times, and then succeeds. */
async function failing(
  times: number,
  options: RetryOptions = {},
  tool: { readonly type?: string; readonly traits?: ToolTraits } = { traits: { idempotent: true } },
  thrown: () => unknown = passing,
): Promise<Outcome> {
  const attempts: number[] = []
  const handler = (_: unknown, { attempt }: ToolContext): string => {
    attempts.push(attempt)
    if (attempts.length <= times) throw thrown()
    return 'done'
  }
  return { result: await runTool([retry({ delay: 0, ...options })], handler, tool), attempts }
}

afterEach(() => void vi.restoreAllMocks())

describe('retry', () => {
  test.each<[string, { type?: string; traits?: ToolTraits }, number]>([
    ['an idempotent tool', { traits: { idempotent: true } }, 3],
    ['a readonly tool', { traits: { readonly: true } }, 3],
    ['a tool of which nothing is known', {}, 1],
    ['a destructive tool', { traits: { destructive: true } }, 1],
    ['a tool whose server calls it idempotent', { type: 'mcp', traits: { idempotent: true } }, 1],
    ['a tool whose server calls it readonly', { type: 'mcp', traits: { readonly: true, idempotent: true } }, 1],
  ])('runs %s as often as may be', async (_, tool, count) => {
    const { attempts, result } = await failing(9, {}, tool)
    expect(attempts).toEqual([1, 2, 3].slice(0, count))
    expect(result).toMatchObject({ status: 'error', error: { message: expect.stringContaining('reset') as string } })
  })

  test('believes a custom type that it is idempotent, and not that its failures did nothing', async () => {
    for (const [traits, count] of [
      [{ idempotent: true }, 2],
      [{ readonly: true }, 1],
    ] as const) {
      let runs = 0
      const runner = {
        type: 'sandbox',
        run: () => {
          if (++runs === 1) throw passing()
        },
      }
      await runTool([{ runners: [runner] }, retry({ delay: 0 })], () => 'never', { type: 'sandbox', traits })
      expect(runs).toBe(count)
    }
  })

  test.each<[string, () => unknown, boolean]>([
    ['of the network', passing, true],
    ['of a rate limit', () => Object.assign(new Error('slow down'), { status: 429 }), true],
    ['of a timeout of its own', () => new DOMException('too slow', 'TimeoutError'), true],
    ['that says that it may pass', () => new ToolFailure('busy', { retryable: true }), true],
    ['that says nothing of passing', () => new ToolFailure('gone'), false],
    ['of missing rights', () => Object.assign(new Error('no'), { status: 403 }), false],
    ['of the program', () => new TypeError('not a function'), false],
    ['that was given up', () => new DOMException('aborted', 'AbortError'), false],
    ['that is no error', () => 'text', false],
  ])('an error %s', async (_, thrown, isRepeated) => {
    const { attempts } = await failing(1, {}, undefined, thrown)
    expect(attempts.length).toBe(isRepeated ? 2 : 1)
  })

  test('succeeds where a later attempt does, and says so in the effect', async () => {
    const { result, attempts } = await failing(2)
    expect(result).toMatchObject({ status: 'ok', effect: 'completed', content: [{ text: 'done' }] })
    expect(attempts).toEqual([1, 2, 3])
  })

  test('gives the last error, as it is', async () => {
    let count = 0
    const { result } = await failing(9, { attempts: 2 }, undefined, () => Object.assign(passing(), { number: ++count }))
    expect(result.error).toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', retryable: true, cause: { number: 2 } })
  })

  test('the application may say which errors are worth it; a function that throws says no', async () => {
    const server = () => Object.assign(new Error('unavailable'), { status: 503 })
    const when: RetryOptions['when'] = ({ cause }) => (cause as { status?: number }).status === 503
    expect((await failing(2, { when }, undefined, server)).attempts.length).toBe(3)
    expect((await failing(2, { when })).attempts.length).toBe(1)
    const broken = () => {
      throw new Error('of the function')
    }
    const { attempts, result } = await failing(2, { when: broken })
    expect(attempts.length).toBe(1)
    expect(result.error?.message).toContain('reset')
  })

  test('a result that does not fit is not the fault of the run', async () => {
    let runs = 0
    const tool = { traits: { readonly: true }, outputSchema: { type: 'number' } }
    const { error } = await runTool([retry({ delay: 0 })], () => `${++runs}`, tool)
    expect(error).toBeInstanceOf(InvalidToolResultError)
    expect(runs).toBe(1)
  })

  test('waits at random, up to a time that doubles and has an end', async () => {
    const waits: unknown[] = []
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const real = setTimeout
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, delay: number) => {
      if (delay < 20_000) waits.push(delay)
      return real(work, delay < 20_000 ? 0 : delay)
    }) as never)
    await failing(9, { attempts: 6, delay: 200, maximumDelay: 1_500 })
    expect(waits).toEqual([100, 200, 400, 750, 750])
  })

  test('is over at once when the caller gives up while it waits', async () => {
    const controller = new AbortController()
    const tools = [
      testTool(
        () => {
          setImmediate(() => controller.abort())
          throw passing()
        },
        { traits: { idempotent: true }, timeout: 0 },
      ),
    ]
    vi.spyOn(Math, 'random').mockReturnValue(1)
    const executor = createExecutor({ tools, use: [retry({ delay: 3_000_000, maximumDelay: 3_000_000 })] })
    const result = await executor.execute({ name: 'work' }, { signal: controller.signal })
    expect(result).toMatchObject({ status: 'cancelled', effect: 'unknown' })
  })

  test('leaves no timer and no listener behind when the deadline ends the wait', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1)
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    let signal: AbortSignal | undefined
    const handler = (_: unknown, context: ToolContext): never => {
      signal = context.signal
      throw passing()
    }
    const { status } = await runTool([retry({ delay: 3_000_000, maximumDelay: 3_000_000 })], handler, {
      traits: { idempotent: true },
      timeout: 10,
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(status).toBe('timed_out')
    expect(signal?.aborted).toBe(true)
    const after = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    expect(after).toBeLessThanOrEqual(before)
  })

  test.each([
    ['no attempt', { attempts: 0 }],
    ['half an attempt', { attempts: 1.5 }],
    ['a delay into the past', { delay: -1 }],
    ['a delay that is no number', { delay: '200' }],
    ['something else as `when`', { when: true }],
    ['an option that is misspelt', { retries: 3 }],
    ['nothing', null],
  ])('refuses %s', (_, options) => {
    expect(() => retry(options as never)).toThrow(InvalidConfigurationError)
  })
})
