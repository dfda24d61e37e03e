import { content, json } from '../result/content.ts'
import { copyOfPlain } from '../json/copy.ts'
import { internals } from '../tool/definition.ts'
import { drain, isGenerator } from './stream.ts'
import {
  ClientToolError,
  InvalidConfigurationError,
  InvalidExecutionTypeError,
  isToolError,
  ToolNoHandlerError,
} from '../errors.ts'
import { emitProgress } from '../call/emit.ts'
import { downstream, failureEffect, returnedFailure } from '../outcome/failure.ts'
import { isKnown } from '../outcome/known.ts'
import {
  setInput,
  setReturned,
  stageFields,
  maskedInput,
  type Admitted,
  type Confirmed,
  type Ran,
} from '../call/parcel.ts'
import type { ToolContext } from '../call/context-types.ts'
import { timerLength } from '../call/deadline.ts'
import type { Following } from '../call/following.ts'
import { Wait } from '../call/wait.ts'
import { compose } from './middleware.ts'
import type { Runner } from '../ports.ts'
import { whenReady, isThenable } from '../json/thenable.ts'
import type { RunContext } from '../executor-context.ts'

/** How long a client may take to answer if its tool has no timeout, in milliseconds. */
const clientTimeout = 30_000

/** Whether a call does not run now: a policy or the provider gave its result, or it waits for a client that is not asked here. */
export function runsNothing({ tool, verdict, call, resumption }: Confirmed, { runners }: RunContext): boolean {
  if (tool.type === 'server' && verdict === null && resumption === undefined) return false
  if ((verdict !== null && verdict.result !== null) || resumption?.isExpired === true) return true
  if (runners.has(tool.type)) return false
  if (tool.type === 'provider') return call.result !== undefined
  return tool.type === 'client' && tool.requiresResponse && resumption?.reply === undefined
}

/** Returns the result of a call that does not run here: a policy gave it, or the provider ran the tool itself. */
export function resultWithoutRun(confirmed: Confirmed, kernel: RunContext): { readonly value: unknown } | null {
  if (!runsNothing(confirmed, kernel)) return null
  const { tool, verdict, call, resumption } = confirmed
  if (verdict !== null && verdict.result !== null) return verdict.result
  if (resumption?.isExpired) throw new ClientToolError('The client did not answer in time.')
  if (tool.type === 'provider') {
    confirmed.effect = 'completed'
    return { value: call.result }
  }
  throw new Wait(
    'client',
    { prompt: `Answer ${tool.name}`, input: maskedInput(confirmed) },
    tool.timeout ?? clientTimeout,
  )
}

/** Runs the handler within the middleware. `input` is what was confirmed. */
export function wrap(admitted: Admitted, input: unknown, kernel: RunContext): Ran | Promise<Ran> {
  const { tool, deadline } = admitted
  const isBare = kernel.middleware.length === 0 && tool.middleware.length === 0 && tool.hooks?.postToolUse === undefined
  if (isBare) return runHandler(admitted, input, kernel)
  // A copy, so that no middleware changes what a person approved.
  const own = admitted.approval === null ? input : copyOfPlain(input)
  try {
    const passed = compose(admitted, kernel, () => runHandler(admitted, own, kernel))
    return deadline.within(passed, (value) => passedOn(value, admitted), failing(admitted, true))
  } catch (thrown) {
    throw errorOf(thrown, admitted, true)
  }
}

/** Takes what the middleware gave. One that forgets to return what `next` gave would lose it in silence. */
function passedOn(value: unknown, admitted: Admitted): Ran {
  if (value !== undefined || stageFields(admitted).returned === undefined) return setReturned(admitted, value)
  throw new InvalidConfigurationError(
    'A middleware called `next` and returned nothing. Return what `next()` gives, or null.',
  )
}

/** Runs the handler, or the runner of the tool's type, once. `input` is what was confirmed. */
export function runHandler(admitted: Admitted, input: unknown, kernel: RunContext): Ran | Promise<Ran> {
  admitted.deadline.check()
  setInput(admitted, input) // a middleware may have replaced it
  const work = workOf(admitted, kernel)
  admitted.effectBefore = admitted.effect
  if (hasEffect(admitted)) admitted.effect = 'unknown'
  admitted.attempts++
  if (admitted.attempts === 1) return invoke(admitted, work, input, kernel)
  return whenReady(kernel.recorder?.commit(admitted), () => {
    admitted.deadline.check() // it may have passed while the attempt was written
    return invoke(admitted, work, input, kernel)
  })
}

/** Whether the tool may have an effect. Only outputs have none, and tools that the application made or called `readonly`. */
function hasEffect({ tool: { type, traits, mcpConfig } }: Confirmed): boolean {
  return type !== 'output' && !(traits.readonly && (type === 'server' || mcpConfig?.hostTraits?.readonly === true))
}

function invoke(admitted: Admitted, work: HandlerWork, input: unknown, kernel: RunContext): Ran | Promise<Ran> {
  try {
    const value = work(input, admitted.context)
    if (isThenable(value)) return admitted.deadline.follow(value, handling, admitted, kernel)
    return returnedOrDrained(value, admitted, kernel)
  } catch (thrown) {
    throw errorOf(thrown, admitted)
  }
}

const handling: Following<unknown, Ran, Admitted, RunContext> = {
  take: returnedOrDrained,
  // The late outcome of a handler does not change the result. It is noted in the audit trail.
  late(isError, admitted, { recorder }) {
    recorder?.remark(admitted, isError ? 'the handler failed late' : 'the handler returned late')
  },
  fail(thrown, admitted) {
    throw errorOf(thrown, admitted)
  },
}

/** Takes a value that a handler gave. A generator first runs to its end. */
function returnedOrDrained(value: unknown, admitted: Admitted, kernel: RunContext): Ran | Promise<Ran> {
  if (!isGenerator(value)) return returned(value, admitted, kernel)
  const progress = (data: unknown): void => emitProgress(admitted, kernel, 'yield', data)
  const drained = drain(value, admitted.deadline, progress, (last) => returned(last, admitted, kernel))
  return drained.catch(failing(admitted))
}

function returned(value: unknown, admitted: Admitted, kernel: RunContext): Ran {
  const failure = returnedFailure(value)
  if (failure !== undefined) throw failure
  const { type, requiresResponse } = admitted.tool
  const isPlaceholder = type === 'client' && !requiresResponse && !kernel.runners.has('client')
  if (hasEffect(admitted) && !isPlaceholder) admitted.effect = 'completed'
  return setReturned(admitted, value)
}

function failing(confirmed: Confirmed, isOfMiddleware?: true): (thrown: unknown) => never {
  return (thrown) => {
    throw errorOf(thrown, confirmed, isOfMiddleware)
  }
}

/** Makes the error of the call. Middleware also passes on those of the package, such as the handler's, and a known outcome. */
function errorOf(thrown: unknown, confirmed: Confirmed, isOfMiddleware = false): object {
  const { deadline, tool } = confirmed
  deadline.check()
  if (isOfMiddleware) return isToolError(thrown) || isKnown(thrown) ? thrown : downstream(tool.name, thrown)
  const effect = failureEffect(thrown)
  // The application's own handler is believed, but an earlier attempt may have had an effect.
  if (effect !== undefined && tool.type !== 'mcp' && hasEffect(confirmed)) {
    confirmed.effect = effect === 'none' ? confirmed.effectBefore : effect
  }
  return downstream(tool.name, thrown)
}

/** Whether a runner asks a client. While the client thinks, the call takes no slot and no time. */
export function asksClient({ tool, resumption }: Confirmed, { runners }: RunContext): boolean {
  return tool.type === 'client' && tool.requiresResponse && runners.has('client') && resumption?.reply === undefined
}

function askClient(confirmed: Confirmed, runner: Runner): unknown {
  const { tool, deadline, context } = confirmed
  const { timeout = clientTimeout } = tool
  const answer = runner.run(confirmed, context)
  if (!isThenable(answer)) return answer
  const late = (): void => deadline.cancel(new ClientToolError(`The client did not answer within ${timeout} ms.`))
  const timer = setTimeout(late, timerLength(timeout === 0 ? Infinity : timeout))
  return deadline.outside(answer).finally(() => clearTimeout(timer))
}

type HandlerWork = (input: unknown, context: ToolContext) => unknown

/** Most calls need only these lines: engines inline short functions. */
function workOf(confirmed: Confirmed, kernel: RunContext): HandlerWork {
  const { tool, resumption } = confirmed
  const { handler } = internals(tool)
  const isPlain = tool.type === 'server' && resumption === undefined && kernel.runners.size === 0
  return isPlain && handler !== undefined ? handler : otherWork(confirmed, handler, kernel)
}

function otherWork(confirmed: Confirmed, handler: HandlerWork | undefined, kernel: RunContext): HandlerWork {
  const { tool, resumption } = confirmed
  const reply = resumption?.reply
  const runner = kernel.runners.get(tool.type)
  if (reply !== undefined) return () => reply.value
  if (runner !== undefined) {
    return (_, context) =>
      asksClient(confirmed, kernel) ? askClient(confirmed, runner) : runner.run(confirmed, context)
  }
  switch (tool.type) {
    case 'server':
    case 'mcp':
      if (handler === undefined) throw new ToolNoHandlerError(`Tool "${tool.name}" has no handler.`)
      return handler
    case 'output':
      return json
    case 'client':
      if (tool.requiresResponse) {
        throw new ToolNoHandlerError(`Tool "${tool.name}" waits for a client: run it through an executor.`)
      }
      return () => content(tool.defaultResult)
    case 'provider':
      throw new InvalidExecutionTypeError(
        `The call of "${tool.name}" lacks the result of the provider, which runs the tool.`,
      )
    default:
      throw new InvalidExecutionTypeError(
        `Nothing here runs tools of type "${tool.type}". Give the executor an extension with a runner for it.`,
      )
  }
}
