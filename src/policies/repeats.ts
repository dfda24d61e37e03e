/**
 * Denies a call that is made again and again with the same args. This file knows the calls of one process, and forgets them on
 * a restart. It caches nothing: a call within the limit runs each time.
 *
 * @module
 */
import { SpooledArtifact, type ToolContext } from '../index.ts'
import { checkOptions, integerFrom, oneOf, required, type Confirmed, type Middleware } from '../extension.ts'
import { toolNames, type ToolName } from './_options.ts'
import { limitStarts, type Limiting, type Tally } from './_starts.ts'

export type { Limiting, ToolName }

/** The options of `repeats`. */
export interface RepeatsOptions {
  /** How often the same call may run: the same tool with the same args, however they are written. */
  readonly max: number
  /** Within what calls are compared: a session, or all sessions of a principal. Default: `'session'`. */
  readonly per?: 'session' | 'principal'
  /** The tools whose calls are counted. Default: all. */
  readonly tools?: readonly ToolName[]
}

interface Same extends Tally {
  begun: number
  /** How the last of them ended, in words for the model. */
  last: string
}

const longestExcerpt = 400

/**
 * Denies the call that a model makes over and over, and repeats the words of the last result, which it seems to have missed.
 *
 * Calls are the same if they have the same `callId`. A call counts when it begins, as in `budget`. The policy keeps the counts
 * of the 10,000 most recently used calls, and the first 400 characters of each last result, with secrets masked.
 *
 * @param options `max` is how often a call may run; `per` and `tools` choose which calls it counts.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { repeats } from 'toolwright/policies/repeats'
 *
 * const executor = createExecutor({ use: [repeats({ max: 3 })] })
 * ```
 * @experimental
 */
export function repeats(options: RepeatsOptions): Limiting & { readonly middleware: readonly [Middleware] } {
  checkOptions('repeats', options, {
    max: required(integerFrom(1)),
    per: oneOf('session', 'principal'),
    tools: toolNames,
  })
  const { max, per = 'session', tools } = options
  const tallies = new WeakMap<ToolContext, Same>()
  const limiting = limitStarts<Same>({
    name: 'repeats',
    most: max,
    per,
    tools,
    isByCall: true,
    create: () => ({ waiting: 0, reserved: 0, begun: 0, last: '' }),
    refusal({ begun, waiting, last }) {
      if (begun + waiting < max) return undefined
      const times = max === 1 ? 'once' : `${max} times`
      const ended = last === '' ? '' : ` It last ended with: ${last}`
      return `The same call was made ${times} already. Change the args, or go on with what you have.${ended}`
    },
    begun: (same) => void same.begun++,
    decided: (same, context) => void tallies.set(context, same),
  })
  const remember: Middleware = async (call, context, next) => {
    const same = tallies.get(context)
    if (same === undefined) return next()
    try {
      const value = await next()
      same.last = excerptOf(value, call)
      return value
    } catch (thrown) {
      // What a tool throws may hold secrets, and is shown to the model only by the executor.
      same.last = 'an error.'
      throw thrown
    }
  }
  return { ...limiting, middleware: [remember] }
}

// Of any copy of the package. `content`, `json` and `shown` mark what a handler returns; the model reads content.
const contentMarks = [Symbol.for('toolwright.content'), Symbol.for('toolwright.json')] as const

/** Returns the beginning of a result, with secrets masked. Bytes, streams and artifacts are not read. */
function excerptOf(value: unknown, call: Confirmed): string {
  try {
    const readable = isOpaque(value) ? undefined : value
    const maskedValue = call.redactor === undefined ? readable : call.redactor.result(readable)
    const mark =
      typeof maskedValue === 'object' && maskedValue !== null
        ? contentMarks.find((each) => each in maskedValue)
        : undefined
    const plain = mark === undefined ? maskedValue : (maskedValue as Record<symbol, unknown>)[mark]
    const text = typeof plain === 'string' ? plain : JSON.stringify(plain)
    if (text === undefined) return 'a result that is not shown.'
    return text.length <= longestExcerpt ? text : `${text.slice(0, longestExcerpt)}…`
  } catch {
    return 'a result that is not shown.'
  }
}

function isOpaque(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SpooledArtifact) return true
  return Symbol.asyncIterator in value || 'getReader' in value
}
