/**
 * Cuts text that is too long. This middleware shortens results that are one string. It does not touch strings within objects or
 * content blocks, streams, and artifacts. What it cuts off is lost, for the artifact too.
 *
 * @module
 */
import type { Extension } from '../index.ts'
import { checkOptions, integerFrom, optionsError, type Middleware } from '../extension.ts'

/** The options of `truncate`. */
export interface TruncateOptions {
  /** How many characters (UTF-16 code units) a text may have. Default: 100,000. */
  readonly limit?: number
  /** How many characters of a longer text are kept; at most `limit`. Default: 10,000, or `limit` if that is less. */
  readonly keep?: number
}

/**
 * Cuts text results that are longer than `limit`, and appends how many bytes of UTF-8 the whole text had.
 *
 * A large result need not be cut to spare the model: the executor shows a preview of it, and keeps the whole as an artifact.
 * Mount `truncate` before `redact`, so that secrets are masked before the text is cut.
 *
 * @param options The length from which text is cut, and how much of it is kept.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { truncate } from 'toolwright/middleware/truncate'
 *
 * const executor = createExecutor({ use: [truncate({ limit: 50_000, keep: 5_000 })] })
 * ```
 * @experimental
 */
export function truncate(options: TruncateOptions = {}): Extension & { readonly middleware: readonly [Middleware] } {
  checkOptions('truncate', options, { limit: integerFrom(0), keep: integerFrom(0) })
  const { limit = 100_000, keep = Math.min(10_000, limit) } = options
  if (keep > limit) throw optionsError('truncate', 'takes at most `limit` as `keep`')

  return {
    middleware: [
      async (_call, _context, next) => {
        const value = await next()
        return typeof value === 'string' && value.length > limit ? truncatedText(value, keep) : value
      },
    ],
  }
}

function truncatedText(text: string, keep: number): string {
  const isWithinPair = /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(Math.max(0, keep - 1), keep + 1)) && keep > 0
  const size = new TextEncoder().encode(text).byteLength
  return `${text.slice(0, isWithinPair ? keep - 1 : keep)}\n\n...(truncated, total size: ${size} bytes)`
}
