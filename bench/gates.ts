// What gates cost a call: nothing if there is none, little if one answers at once.
// The second line shows how far two equal variants differ. The last table has equal calls that run once, beside the same calls if each
// runs.
import { createExecutor, tool, type Extension } from 'toolwright'
import { coalesce } from 'toolwright/gates/coalesce'
import { once } from 'toolwright/gates/once'
import * as zod from 'zod'
import { compare, printTable } from './_runner.ts'
import { args, searchSchema } from './_search.ts'

const inputSchema = searchSchema(zod)
const handlers: Record<string, () => unknown> = {
  'a handler that returns at once': () => 'done',
  'an async handler': async () => 'done',
}
const passing: Extension = { gates: [{ name: 'passing', enter: () => {} }] }

for (const [title, handler] of Object.entries(handlers)) {
  printTable(
    await compare(title, {
      'no gate': pipeline(handler),
      'no gate, once more': pipeline(handler),
      'a gate that answers at once': pipeline(handler, passing),
      'coalesce, for other tools': pipeline(handler, coalesce()),
      'coalesce, for this tool': pipeline(handler, coalesce({ tools: () => true })),
      'once, for other tools': pipeline(handler, once()),
    }),
  )
}

/** A handler that works for about a tenth of a millisecond, as one that reads a file does. */
async function working(): Promise<number> {
  await Promise.resolve()
  let sum = 0
  for (let index = 0; index < 100_000; index++) sum += Math.sqrt(index)
  return sum
}

printTable(
  await compare('1,000 equal calls at the same time', {
    'each runs': together(),
    'they run once': together(coalesce({ tools: () => true })),
  }),
)

function pipeline(handler: () => unknown, ...use: Extension[]): () => unknown {
  const search = tool({ name: 'search', description: 'Searches', inputSchema, handler })
  const executor = createExecutor({ tools: [search], use })
  const call = { id: 'call_1', name: 'search', args }
  return () => executor.execute(call)
}

function together(...use: Extension[]): () => Promise<unknown> {
  const search = tool({ name: 'search', description: 'Searches', inputSchema, handler: working })
  const executor = createExecutor({ tools: [search], use })
  const call = { name: 'search', args }
  return () => Promise.all(Array.from({ length: 1_000 }, () => executor.execute(call)))
}
