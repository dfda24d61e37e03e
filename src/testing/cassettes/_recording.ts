// Runs handlers, and writes down what they do.
import type { ToolContext } from '../../index.ts'
import { bounded } from '../../kernel/json/json-text.ts'
import { isThenable } from '../../kernel/json/thenable.ts'
import { isGenerator } from '../../kernel/run/stream.ts'
import { hiddenWords, type OutcomeKeeping } from './_hiding.ts'
import { keepOutcome, keepSource, thrownOutcome } from './_outcome.ts'
import type { RecordedAttempt, RecordedOutcome, RecordedStep } from './_recorded.ts'
import { taggedValue } from './_values.ts'

/** An attempt while it runs. */
export interface OpenAttempt extends RecordedAttempt {
  steps?: RecordedStep[]
  outcome: RecordedOutcome
  ms?: number
}

/** What has become of a call whose handler runs. */
export interface AttemptedCall {
  readonly isSettled: () => boolean
  /** Whether its deadline or its caller has ended it. A stream is still read to where its reader leaves it. */
  readonly isEnding: () => boolean
}

/** The most bytes of progress, as an event has them. */
const largestProgress = 65_536

/**
 * Runs work, and writes its steps and its outcome into an attempt.
 *
 * @param work Gets the context that notes what the handler does with it.
 * @param call What has become of the call. What comes after its end is no part of it.
 */
export function recordAttempt(
  attempt: OpenAttempt,
  context: ToolContext,
  keeping: OutcomeKeeping,
  work: (context: ToolContext) => unknown,
  call: AttemptedCall,
): unknown {
  const startedAt = performance.now()
  const end = (outcome: RecordedOutcome): void => {
    if (call.isSettled() || (call.isEnding() && !('stream' in outcome))) return
    attempt.outcome = outcome
    const ms = Math.round(performance.now() - startedAt)
    if (ms > 0) attempt.ms = ms
  }
  const fail = (thrown: unknown): never => {
    end(thrownOutcome(thrown, keeping))
    throw thrown
  }
  const note = (step: RecordedStep): void => {
    if (!call.isSettled()) (attempt.steps ??= []).push(step)
  }
  const settle = (value: unknown): unknown =>
    isGenerator(value) ? recordedGenerator(value) : keepOutcome(value, keeping, end)

  async function* recordedGenerator(
    generator: AsyncGenerator<unknown, unknown, undefined>,
  ): AsyncGenerator<unknown, unknown, undefined> {
    try {
      for (;;) {
        const step = await generator.next()
        if (step.done === true) return await Promise.resolve(keepOutcome(step.value, keeping, end))
        note({ yielded: progressOf(step.value, keeping) })
        yield step.value
      }
    } catch (error) {
      return fail(error)
    } finally {
      await generator.return?.(undefined)
    }
  }

  let value: unknown
  try {
    value = work(notingContext(context, keeping, note))
  } catch (error) {
    return fail(error)
  }
  return isThenable(value) ? Promise.resolve(value).then(settle, fail) : settle(value)
}

function progressOf(data: unknown, { redactor }: OutcomeKeeping): unknown {
  const json = taggedValue(bounded(data, largestProgress))
  return redactor === undefined ? json : redactor.value(json)
}

/** Returns a context that notes what the handler emits and keeps. A proxy, since the context has private fields. */
function notingContext(context: ToolContext, keeping: OutcomeKeeping, note: (step: RecordedStep) => void): ToolContext {
  const emit: ToolContext['emit'] = (type, data) => {
    note({ emit: hiddenWords(String(type), keeping), ...(data !== undefined && { data: progressOf(data, keeping) }) })
    context.emit(type, data)
  }
  const keep: ToolContext['keep'] = async (source, described) => {
    const step = { keep: '', mediaType: String(described.mediaType), hasFailed: undefined as true | undefined }
    const noted = keepSource(source, keeping, (name) => (step.keep = name ?? ''))
    note(step as RecordedStep)
    try {
      return await context.keep(noted, described)
    } catch (error) {
      step.hasFailed = true
      throw error
    }
  }
  return new Proxy(context, {
    get: (target, name) =>
      name === 'emit' ? emit : name === 'keep' ? keep : (Reflect.get(target, name, target) as unknown),
  })
}
