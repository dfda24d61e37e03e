// How many args that are nearly right are taken as they were meant, and by which steps? The cases are mistakes
// that models make, and texts that leave more than one reading, of which none may be taken. Repairs are counted by `call:repaired`.
import { createExecutor, tool } from 'toolwright'
import { argsRepair } from 'toolwright/repairs/args'
import { z } from 'zod'
import { printWords } from './_results.ts'

const inputSchema = z.object({
  days: z.number(),
  name: z.string(),
  isLocal: z.boolean().optional(),
  cities: z.array(z.string()).optional(),
  place: z.object({ x: z.number() }).optional(),
})
const forecast = tool({ name: 'forecast', description: 'A forecast', inputSchema, handler: () => 'rain' })

const right = { days: 3, name: 'Ann' }
const fence = '```'

/** Args by what is wrong with them, and whether they leave one reading. */
const cases: Readonly<Record<string, { readonly args: readonly unknown[]; readonly isClear: boolean }>> = {
  'a number as text': { args: ['3', '-0.25', '0', '120'].map((days) => ({ ...right, days })), isClear: true },
  'a boolean as text': { args: ['true', 'false'].map((isLocal) => ({ ...right, isLocal })), isClear: true },
  'a member as the text of its JSON': {
    args: [
      { ...right, cities: '["Oslo"]' },
      { ...right, place: '{"x":1}' },
    ],
    isClear: true,
  },
  'all as the text of its JSON': { args: [JSON.stringify(JSON.stringify(right))], isClear: true },
  'a comma too many': {
    args: ['{"days":3,"name":"Ann",}', '{"days":3,"name":"Ann","cities":["Oslo",]}'],
    isClear: true,
  },
  'a fence of Markdown': { args: [`${fence}json\n${JSON.stringify(right)}\n${fence}`], isClear: true },
  'several at once': { args: ['{"days":"3","name":"Ann","cities":"[\\"Oslo\\"]",}'], isClear: true },
  'a text that was cut off': { args: ['{"days":3,"name":"An', '{"days":3,"name":'], isClear: false },
  'a number that is written otherwise': {
    args: ['007', '1e3', '1.0', '0x10', '9007199254740993', ' 3'].map((days) => ({ ...right, days })),
    isClear: false,
  },
  'what would have to be converted': {
    args: [
      { ...right, days: true },
      { ...right, days: ['3'] },
      { ...right, name: 3 },
      { ...right, isLocal: 1 },
    ],
    isClear: false,
  },
  'prose, single quotes, two objects, a name twice': {
    args: [
      'Here it is: {"days":3,"name":"Ann"}',
      "{'days':3,'name':'Ann'}",
      '{"days":3,"name":"Ann"}{"days":4,"name":"Ann"}',
      '{"days":"3","days":4,"name":"Ann"}',
    ],
    isClear: false,
  },
}

const executor = createExecutor({ tools: [forecast], use: [argsRepair()] })
const steps = new Map<string, number>()
let repairs = 0
executor.on('call:repaired', ({ steps: taken }) => {
  repairs++
  for (const { step } of taken) steps.set(step, (steps.get(step) ?? 0) + 1)
})
const cells: string[][] = []
for (const [name, { args, isClear }] of Object.entries(cases)) {
  const before = repairs
  for (const one of args) await executor.execute({ name: 'forecast', args: one })
  const taken = repairs - before
  if (taken !== (isClear ? args.length : 0)) throw new Error(`${taken} of ${args.length} are repaired of: ${name}.`)
  cells.push([name, String(args.length), String(taken), String(args.length - taken)])
}
printWords({ head: ['args', 'cases', 'repaired', 'refused'], cells })
printWords({ head: ['step', 'times'], cells: [...steps].map(([step, times]) => [step, String(times)]) })
