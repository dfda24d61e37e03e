// One call through us and through the packages that people would take instead. A call that does nothing, and one that does something.
import { createExecutor, tool, type Tool } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { floorOf } from './_floor.ts'
import { printTable, printWords, type Row } from './_results.ts'
import { install, load, rivals, versionOf, type Args, type Duty, type Rival, type Subject } from './_rivals.ts'
import { compare, compareProcessorTime } from './_runner.ts'
import { args, searchSchema } from './_search.ts'

install()
const schema = searchSchema(await load<Parameters<typeof searchSchema>[0]>('zod'))
const nothing: Subject = { name: 'search', schema, handler: async () => 'done' }

const rows = Array.from({ length: 60 }, (_, index) => ({
  id: `row_${index}`,
  region: index % 2 === 0 ? 'north' : 'south',
  amount: index * 12.5,
  currency: 'EUR',
  note: 'He said: "compare with last year", then left. Nothing else was said.',
}))
/** Two milliseconds of waiting, ten kilobytes of result. */
const something: Subject = {
  name: 'search',
  schema,
  handler: async () => {
    await new Promise((resolve) => setTimeout(resolve, 2))
    return { rows }
  },
}

const ours: readonly Rival[] = [
  {
    name: 'toolwright, a direct call',
    package: 'toolwright',
    duties: ['validates'],
    async prepare(subject) {
      const made = toolOf(subject)
      return ({ value }) => made(value)
    },
  },
  {
    name: 'toolwright, an executor',
    package: 'toolwright',
    duties: ['validates', 'identifies', 'spools'],
    async prepare(subject) {
      const executor = createExecutor({ tools: [toolOf(subject)] })
      return ({ value }) => executor.execute({ id: 'call_1', name: subject.name, args: value })
    },
  },
  {
    name: 'toolwright, observer, journal in memory',
    package: 'toolwright',
    duties: ['validates', 'identifies', 'records', 'emits', 'spools'],
    async prepare(subject) {
      const executor = createExecutor({ tools: [toolOf(subject)], use: [{ observers: [() => {}] }, memoryJournal()] })
      return ({ value }) => executor.execute({ id: 'call_1', name: subject.name, args: value })
    },
  },
]

function toolOf({ name, handler }: Subject): Tool {
  return tool({ name, description: 'Searches', inputSchema: schema, handler: (input) => handler(input as never) })
}

const input: Args = { value: args, text: JSON.stringify(args) }

async function variantsOf(subject: Subject): Promise<Record<string, () => Promise<unknown>>> {
  const floor = floorOf(subject.name, schema, subject.handler)
  const variants: Record<string, () => Promise<unknown>> = {
    floor: () => floor(args),
    'the handler alone': async () => subject.handler(args as never),
  }
  for (const { name, prepare } of [...ours, ...rivals]) {
    const call = await prepare(subject)
    await call(input)
    variants[name] = () => call(input)
  }
  return variants
}

const duties: readonly Duty[] = ['validates', 'identifies', 'emits', 'records', 'spools']
printWords({
  head: ['one call through', 'version', ...duties],
  cells: [...ours, ...rivals].map((rival) => [
    rival.name,
    rival.package === 'toolwright' ? 'this one' : versionOf(rival.package),
    ...duties.map((duty) => (rival.duties.includes(duty) ? 'yes' : '–')),
  ]),
})

const idle = await compare('a call that does nothing', await variantsOf(nothing), { duration: 10, clock: 'processor' })
printTable(idle)

// The waiting is the same for all: what a package adds is what it takes of the processor beyond the handler alone.
const busy = await compareProcessorTime(
  '2 ms of work and a result of 10 kB, processor time',
  await variantsOf(something),
)
const alone = busy.find(({ name }) => name === 'the handler alone')
const beyond = busy.map((row): Row => {
  const added = (figure: number): number => figure - (alone?.median ?? NaN)
  const floor = added(busy[0]?.median ?? NaN)
  const { median, p10, p90 } = row
  return { ...row, median: added(median), p10: added(p10), p90: added(p90), ratio: added(median) / floor, samples: [] }
})
printTable(
  beyond
    .filter(({ name }) => name !== 'the handler alone')
    .map((row) => ({ ...row, title: `${row.title} beyond the handler` })),
)
