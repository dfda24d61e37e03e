// The first calls of a process, timed: prints milliseconds for the making, the first call, one of the next nine, one of the next ninety.
import { args, searchJsonSchema, searchSchema } from './_search.ts'

const makers: Record<string, () => Promise<() => Promise<unknown>>> = {
  async floor() {
    const inputSchema = searchSchema(await import('zod'))
    const { floorOf } = await import('./_floor.ts')
    const floor = floorOf('search', inputSchema, () => 'done')
    return () => floor(args)
  },
  async pipeline() {
    const inputSchema = searchSchema(await import('zod'))
    const { createExecutor, tool } = await import('toolwright')
    const search = tool({ name: 'search', description: 'Searches', inputSchema, handler: () => 'done' })
    const executor = createExecutor({ tools: [search] })
    return () => executor.execute({ name: 'search', args })
  },
  async raw() {
    const { createExecutor, tool } = await import('toolwright')
    const search = tool({
      name: 'search',
      description: 'Searches',
      inputSchema: searchJsonSchema,
      handler: () => 'done',
    })
    const executor = createExecutor({ tools: [search] })
    return () => executor.execute({ name: 'search', args })
  },
}

/** Milliseconds of the processor, which are the same on a busy machine. */
function now(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e3
}

const start = now()
const call = await makers[process.argv[2] ?? '']?.()
if (call === undefined) throw new Error('floor, pipeline or raw?')
const times = [now() - start]
for (const count of [1, 9, 90]) {
  const before = now()
  for (let index = 0; index < count; index++) await call()
  times.push((now() - before) / count)
}
process.stdout.write(times.join(' '))
