import type { KnownOutcome, ToolResult } from '../call/call.ts'
import type { SpooledArtifact } from '../result/artifact.ts'
import { isToolError, InvalidConfigurationError, statusOf } from '../errors.ts'
import { isArtifact } from '../result/brand.ts'
import { content as contentResult } from '../result/content.ts'
import { encodeResult, keepSmall } from '../result/encode.ts'
import { stageFields, type Received } from '../call/parcel.ts'
import { resultOf } from './result.ts'

// The outcomes by the objects that stand for them: neither a copy nor a proxy of one is known.
const outcomes = new WeakMap<object, KnownOutcome>()

/**
 * Ends a call with an outcome that is known, if a middleware throws it. The result has its own ids and times. It is neither
 * checked nor kept again, and no secrets are masked in it: they have to be masked already.
 * The result is `skipped` if the handler was not started. From a handler it is a failure like any thrown value.
 *
 * @throws `E_INVALID_CONFIGURATION` if the outcome cannot be the result of a settled call: `content` is a list of blocks, an
 * `error` has the `status`, and `ok` has no `error`.
 * @example
 * const paid = new Known({ status: 'ok', effect: 'completed', content: [{ type: 'text', text: 'Paid before.' }] })
 * const pay = tool('pay', () => 'Paid.').with({ middleware: [() => Promise.reject(paid)] })
 * console.log((await createExecutor({ tools: [pay] }).execute({ name: 'pay' })).content)
 * @experimental
 */
export class Known {
  constructor(outcome: KnownOutcome) {
    outcomes.set(this, readOutcome(outcome))
  }
}

/** Returns the outcome, if a middleware threw one. */
export function knownOutcome(thrown: unknown): KnownOutcome | undefined {
  return isKnown(thrown) ? outcomes.get(thrown) : undefined
}

export function isKnown(thrown: unknown): thrown is Known {
  return typeof thrown === 'object' && thrown !== null && outcomes.has(thrown)
}

/** Lists an artifact that is in the store already. */
interface Remembering {
  remember(artifact: SpooledArtifact, handle: string, call: Received): void
}

/** Makes the result of a call whose outcome is known. */
export function knownResult(
  received: Received,
  { spool }: { readonly spool: Remembering },
  { status, effect, content, artifact, handle, error, value }: KnownOutcome,
): ToolResult {
  const { tool, attempts, program } = stageFields(received)
  const result = resultOf(received, status, effect, content)
  if (artifact !== undefined) result.artifact = artifact
  else if (status === 'ok' && tool !== undefined) {
    result.artifact = keepSmall(encodeResult(contentResult(content)), { program, tool }).artifact // as a replay has it
  }
  received.effect = effect
  if (error !== undefined) result.error = error
  result.value = value
  if (handle !== undefined) {
    result.handle = handle
    if (artifact !== undefined) spool.remember(artifact, handle, received)
  }
  if (tool?.type === 'output' && status === 'ok') result.output = value
  if (attempts === 0) result.skipped = true
  return result
}

const effects: readonly unknown[] = ['none', 'completed', 'unknown']

/** Reads an outcome once, since its getters may say something else the next time. */
function readOutcome(outcome: KnownOutcome): KnownOutcome {
  try {
    const { status, effect, content, artifact, handle, error, value } = outcome
    const isOk = status === 'ok'
    if (isOk ? error !== undefined : !isToolError(error) || statusOf(error) !== status) throw wrongOutcome('`error`')
    if (!effects.includes(effect)) throw wrongOutcome('`effect`')
    const blocks = Array.from(content)
    if (!blocks.every((block) => typeof block.type === 'string')) throw wrongOutcome('`content`')
    if (artifact !== undefined && !isArtifact(artifact)) throw wrongOutcome('`artifact`')
    if (handle !== undefined && typeof handle !== 'string') throw wrongOutcome('`handle`')
    return { status, effect, content: blocks, artifact, handle, error, value } as KnownOutcome
  } catch (cause) {
    throw isToolError(cause) ? cause : wrongOutcome('what was given', cause)
  }
}

function wrongOutcome(what: string, cause?: unknown): InvalidConfigurationError {
  const words = `Known takes the outcome of a settled call: ${what} is no part of one.`
  const advice = 'Give `status`, `effect`, `content` as blocks, and an `error` of that status unless it is `ok`.'
  return new InvalidConfigurationError(`${words} ${advice}`, { cause })
}
