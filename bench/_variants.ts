// The calls of one handler in each way that `overhead` measures.
import { createExecutor, tool } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { openTelemetry } from 'toolwright/observers/open-telemetry'
import * as zod from 'zod'
import { floorOf, tightly } from './_floor.ts'
import { handlers } from './_handlers.ts'
import { args, searchSchema } from './_search.ts'

const inputSchema = searchSchema(zod)
const definition = { name: 'search', description: 'Searches', inputSchema }

/** The ways that run nothing of the package. */
export const controls: readonly string[] = ['tight floor', 'bare handler', 'validated handler']

/** Returns the ways to call a handler, by their names; the first is the measure of the others. */
export function variantsOf(title: string): Record<string, () => unknown> {
  const handler = handlers[title]
  if (handler === undefined)
    throw new Error(`No handler is named ${title}. There are: ${Object.keys(handlers).join(', ')}.`)

  const tightFloor = floorOf('search', inputSchema, handler, tightly)
  const floor = floorOf('search', inputSchema, handler)
  const validated = async (): Promise<unknown> => {
    const result = await inputSchema['~standard'].validate(args)
    if (result.issues) throw new Error('invalid')
    return handler()
  }
  const search = tool({ ...definition, handler })
  const bare = createExecutor({ tools: [search] })
  const compiled = createExecutor({ tools: [tool({ ...definition, inputSchema: zod.compile(inputSchema), handler })] })
  const wrapped = createExecutor({ tools: [search], use: [{ middleware: [(_call, _context, next) => next()] }] })
  const traced = createExecutor({ tools: [search], use: [openTelemetry()] })
  const watched = createExecutor({ tools: [search], use: [{ observers: [() => {}] }] })
  const decided = createExecutor({
    tools: [search],
    use: [{ observers: [() => {}], policies: [{ name: 'none', decide: () => undefined }] }],
  })
  const everything = createExecutor({
    tools: [search],
    use: [{ observers: [() => {}], policies: [{ name: 'none', decide: () => undefined }] }, memoryJournal()],
  })
  const call = { id: 'call_1', name: 'search', args }
  const text = { id: 'call_1', name: 'search', args: JSON.stringify(args) }
  return {
    'tight floor': () => tightFloor(args),
    'floor with canonicalize': () => floor(args),
    'bare handler': async () => handler(),
    'validated handler': validated,
    'direct call': () => search(args),
    'whole pipeline': () => bare.execute(call),
    '… z.compile': () => compiled.execute(call),
    '… args as text': () => bare.execute(text),
    '… one middleware': () => wrapped.execute(call),
    '… openTelemetry, no SDK': () => traced.execute(call),
    '… one observer': () => watched.execute(call),
    '… one policy, one observer': () => decided.execute(call),
    '… and a journal in memory': () => everything.execute(call),
  }
}
