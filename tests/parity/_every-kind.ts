// Uses tools of every kind, as a process of its own whose coverage is measured, and prints what came of them.
import { createExecutor, tool, Tool, type ToolEvent } from 'toolwright'
import { z } from 'zod'

const numbers = z.object({ operation: z.enum(['add', 'subtract']), a: z.number(), b: z.number() })
const calculator = tool({
  name: 'calculator',
  description: 'Performs arithmetic operations',
  inputSchema: numbers,
  handler: ({ operation, a, b }) => (operation === 'add' ? a + b : a - b),
})
const raw = tool({
  name: 'raw',
  description: 'Adds',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  handler: async ({ a, b }) => Promise.resolve(a + b),
})
const informed = tool({
  name: 'informed',
  description: 'Names itself',
  handler: (_input, context) => context.toolName,
})
const counting = tool({
  name: 'counting',
  description: 'Counts down',
  inputSchema: z.object({ from: z.number() }),
  async *handler({ from }): AsyncGenerator<number, string> {
    for (let number = from; number > 0; number--) yield number
    await Promise.resolve()
    return 'lift-off'
  },
})
const failing = tool({
  name: 'failing',
  description: 'Fails',
  handler: (): string => {
    throw new TypeError('no')
  },
})
const checked = tool({
  name: 'checked',
  description: 'Returns what it must not',
  outputSchema: z.number(),
  handler: () => 'seven' as never,
})
const quick = tool('quick', ({ text }: { text: string }) => text.toUpperCase())
const { description, inputSchema } = calculator
const overridden = tool({ name: 'difference', description, inputSchema: inputSchema ?? {}, handler: () => 0 })

const executor = createExecutor({ tools: [calculator, raw, informed, counting, failing, checked, quick, overridden] })
const turn = await executor.executeToolCalls([
  { name: 'calculator', args: { operation: 'subtract', a: 1, b: 2 } },
  { name: 'raw', args: { a: 3, b: 4 } },
  { name: 'informed' },
  { name: 'counting', args: '{"from":2}' },
  { name: 'failing' },
  { name: 'checked' },
  { name: 'quick', args: { text: 'loud' } },
  { name: 'difference', args: { operation: 'add', a: 1, b: 2 } },
  { name: 'raw', args: { a: 'three', b: 4 } },
  { name: 'calculator', args: { operation: 'divide', a: 1, b: 2 } },
])
const results = turn.map(({ content, error }) => error?.code ?? (content[0]?.type === 'text' ? content[0].text : ''))

/** What a call gives, or the code of the error that it throws. */
async function outcomeOf(call: () => unknown): Promise<unknown> {
  try {
    return await call()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
}

async function streamed(): Promise<unknown[]> {
  const steps: unknown[] = []
  const stream = counting.stream({ from: 2 })
  let step = await stream.next()
  for (; step.done !== true; step = await stream.next()) steps.push(step.value)
  return [...steps, step.value]
}

const events: ToolEvent[] = []
const bound = calculator.executor({ on: (event) => void events.push(event) })
const passed = await outcomeOf(async () => (await bound({ operation: 'add', a: 2, b: 2 })).asString())
const refused = await outcomeOf(() => bound({ operation: 'divide' } as never))
const direct = await Promise.all([
  calculator({ operation: 'add', a: 1, b: 2 }),
  raw.invoke({ a: 1, b: 1 }),
  counting({ from: 1 }),
  streamed(),
  outcomeOf(() => failing()),
  outcomeOf(() => raw({ a: 'x' } as never)),
  outcomeOf(() => checked()),
  outcomeOf(() => calculator.validate({ operation: 'add', a: 1, b: 2 })),
  outcomeOf(() => new Tool({ name: 'no spaces please', colour: 'red' } as never)),
  outcomeOf(() => tool({ name: 'idle', description: 'Does nothing' } as never)),
])
const heard = events.map(({ event }) => event)
const isTool = [Tool.isTool(calculator), Tool.isTool({}), JSON.stringify(raw) === JSON.stringify(raw.describe())]
process.stdout.write(JSON.stringify({ results, direct, bound: [passed, refused], heard, isTool }))
