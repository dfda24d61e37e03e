import type { Confirmed, Ran } from '../call/parcel.ts'
import { emitProgress, isWatched } from '../call/emit.ts'
import { InvalidConfigurationError, isToolError } from '../errors.ts'
import { isPlainObject } from '../json/copy.ts'
import { isThenable } from '../json/thenable.ts'
import { modelText } from '../outcome/failure.ts'
import type { Middleware, ToolHooks } from '../ports.ts'
import { isObject } from '../schema/json-schema.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import type { RunContext } from '../executor-context.ts'

/** Wraps a run in middleware, of which there is some. `next` may be called again only after the former call rejected. */
export function compose(call: Confirmed, kernel: RunContext, run: () => Ran | Promise<Ran>): unknown {
  const layers = layersOf(call.tool, kernel)
  const innermost = layers.length - 1
  let failure: unknown
  return enter(0)

  // Only `next` is async: a function that is waits a turn, and longer if it returns a promise.
  function enter(depth: number): unknown {
    let mayCall = true
    const next = async (): Promise<unknown> => {
      call.deadline.check()
      if (!mayCall) {
        throw new InvalidConfigurationError('A middleware called `next` again. Call it again only after it rejected.')
      }
      mayCall = false
      try {
        if (depth < innermost) return await enter(depth + 1)
        if (failure !== undefined) emitRetry(call, kernel, failure)
        const ran = run()
        return (isThenable(ran) ? await ran : ran).returned
      } catch (error) {
        if (depth === innermost) failure = error
        mayCall = true
        throw error
      }
    }
    return layers[depth]!(call, call.context, () => {
      const passed = next()
      passed.catch(() => {}) // the middleware may not wait for it
      return passed
    })
  }
}

/** Emits the number of the attempt that begins and the error of the one before, in the words that the model may read. */
function emitRetry(call: Confirmed, kernel: RunContext, failure: unknown): void {
  if (!isToolError(failure) || !isWatched(call, kernel)) return
  const { redactor, tool, attempts } = call
  const isExposed = tool.exposeErrors ?? kernel.exposeErrors
  const message = modelText(redactor?.error(failure) ?? failure, isExposed)
  emitProgress(call, kernel, 'retry', { attempt: attempts + 1, error: { code: failure.code, message } })
}

function afterwards(hook: NonNullable<ToolHooks['postToolUse']>): Middleware {
  return async (call, context, next) => {
    const result = await next()
    const answer: unknown = await hook(call, result, context)
    if (answer === undefined || answer === null) return result
    const { replace, update } = answer as { readonly replace?: unknown; readonly update?: unknown }
    if (has(replace, 'content')) return replace.content
    if (replace !== undefined || !has(update, 'result')) {
      throw new InvalidConfigurationError(
        `\`postToolUse\` of tool "${call.name}" returned something else than nothing, { update: { result } } or { replace: { content } }.`,
      )
    }
    const updatedResult = update.result
    return isPlainObject(result) && isPlainObject(updatedResult) ? { ...result, ...updatedResult } : updatedResult
  }
}

function has<Name extends string>(answer: unknown, name: Name): answer is Record<Name, unknown> {
  return isObject(answer) && name in answer
}

/** Returns the middleware of a tool, outermost first: the executor's, the tool's own, and its `postToolUse`. */
function layersOf(tool: ToolDefinition, kernel: RunContext): readonly Middleware[] {
  const hook = tool.hooks?.postToolUse
  if (hook === undefined && tool.middleware.length === 0) return kernel.middleware
  return [...kernel.middleware, ...tool.middleware, ...(hook === undefined ? [] : [afterwards(hook)])]
}
