/**
 * Text that is too long, cut. This leaf shortens results that are one string, and touches nothing else: no strings within
 * objects or content blocks, no streams and no artifacts. What it cuts off is gone, from the artifact too.
 *
 * @module
 */
import type { Extension, Middleware } from '../index.ts'
import { requireOptions, wholeNumber, wrong } from './_options.ts'

export interface TruncateOptions {
  /** How many characters (UTF-16 code units) a text may have before it is cut. Default: 100,000. */
  readonly limit?: number
  /** How many characters are kept of one that is cut; at most `limit`. Default: 10,000, or `limit` where that is less. */
  readonly keep?: number
}

/**
 * Cuts results that are text and longer than `limit`, and says at their end how many bytes of UTF-8 the whole text had.
 *
 * A large result need not be cut to spare the model: the executor shows a preview of it, and keeps the whole as an artifact.
 * Mount it before `redact`, so that secrets are masked before anything is cut.
 *
 * @param options From which length on, and what is kept.
 * @throws `E_INVALID_CONFIGURATION` where an option is wrong or unknown.
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
  requireOptions('truncate', options, ['limit', 'keep'])
  const limit = wholeNumber('truncate', 'limit', options.limit ?? 100_000, 0)
  const keep = wholeNumber('truncate', 'keep', options.keep ?? Math.min(10_000, limit), 0)
  if (keep > limit) throw wrong('truncate', 'keeps no more than `limit` characters: let `keep` be at most `limit`')

  return {
    middleware: [
      async (_call, _context, next) => {
        const value = await next()
        return typeof value === 'string' && value.length > limit ? cut(value, keep) : value
      },
    ],
  }
}

function cut(text: string, keep: number): string {
  const isWithinPair = /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(Math.max(0, keep - 1), keep + 1)) && keep > 0
  const size = new TextEncoder().encode(text).byteLength
  return `${text.slice(0, isWithinPair ? keep - 1 : keep)}\n\n...(truncated, total size: ${size} bytes)`
}
