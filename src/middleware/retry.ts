/**
 * Repeats a tool after a failure that may pass. This middleware repeats only tools that the application itself calls idempotent or
 * readonly, and believes no server about its own tools.
 *
 * @module
 */
import { isToolError, type Extension, type ToolContext, type ToolError } from '../index.ts'
import {
  checkOptions,
  functionOption,
  integerFrom,
  numberFrom,
  reconcile,
  reporterOf,
  timerLength,
  type Confirmed,
  type Middleware,
  type Reconciled,
} from '../extension.ts'

/** The options of `retry`. */
export interface RetryOptions {
  /** How often the tool runs at most, including the first time. Default: 3. */
  readonly attempts?: number
  /** The longest wait before the second attempt, in milliseconds; it doubles with each further one. Default: 200. */
  readonly delay?: number
  /** The longest wait before any attempt, in milliseconds. Default: 30,000. */
  readonly maximumDelay?: number
  /**
   * Returns whether an error is worth another attempt; if it throws, there is none. Default: errors that are `retryable`
   * (network failures, rate limits, a `ToolFailure` that says so), and the handler's own timeouts.
   */
  readonly when?: (error: ToolError, context: ToolContext) => boolean
  /** Takes what a tool's `reconcile` throws: its call then fails with the error of the handler. Default: `console.error`. */
  readonly report?: (error: unknown) => void
}

/**
 * Runs a tool again after an error that may pass, for tools that are `idempotent`, or of type `server` and `readonly`.
 *
 * Any other tool with `reconcile` is asked first what its failed run did: if it was done, its result is that of the call; if
 * nothing happened, the tool runs again; if that is not known, the call fails.
 *
 * Tools of type `mcp` are repeated only after that question. The wait before each attempt is random, up to a bound that doubles each time. It
 * ends at once if the call is cancelled or its deadline passes. All attempts share the deadline of the call, and
 * `context.attempt` counts them.
 *
 * @param options How often to repeat, how long to wait, and after which errors.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { retry } from 'toolwright/middleware/retry'
 *
 * const executor = createExecutor({ use: [retry({ attempts: 5, delay: 500 })] })
 * ```
 * @see https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
 * @experimental
 */
export function retry(options: RetryOptions = {}): Extension & { readonly middleware: readonly [Middleware] } {
  checkOptions('retry', options, {
    attempts: integerFrom(1),
    delay: numberFrom(0),
    maximumDelay: numberFrom(0),
    when: functionOption,
    report: functionOption,
  })
  const { attempts = 3, delay = 200, when = mayPass } = options
  const report = reporterOf(options.report)
  const maximumDelay = timerLength(options.maximumDelay ?? 30_000)

  function isWorthIt(error: unknown, context: ToolContext): boolean {
    try {
      return isToolError(error) && when(error, context) === true
    } catch {
      return false // the tool's error says more than that of `when`
    }
  }

  /** Asks the tool what a failed run did. */
  async function foundOut(call: Confirmed): Promise<Reconciled> {
    if (call.effect === 'none') return { effect: 'none' }
    try {
      return await reconcile(call)
    } catch (error) {
      if (!call.deadline.isOver && !call.context.signal.aborted) report(error)
      return { effect: 'unknown' }
    }
  }

  return {
    middleware: [
      async (call, context, next) => {
        const isRepeatable = mayRepeat(call)
        if (!isRepeatable && call.tool.reconcile === undefined) return next()
        for (let attempt = 1; ; attempt++) {
          try {
            return await next()
          } catch (error) {
            const isLast = attempt >= attempts
            if ((isLast && isRepeatable) || call.deadline.isOver || context.signal.aborted) throw error
            if (!isWorthIt(error, context)) throw error
            const found = isRepeatable ? undefined : await foundOut(call)
            if (found?.effect === 'completed') return found.result
            if (isLast || found?.effect === 'unknown') throw error
          }
          await waitFor(Math.random() * Math.min(maximumDelay, delay * 2 ** (attempt - 1)), context.signal)
        }
      },
    ],
  }
}

/** Returns whether the application allows to repeat the tool; what a server says of its own tools does not count. */
function mayRepeat({ tool: { type, traits } }: Confirmed): boolean {
  return type !== 'mcp' && (traits.idempotent || (traits.readonly && type === 'server'))
}

function mayPass(error: ToolError): boolean {
  return error.retryable || (error.code === 'E_TOOL_DOWNSTREAM_ERROR' && error.category === 'timeout')
}

/** Waits. Throws the signal's reason if the call is aborted. */
async function waitFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve) => {
    const over = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', over)
      resolve()
    }
    const timer = setTimeout(over, milliseconds)
    signal.addEventListener('abort', over, { once: true })
  })
  signal.throwIfAborted()
}
