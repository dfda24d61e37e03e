// What becomes of bad args. A tool takes a number, the model sends a text: does the handler see it, through us and through others?
import { createExecutor, tool } from 'toolwright'
import { valibot } from 'toolwright/validators/valibot'
import { probed } from './_probed.ts'
import { printWords } from './_results.ts'
import { install, load, rivals, type Rival } from './_rivals.ts'

install()
const { z } = await load<typeof import('zod')>('zod')
const { type } = await load<typeof import('arktype')>('arktype')
const v = await load<typeof import('valibot')>('valibot')
const { toStandardJsonSchema } = await load<typeof import('@valibot/to-json-schema')>('@valibot/to-json-schema')

const patient = z.object({ n: z.number().refine(async (n) => Promise.resolve(n < 10)) })
const plain = v.object({ n: v.number() })

interface Case {
  readonly schema: unknown
  /** The same for us, where our own wrapper is what its users are told to take. */
  readonly wrapped?: unknown
  /** Default: bad args. */
  readonly isValid?: true
}
const cases: Record<string, Case> = {
  'raw JSON Schema': { schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
  'Zod 4': { schema: z.object({ n: z.number() }) },
  ArkType: { schema: type({ n: 'number' }) },
  'Valibot, plain': { schema: plain },
  'Valibot, in its wrapper': { schema: toStandardJsonSchema(plain), wrapped: valibot(plain as never) },
  'an async check, valid args': { schema: patient, isValid: true },
}

const ours: Rival = {
  name: 'toolwright',
  package: 'toolwright',
  duties: ['validates'],
  async prepare({ name, schema, handler }) {
    const made = tool({ name, description: 'Does what it is asked to', inputSchema: schema as never, handler } as never)
    const executor = createExecutor({ tools: [made] })
    return ({ text }) => executor.execute({ name, args: text })
  },
}

/** What a package made of a call: whether the handler ran is all that counts. */
async function outcome(rival: Rival, { schema, wrapped, isValid }: Case): Promise<string> {
  const seen: unknown[] = []
  const handler = async (input: { readonly n: unknown }): Promise<string> => {
    seen.push(input.n)
    return 'done'
  }
  const value = isValid ? { n: 5 } : { n: 'not-a-number' }
  let isTaken = false
  try {
    const probeSchema = rival === ours && wrapped !== undefined ? wrapped : schema
    const call = await rival.prepare({ name: 'probe', schema: probeSchema, handler })
    isTaken = true
    await call({ value, text: JSON.stringify(value) })
  } catch {
    // Whether a package throws or answers with an error is its own affair.
  }
  if (isValid) return seen.length === 1 && seen[0] === 5 ? 'runs' : seen.length > 1 ? 'runs twice' : 'FAILS'
  if (seen.length > 0) return 'HANDLER RAN'
  return isTaken && (await takesValid(rival, schema, wrapped)) ? 'refused' : 'not taken'
}

/** A package that refuses valid args too has not checked anything: it does not take the schema. */
async function takesValid(rival: Rival, schema: unknown, wrapped: unknown): Promise<boolean> {
  return (await outcome(rival, { schema, wrapped, isValid: true })) === 'runs'
}

// What packages print about args that they refuse is not what is asked here.
for (const method of ['error', 'warn', 'log', 'info', 'debug', 'dir'] as const) console[method] = () => {}
process.on('unhandledRejection', () => {})

const all = [ours, ...rivals.filter(({ duties }) => duties.length > 0), ...probed]
const cells = []
for (const rival of all) {
  const row = [rival.name.replace(/,.*/, '')]
  for (const one of Object.values(cases)) row.push(await outcome(rival, one))
  cells.push(row)
}
printWords({ head: ['', ...Object.keys(cases)], cells })
process.exit()
