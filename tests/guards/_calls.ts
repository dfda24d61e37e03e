// What is counted in a process of its own: calls with nothing but tools in the executor.
import { createExecutor, tool } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { z } from 'zod'
import { args, searchSchema } from '../../bench/_search.ts'

const schema = searchSchema({ z } as never)
const config = { name: 'search', description: 'Searches', inputSchema: schema }
const call = { id: 'call_1', name: 'search', args }

/** So many values that only their text is kept. */
const rows = Array.from({ length: 60 }, (_, index) => ({ id: `row_${index}`, amount: index * 12.5, tags: ['north'] }))

/** The ways to call, by name. */
export const calls: Record<string, () => Promise<unknown>> = {
  direct: callOf(() => tool({ ...config, handler: () => 'done' })),
  bare: pipeline(config, {}),
  'bare, compiled': pipeline({ ...config, inputSchema: z.compile(schema) }, {}),
  'an async handler': pipeline({ ...config, handler: async () => 'done' } as never, {}),
  'a large result': pipeline({ ...config, handler: () => rows } as never, {}),
  journaled: pipeline(config, {
    use: [
      { observers: [() => {}], policies: [{ name: 'none', decide: () => undefined }] },
      memoryJournal({ settled: 10 }),
    ],
  }),
}

function callOf(make: () => (args: typeof call.args) => Promise<unknown>): () => Promise<unknown> {
  const made = make()
  return () => made(args)
}

function pipeline(definition: typeof config, options: object): () => Promise<unknown> {
  const executor = createExecutor({ tools: [tool({ handler: () => 'done', ...definition })], ...options })
  return () => executor.execute(call)
}
