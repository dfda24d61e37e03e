// Whether a call costs more if there are more tools to choose from, and what it costs to hold and list them.
import { createExecutor, tool, ToolRegistry, type Tool } from 'toolwright'
import * as zod from 'zod'
import { compare, printTable } from './_runner.ts'
import { args, searchSchema } from './_search.ts'

const inputSchema = searchSchema(zod)
const make = (index: number): Tool =>
  tool({ name: `search_${index}`, description: 'Searches', inputSchema, handler: () => 'done' })

const counts = [1, 10, 100, 1_000, 10_000]
const registries = counts.map((count) => {
  return [count, new ToolRegistry(Array.from({ length: count }, (_, index) => make(index)))] as const
})
const calls = registries.map(([count, tools]) => {
  const executor = createExecutor({ tools })
  const call = { name: `search_${Math.floor(count / 2)}`, args }
  return [`${count.toLocaleString('en')} tools`, () => executor.execute(call)] as const
})
printTable(await compare('one call', Object.fromEntries(calls), { clock: 'processor' }))

const depths = [0, 1, 4, 16].map((depth) => {
  let tools = new ToolRegistry([make(0)])
  for (let level = 1; level <= depth; level++) tools = new ToolRegistry([make(level)], { parent: tools })
  const executor = createExecutor({ tools })
  const call = { name: 'search_0', args }
  return [depth === 0 ? 'the registry itself' : `${depth} parents up`, () => executor.execute(call)] as const
})
printTable(await compare('one call of a tool that is', Object.fromEntries(depths), { clock: 'processor' }))

const lists = registries.map(([count, tools]) => [`${count.toLocaleString('en')} tools`, () => tools.list()] as const)
printTable(await compare('to list them', Object.fromEntries(lists), { clock: 'processor' }))

const tools = Array.from({ length: 1_000 }, (_, index) => make(index))
printTable(
  await compare(
    'to hold 1,000 tools',
    {
      'a Map': () => new Map(tools.map((one) => [one.name, one])),
      'a registry': () => new ToolRegistry(tools),
      'an executor': () => createExecutor({ tools }),
    },
    { clock: 'processor' },
  ),
)
