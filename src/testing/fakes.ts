import { InvalidConfigurationError, ToolFailure } from '../errors.ts'
import { checkOptions, oneOf, type Confirmed, type Middleware, type Observer, type Runner } from '../extension.ts'
import type { Extension, ToolContext } from '../index.ts'
import { requireNone } from './_failure.ts'
import { handlerTypes, isHarmless, isOwnType, runOwnHandler } from './_handlers.ts'
import { withCallLog, type CallLog } from './_log.ts'

/** Answers a call in place of a handler, and may do all that a handler may: throw, wait, yield progress, keep artifacts. */
export type FakeHandler = {
  // Written as a method, so that a fake may declare the args that it takes.
  answer(args: Readonly<Record<string, unknown>>, context: ToolContext): unknown
}['answer']

/** What the handler would return, the error that it would throw (a text becomes a `ToolFailure`), or what runs in its place. */
export type FakeAnswer = { readonly result: unknown } | { readonly error: string | Error } | FakeHandler

/** One answer for every call, or one for each call in turn. */
export type Fake = FakeAnswer | readonly FakeAnswer[]

/** The options of `fakeTools`: what tools without a fake do. */
export interface FakeOptions {
  /**
   * What becomes of a tool without a fake. `'fail'`: it never runs, its result is an error, and `verify` throws. `'readonly'`:
   * it runs if the application says that it changes nothing. `'run'`: it runs. Default: `'fail'`.
   */
  readonly others?: 'fail' | 'run' | 'readonly'
}

/** What `fakeTools` returns: an extension for `use`, and the log of its calls. */
export interface Fakes extends Extension, CallLog {
  /** What was called and had no fake, or no answer left, in words. */
  readonly misses: readonly string[]
  /**
   * Throws an `AssertionError` if a call was missed, a fake names no tool, or a fake was never asked.
   */
  readonly verify: () => void
}

/**
 * Stands in for the handlers of tools. All else of a call is real: schemas, policies, approvals, middleware, hooks, `outputSchema`,
 * artifacts, records and events. Clients answer their tools as in production, with `executor.calls.respond`.
 *
 * A stand-in takes the place of the handler alone, so it comes last in `use`, and is also a log that the matchers take.
 *
 * @param fakes The fakes, by the names of tools.
 * @param options What becomes of the other tools.
 * @throws `E_INVALID_CONFIGURATION` if a fake is neither `{ result }`, `{ error }`, a function, nor an array of these. The executor
 * throws it if the application has a runner of its own for tools of type `server` or `mcp`; `testOptions` replaces that.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { fakeTools } from 'toolwright/testing'
 *
 * const refund = tool('refund', (_args: { order: string }) => Promise.reject(new Error('the real bank was asked')))
 * const fakes = fakeTools({ refund: [{ error: 'The bank is closed.' }, { result: 'refunded' }] })
 * const executor = createExecutor({ tools: [refund], use: [fakes] })
 * await executor.execute({ name: 'refund', args: { order: 'A-1' } })
 * const { content } = await executor.execute({ name: 'refund', args: { order: 'A-1' } })
 * console.log(content) // [ { type: 'text', text: 'refunded' } ]
 * fakes.verify()
 * ```
 * @experimental
 */
export function fakeTools(fakes: Readonly<Record<string, Fake>>, options: FakeOptions = {}): Fakes {
  checkOptions('fakeTools', options, { others: oneOf('fail', 'run', 'readonly') })
  const { others = 'fail' } = options
  const states = statesOf(fakes)
  const misses: string[] = []

  const miss = (words: string): never => {
    misses.push(words)
    throw new ToolFailure(words)
  }

  function answer(call: Confirmed, context: ToolContext, otherwise: () => unknown): unknown {
    const { name } = call.tool
    const state = states.get(name)
    if (state === undefined) {
      if (others === 'run' || (others === 'readonly' && isHarmless(call.tool))) return otherwise()
      const hint = /^\w+$/.test(name) ? name : JSON.stringify(name)
      return miss(`${name} was called in a test and has no fake. Add one: fakeTools({ ${hint}: { result: … } }).`)
    }
    const next = state.answers[state.isList ? state.count : 0]
    state.count++
    if (next !== undefined) return answered(next, call, context)
    const [times, has] = [state.count, state.answers.length]
    return miss(
      `${name} was called ${timesText(times)}, and its fake has ${has === 1 ? '1 answer' : `${has} answers`}.`,
    )
  }

  const runners: Runner[] = handlerTypes.map((type) => ({
    type,
    run: (call, context) => answer(call, context, () => runOwnHandler(call, context)),
  }))
  // A type of the application's own has a runner already. The fake stands before it.
  const middleware: Middleware = async (call, context, next) =>
    isOwnType(call.tool) ? answer(call, context, next) : next()
  const observer: Observer = (event, tool) => {
    const state = states.get(event.toolName)
    if (state !== undefined && tool?.type === 'client') state.isClients = true
  }

  return withCallLog<Omit<Fakes, keyof CallLog>>({
    runners,
    middleware: [middleware],
    observers: [observer],
    tools({ isTaken }) {
      for (const [name, state] of states) state.isKnown = state.isKnown === true || isTaken(name)
      return noFakeTools
    },
    misses,
    verify() {
      const idle = [...states].flatMap(([name, state]) => (state.count === 0 ? idleWords(name, state) : []))
      requireNone('The fakes do not fit what was called:', [...misses, ...idle])
    },
  })
}

const noFakeTools: readonly never[] = []

interface FakeState {
  readonly answers: readonly FakeAnswer[]
  readonly isList: boolean
  /** How often it was asked. */
  count: number
  /** Whether an executor has a tool of the name. `undefined` until its tools were read. */
  isKnown: boolean | undefined
  isClients: boolean
}

function statesOf(fakes: Readonly<Record<string, Fake>>): ReadonlyMap<string, FakeState> {
  if (typeof fakes !== 'object' || fakes === null || Array.isArray(fakes)) {
    throw new InvalidConfigurationError('`fakeTools` takes an object: fakeTools({ refund: { result: … } }).')
  }
  return new Map(
    Object.entries<Fake>(fakes).map(([name, fake]) => {
      const answers = isAnswers(fake) ? [...fake] : [fake]
      if (!answers.every(isAnswer)) {
        throw new InvalidConfigurationError(
          `The fake of ${JSON.stringify(name)} is none. A fake is { result: … }, { error: … }, a function, or an array of these.`,
        )
      }
      return [name, { answers, isList: isAnswers(fake), count: 0, isKnown: undefined, isClients: false }]
    }),
  )
}

function isAnswers(fake: Fake): fake is readonly FakeAnswer[] {
  return Array.isArray(fake)
}

function isAnswer(answer: unknown): answer is FakeAnswer {
  if (typeof answer === 'function') return true
  return typeof answer === 'object' && answer !== null && ('result' in answer || 'error' in answer)
}

function answered(answer: FakeAnswer, call: Confirmed, context: ToolContext): unknown {
  if (typeof answer === 'function') return answer(call.input as Readonly<Record<string, unknown>>, context)
  if ('result' in answer) return answer.result
  throw typeof answer.error === 'string' ? new ToolFailure(answer.error) : answer.error
}

function idleWords(name: string, { isKnown, isClients }: FakeState): string {
  if (isClients) return `The fake of ${name} was never asked: a client runs it. Answer it with executor.calls.respond.`
  return isKnown === false ? `There is no tool ${name}.` : `The fake of ${name} was never asked.`
}

function timesText(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
