import { CallContext } from './call/context.ts'
import { Deadline } from './call/deadline.ts'
import { eventOf } from './call/emit.ts'
import { Parcel } from './call/parcel.ts'
import { ResultReader } from './json/json-text.ts'
import { resultOf } from './outcome/result.ts'
import { encodeResult, keepSmall } from './result/encode.ts'

/**
 * An object of each kind that a call makes, with nothing of any user in it.
 *
 * V8 compiles the pipeline for the hidden classes of such objects, and holds the classes weakly. Between calls no such object is
 * alive: a full collection would drop the compiled code, and thousands of calls would run slowly.
 */
const shapes: unknown[] = []

/** Keeps an object of each hidden class, once in a process. A test tells which is missing. */
export function keepShapes(): void {
  if (shapes.length > 0) return
  // A field that is no number may hold anything, as far as hidden classes go. Times are no integers, which are another class.
  const [any, durationMs, effect] = [{} as never, 0.5, 'none'] as const
  shapes.push(new ResultReader())
  for (const id of [undefined, '']) {
    for (const principal of [undefined, '']) {
      const deadline = new Deadline(0, undefined)
      const call = new Parcel({ id, name: '' }, '', '', 'model', deadline)
      call.principal = principal
      call.context = new CallContext(call, any, any)
      shapes.push(
        call,
        eventOf(call, any, 'call:received', { args: any }),
        eventOf(call, any, 'tool:start', { input: any }),
        eventOf(call, any, 'tool:end', { isError: any, durationMs }),
        eventOf(call, any, 'call:settled', { status: any, effect, error: any, durationMs }),
        eventOf(call, any, 'call:settled', { status: any, effect, result: any, durationMs }),
      )
      for (const output of ['', {}, any]) {
        const { content, artifact } = keepSmall(encodeResult(output), { tool: any, program: any })
        const result = resultOf(call, any, effect, content)
        if (output === any) result.error = any
        else result.artifact = artifact
        shapes.push(result)
      }
    }
  }
}
