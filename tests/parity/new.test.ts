// What all of these systems say in passing, and a second reading found.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Type as SinclairType } from '@sinclair/typebox'
import { type } from 'arktype'
import {
  content,
  createExecutor,
  json,
  tool,
  Tool,
  ToolExecutionType,
  ToolFailure,
  ToolIntent,
  ToolRegistry,
  type Schema,
  type ToolEvent,
} from 'toolwright'
import { arktype } from 'toolwright/validators/arktype'
import { jsonSchema } from 'toolwright/validators/json-schema'
import { sinclairTypebox } from 'toolwright/validators/sinclair-typebox'
import { typebox } from 'toolwright/validators/typebox'
import { valibot } from 'toolwright/validators/valibot'
import { zod } from 'toolwright/validators/zod'
import { Type } from 'typebox'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import { z } from 'zod'

const root = join(import.meta.dirname, '..', '..')

it('NEW-01 the execution types and the intents have names at run time besides their literals', () => {
  const types = {
    SERVER: 'server',
    CLIENT: 'client',
    PROVIDER: 'provider',
    MCP: 'mcp',
    OUTPUT: 'output',
    BRIDGE: 'bridge',
  }
  expect(ToolExecutionType).toEqual(types)
  expect(ToolIntent).toEqual({ COMPUTE: 'compute', ACTION: 'action', RENDER: 'render' })
  const chart = tool({
    name: 'chart',
    description: 'Draws',
    type: ToolExecutionType.CLIENT,
    intent: ToolIntent.RENDER,
  })
  expect(chart.describe()).toMatchObject({ type: 'client', intent: 'render' })
})

it('NEW-02 whoever streams a client tool’s call hears of it, with the args and what it needs to answer', async () => {
  const form = tool({
    name: 'user_form',
    description: 'Collects user information',
    inputSchema: z.object({ fields: z.array(z.string()) }),
    type: 'client',
    requiresResponse: true,
  })
  const executor = createExecutor({ tools: [form] })
  const events: ToolEvent[] = []
  for await (const event of executor.stream({ id: 'toolu_1', name: 'user_form', args: { fields: ['email'] } })) {
    events.push(event)
  }
  const [received, paused] = events
  expect(received).toMatchObject({ event: 'call:received', id: 'toolu_1', args: { fields: ['email'] } })
  expect(paused).toMatchObject({ event: 'call:waiting', reason: 'client', toolName: 'user_form' })
  const token = paused?.event === 'call:waiting' ? paused.token : undefined
  const answered = await executor.calls.respond(token ?? '', { email: 'ada@example.com' })
  expect(answered).toMatchObject({ id: 'toolu_1', status: 'ok', content: [{ data: { email: 'ada@example.com' } }] })
})

it('NEW-03 Tool can be extended: a subclass adds to a tool, and goes wherever tools go', async () => {
  class RetryingTool extends Tool<{ url: string }, string> {
    readonly attempts: number

    constructor(attempts: number, fetchText: (url: string) => Promise<string>) {
      super({
        name: 'fetch_text',
        description: 'Fetches a text',
        inputSchema: z.object({ url: z.url() }),
        handler: ({ url }) => fetchText(url),
      })
      this.attempts = attempts
    }

    override async invoke(...call: Parameters<Tool<{ url: string }, string>['invoke']>): Promise<string> {
      for (let attempt = 1; ; attempt++) {
        try {
          return await super.invoke(...call)
        } catch (error) {
          if (attempt === this.attempts) throw error
        }
      }
    }
  }
  let calls = 0
  const fetching = new RetryingTool(3, () =>
    ++calls % 3 === 0 ? Promise.resolve('text') : Promise.reject(new Error()),
  )
  expect(fetching).toBeInstanceOf(RetryingTool)
  expect(fetching).toBeInstanceOf(Tool)
  expect(Tool.isTool(fetching)).toBe(true)
  expect(fetching.attempts).toBe(3)
  expect(await fetching({ url: 'https://example.com' })).toBe('text')
  expect(calls).toBe(3)

  const executor = createExecutor({ tools: new ToolRegistry([fetching]) })
  calls = 2
  const result = await executor.execute({ name: 'fetch_text', args: { url: 'https://example.com' } })
  expect(result).toMatchObject({ status: 'ok', content: [{ text: 'text' }] })
  expect((await executor.execute({ name: 'fetch_text', args: { url: 'no' } })).error?.code).toBe('E_INVALID_TOOL_ARGS')
})

it('NEW-04 the examples of tool() run, README shows a tool and every feature, and what AGENTS says of making tools works', async () => {
  const run = async (code: string): Promise<string> => {
    const flags = ['-C', '@toolwright/source', '--input-type=module-typescript', '-e']
    return (await promisify(execFile)(process.execPath, [...flags, code], { cwd: root })).stdout
  }
  const source = readFileSync(join(root, 'src', 'kernel', 'tool', 'tool.ts'), 'utf8').replaceAll(/^ *\* ?/gm, '')
  const examples = Array.from(source.matchAll(/@example\n```ts\n([^]*?)```/g), ([, example = '']) => example)
  expect(examples).toEqual(
    expect.arrayContaining([expect.stringContaining("type: 'object'"), expect.stringContaining('z.object(')]),
  )
  for (const example of examples) {
    expect(example).toContain("from 'toolwright'")
    // What a line promises in its comment is what its variable holds.
    const promises = [...example.matchAll(/^const (\w+) = await .*\/\/ (.+)$/gm)]
    const prints = promises.map(([, name = '']) => `console.log(JSON.stringify(${name}))\n`)
    expect((await run(`${example}\n${prints.join('')}`)).trim().split('\n')).toEqual(
      promises.map(([, , promised]) => promised),
    )
  }

  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [, first = ''] = /```ts\n([^]*?)```/.exec(readme) ?? []
  expect(first).toMatch(/\btool\(\{/)
  expect(await run(first)).toMatch(/^ok [0-9a-f]{64} \[/)
  const families = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const features = families
    .map(({ name }) => name)
    .filter((name) => !['kernel', 'platform', 'cli', 'approvals', 'redaction', 'spool'].includes(name))
  expect(features.length).toBeGreaterThan(7)
  expect(['validators/', 'npx toolwright', ...features].filter((feature) => !readme.includes(feature))).toEqual([])
  // Each part has its name there too, or in the page of its family to which the README leads.
  for (const folder of ['validators', ...features.map((family) => `src/${family}`)])
    expect(untold(readme, folder)).toEqual([])

  const agents = readFileSync(join(root, 'AGENTS.md'), 'utf8')
  const section = /^## Making tools\n([^]*?)^## /m.exec(agents)?.[1] ?? ''
  const patterns = /```ts\n([^]*?)```/.exec(section)?.[1] ?? ''
  for (const pattern of [
    'inputSchema: z.object',
    "type: 'object'",
    'async (',
    'function*',
    'new ToolFailure',
    'signal',
  ])
    expect(patterns).toContain(pattern)
  expect((await run(patterns)).trim()).toBe(/console\.log\(.*\/\/ (.+)$/m.exec(patterns)?.[1])
  const words = [
    'tool({ name, description, inputSchema, handler })',
    'tool(name, handler)',
    'content([...])',
    'json(value)',
  ]
  for (const word of [...words, 'ToolFailure', "jsonSchema(schema, { origin: 'wire' })"])
    expect(section).toContain(word)
  for (const validator of ['Zod', 'ArkType', 'Valibot', 'TypeBox', 'raw JSON Schema'])
    expect(section).toContain(validator)
  const raw = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
  const schemas: readonly Schema[] = [
    z.object({ city: z.string() }),
    type({ city: 'string' }),
    valibot(v.object({ city: v.string() })),
    typebox(Type.Object({ city: Type.String() })),
    raw,
    jsonSchema(raw, { origin: 'wire' }),
  ]
  const made = schemas.map(
    (inputSchema, index) =>
      new Tool({ name: `forecast_${index}`, description: 'Weather', inputSchema, handler: () => 'clear' }),
  )
  const failing = tool('failing', () => {
    throw new ToolFailure('Closed.', { recommendations: ['Come back tomorrow.'] })
  })
  const plain = [
    tool('blocks', () => content([{ type: 'text', text: 'a' }])),
    tool('row', () => json([{ type: 'text' }])),
  ]
  const executor = createExecutor({ tools: [...made, ...plain, failing] })
  for (const { name } of made) {
    expect((await executor.execute({ name, args: { city: 'Oslo' } })).content).toMatchObject([{ text: 'clear' }])
    expect((await executor.execute({ name, args: { city: 7 } })).error?.code).toBe('E_INVALID_TOOL_ARGS')
  }
  const [blocks, row, failed] = await executor.executeToolCalls(
    ['blocks', 'row', 'failing'].map((name) => ({ name, args: {} })),
  )
  expect(blocks?.content).toEqual([{ type: 'text', text: 'a' }])
  expect(row?.content).toMatchObject([{ type: 'json', data: [{ type: 'text' }] }])
  expect(JSON.stringify(failed?.content)).toContain('Come back tomorrow.')
})

/** The leaves of a family of which no reader of the README learns. */
function untold(readme: string, folder: string): string[] {
  const page = join(root, folder, 'README.md')
  const text = readme.includes(`(${folder}/README.md)`) ? readme + readFileSync(page, 'utf8') : readme
  return readdirSync(join(root, folder))
    .filter((file) => /^[a-z][a-z-]*\.ts$/.test(file))
    .map((file) => file.replace('.ts', ''))
    .filter((leaf) => !new RegExp(`\\b${leaf}\\b`, 'i').test(text))
}

it('NEW-05 a result’s content is plain data, which a page can show as it came', async () => {
  const contents = { content: 'file contents', lineCount: 100, size: 5_000 }
  const read = tool({ name: 'fs_read', description: 'Reads a file', handler: () => contents })
  const result = await createExecutor({ tools: [read] }).execute({ id: 'toolu_01ABC', name: 'fs_read' })
  const sent = JSON.parse(JSON.stringify(result)) as { id: string; content: unknown; isError: boolean }
  expect(sent).toMatchObject({ id: 'toolu_01ABC', isError: false })
  expect(sent.content).toEqual([{ type: 'json', data: contents, text: JSON.stringify(contents) }])
})

it('NEW-06 the descriptions of fields reach the model with every validator', () => {
  const words = 'The city whose sky is asked about'
  const raw = { type: 'object', properties: { city: { type: 'string', description: words } } } as const
  const schemas: Record<string, Schema> = {
    'raw JSON Schema': raw,
    'jsonSchema()': jsonSchema(raw),
    Zod: z.object({ city: z.string().describe(words) }),
    'zod()': zod(z.object({ city: z.string().describe(words) })),
    ArkType: type({ city: type('string').describe(words) }),
    'arktype()': arktype(type({ city: type('string').describe(words) })),
    'valibot()': valibot(v.object({ city: v.pipe(v.string(), v.description(words)) })),
    TypeBox: Type.Object({ city: Type.String({ description: words }) }),
    'typebox()': typebox(Type.Object({ city: Type.String({ description: words }) })),
    'sinclairTypebox()': sinclairTypebox(SinclairType.Object({ city: SinclairType.String({ description: words }) })),
  }
  for (const [library, inputSchema] of Object.entries(schemas)) {
    const made = new Tool({ name: 'forecast', description: 'Weather', inputSchema, handler: () => 'clear' })
    expect(made.describe().inputSchema.properties?.['city'], library).toMatchObject({ description: words })
  }
})
