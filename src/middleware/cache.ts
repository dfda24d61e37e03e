/**
 * Caches results in memory, only for tools of the application's own that are readonly or say that they can be cached. This middleware
 * learns of no changes, so a result may be as old as `ttl`. It does not join parallel calls. It keeps no failures, streams,
 * progress of generators, artifacts, instances of classes, or other values that are not plain.
 *
 * @module
 */
import type { Caller, Extension, ToolDefinition } from '../index.ts'
import { checkOptions, integerFrom, numberFrom, oneOf, type Middleware, type Observer } from '../extension.ts'
import { isPlainValue, membersOf, plainLike } from './_plain.ts'

/** The options of `cache`. */
export interface CacheOptions {
  /** How many results are kept; the least recently used is evicted first. Default: 500. */
  readonly maximumEntries?: number
  /** How long a result is kept, in milliseconds. Default: 300,000. */
  readonly ttl?: number
  /**
   * Whether a result is reused only in the session that made it, or in every session. Use `'shared'` only for tools whose
   * results do not depend on the caller. Default: `'session'`.
   */
  readonly scope?: 'session' | 'shared'
}

interface CachedResult {
  readonly value: unknown
  readonly weight: number
  readonly expiresAt: number
}

/** A middleware and the observer that tells it which calls settled `ok`. */
export type Caching = Extension & {
  readonly middleware: readonly [Middleware]
  readonly observers: readonly [Observer]
}

/** About 64 MiB, in characters of two bytes. */
const mostWeight = 33_554_432
const deepestInput = 256

/**
 * Returns the result of an earlier call with the same args instead of running the tool again, for tools of type `server`
 * whose `traits` have `readonly`. A tool says otherwise with `metadata.cacheable`, and for how long with `metadata.cacheTTL`.
 *
 * Two calls are the same if their session, caller, tool definition and `callId` are; what a handler reads from `values` does
 * not count. A result is kept when its call settles `ok`. The extension's observer listens for that: mount the whole
 * extension in `use`. The cache copies a result when it keeps it and on each hit, so callers cannot change each other's
 * results. A hit emits `tool:progress` of type `cache`. All results together take at most about 64 MiB.
 *
 * @param options How many results are kept, for how long, and for which sessions.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { cache } from 'toolwright/middleware/cache'
 *
 * const executor = createExecutor({ use: [cache({ ttl: 60_000 })] })
 * ```
 * @experimental
 */
export function cache(options: CacheOptions = {}): Caching {
  checkOptions('cache', options, {
    maximumEntries: integerFrom(1),
    ttl: numberFrom(0),
    scope: oneOf('session', 'shared'),
  })
  const { maximumEntries = 500, ttl = 300_000, scope = 'session' } = options
  // Least recently used first.
  const entries = new Map<string, CachedResult>()
  // The running invocations and what they returned: only the settlement decides whether that is a result.
  const fresh = new Map<string, (CachedResult & { readonly key: string }) | undefined>()
  const numbers = new WeakMap<ToolDefinition, number>()
  let weight = 0
  let count = 0

  /** Returns a number per definition, so that a tool that replaces another does not reuse its results. */
  function numberOfTool(tool: ToolDefinition): number {
    const number = numbers.get(tool) ?? count++
    numbers.set(tool, number)
    return number
  }

  function forget(key: string): void {
    weight -= entries.get(key)?.weight ?? 0
    entries.delete(key)
  }

  function keep(key: string, entry: CachedResult): void {
    forget(key)
    entries.set(key, entry)
    weight += entry.weight
    for (const oldest of entries.keys()) {
      if (entries.size <= maximumEntries && weight <= mostWeight) break
      forget(oldest)
    }
  }

  const observe: Observer = (event) => {
    const { invocationId } = event
    if (event.event === 'tool:start') fresh.set(invocationId, undefined)
    const isWaiting = event.event === 'call:waiting' && event.inProcess === undefined
    if (event.event !== 'call:settled' && !isWaiting) return
    const result = fresh.get(invocationId)
    fresh.delete(invocationId)
    if (result !== undefined && event.event === 'call:settled' && event.status === 'ok') keep(result.key, result)
  }

  return {
    middleware: [
      async ({ tool, session, caller, callId, invocationId }, context, next) => {
        const { cacheable = tool.traits.readonly, cacheTTL = ttl } = tool.metadata
        if (!cacheable || tool.type !== 'server') return next()
        const key = JSON.stringify([scope === 'shared' ? null : session, callerKey(caller), numberOfTool(tool), callId])
        const entry = entries.get(key)
        if (entry !== undefined && performance.now() < entry.expiresAt) {
          entries.delete(key)
          entries.set(key, entry)
          context.emit('cache', { hit: true })
          return snapshot(entry.value)?.value
        }
        forget(key)
        const value = await next()
        // Not in `fresh`: the call has settled already, or the observer is not mounted.
        const copy = fresh.has(invocationId) ? snapshot(value) : undefined
        if (copy !== undefined && copy.weight <= mostWeight) {
          fresh.set(invocationId, { ...copy, key, expiresAt: performance.now() + cacheTTL })
        }
        return value
      },
    ],
    observers: [observe],
    close() {
      entries.clear()
      fresh.clear()
      weight = 0
    },
  }
}

function callerKey(caller: Caller): unknown {
  return typeof caller === 'string' ? caller : [caller.app]
}

/** Returns a copy and its approximate size in characters, or `undefined` if the value cannot be copied whole. */
function snapshot(value: unknown): { readonly value: unknown; readonly weight: number } | undefined {
  let weight = 0
  try {
    return { value: copied(value, 0), weight }
  } catch {
    return undefined // such a value is returned as it is, and not kept
  }

  function copied(item: unknown, depth: number): unknown {
    weight += typeof item === 'string' ? item.length + 8 : 8
    if (weight > mostWeight) throw new RangeError('too large to be kept')
    if (typeof item === 'function' || typeof item === 'symbol') throw new TypeError('not a value')
    if (typeof item !== 'object' || item === null) return item
    if (item instanceof Uint8Array && item.constructor === Uint8Array) {
      weight += item.byteLength
      return item.slice()
    }
    if (depth >= deepestInput || !isPlainValue(item)) throw new TypeError('not plain, or too deep')
    return plainLike(
      item,
      membersOf(item).map(([key, member]) => {
        weight += typeof key === 'string' ? key.length : 0
        return [key, copied(member, depth + 1)] as const
      }),
    )
  }
}
