import { z } from 'zod'
import { tool, type JsonSchema, type Tool } from 'toolwright'

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

const hostileError: unknown = new Proxy(new Error('x'), {
  get() {
    throw new Error('not for you')
  },
})

function throwing(name: string, thrown: unknown): Tool {
  return tool(name, () => {
    throw thrown
  })
}

let running = 0
let peak = 0
let arrived = 0
let open = (): void => {}
const everybody = new Promise<void>((resolve) => (open = resolve))

const tools: readonly Tool[] = [
  tool({
    name: 'double',
    description: 'Doubles a number',
    inputSchema: z.object({ value: z.number() }),
    handler: ({ value }) => value * 2,
  }),
  throwing('throws_null', null),
  throwing('throws_text', 'just text'),
  throwing('throws_frozen', Object.freeze(new RangeError('frozen'))),
  throwing('throws_hostile', hostileError),
  throwing('throws_escapes', new Error('\u001B[31mred\u0007 \u009B2J \u202Eevil\r\nsecond line')),
  tool('gives_cycle', () => cycle),
  tool('gives_bigint', () => ({ big: 1n })),
  tool('gives_escapes', () => ({ text: '\u001B]0;title\u0007 \u009B2J \u202E' })),
  tool({
    name: 'cannot_be_shown',
    description: 'Takes a date, which JSON Schema does not know',
    inputSchema: z.object({ when: z.date() }),
    handler: () => 'never reached with JSON',
  }),
  tool({
    name: 'bad_schema',
    description: 'Has a raw JSON Schema that is none',
    inputSchema: JSON.parse('{"type":"object","properties":{"a":{"type":"strnig"}}}') as JsonSchema,
    handler: () => 'never',
  }),
  tool({
    name: 'person_only',
    description: 'Is for people',
    audience: 'user',
    inputSchema: z.object({ when: z.string().default('now') }),
    handler: ({ when }, { caller }) => ({ when, caller }),
  }),
  tool({
    name: 'wants_yes',
    description: 'Has to be confirmed',
    inputSchema: z.object({ what: z.string() }),
    requiresConfirmation: true,
    confirmationMessage: ({ what }) => `Really ${what}?`,
    handler: ({ what }) => `did ${what}`,
  }),
  tool('prints', () => {
    console.log('on stdout?') // oxlint-disable-line eslint/no-console -- what is being tested
    process.stdout.write('and this?\n')
    return 'printed'
  }),
  tool('fails_elsewhere', async () => {
    void Promise.reject(new Error('nobody waits for this'))
    setTimeout(() => {
      throw new Error('nobody hears this')
    })
    await new Promise((resolve) => setTimeout(resolve, 20))
    return 'fine'
  }),
  tool('never_settles', () => new Promise(() => {})),
  tool('runs_for_ever', () => {
    setInterval(() => {}, 1_000)
    process.stderr.write('running\n')
    return new Promise(() => {})
  }),
  tool('counts_neighbours', async () => {
    peak = Math.max(peak, ++running)
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    running--
    return peak
  }),
  tool('meets', async ({ of }: { of: number }) => {
    if (++arrived === of) open()
    await everybody
    return arrived
  }),
  tool('progresses', async function* () {
    yield { step: 1 }
    yield 1n
    yield '\u001B[2J'
    return 'done'
  }),
]
export default tools
