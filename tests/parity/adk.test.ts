// ADK has one object for everything about a tool, and one way in, which names each call by the hash of what was asked.
import { createHash } from 'node:crypto'
import {
  createExecutor,
  memoryStore,
  SpooledArtifact,
  TextArtifact,
  tool,
  Tool,
  ToolRegistry,
  type ContentBlock,
  type ToolEvent,
} from 'toolwright'
import { InvalidToolArgsError, isToolError } from 'toolwright/errors'
import type { ArtifactSource, ArtifactStore, ErasedConfig, SpoolReader } from 'toolwright/extension'
import { anthropic } from 'toolwright/formats/anthropic'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const inputSchema = z.object({
  city: z.string().describe('Its name'),
  days: z.number().default(3).describe('How many days'),
})

/** A tool that differs from the plainest by these fields. */
function make(fields: Partial<ErasedConfig> = {}): Tool {
  return new Tool({ name: 'forecast', description: 'Weather for a city', handler: () => 'clear', ...fields })
}

function invalid(config: unknown): unknown {
  try {
    return new Tool(config as ErasedConfig)
  } catch (error) {
    return error
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** An artifact over lines that are held in memory. */
function artifactOf(
  text: string,
  Class: new (source: ArtifactSource) => SpooledArtifact = TextArtifact,
): SpooledArtifact {
  const bytes = new TextEncoder().encode(text)
  return new Class({ reader: { byteLength: bytes.byteLength, read: (start, end) => bytes.subarray(start, end) } })
}

/** What a rejected promise rejected with. */
async function refusalOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise
  } catch (error) {
    return error
  }
}

class ReportArtifact extends TextArtifact {
  static override readonly kind: string = 'report'

  async title(): Promise<string> {
    return (await this.head(1)).replace('# ', '')
  }
}

describe('ADK', () => {
  it('ADK-01 a tool is the one source of its name, description, schema, handler and artifact class', async () => {
    const report = tool({
      name: 'report',
      description: 'Writes a report',
      inputSchema,
      artifact: ReportArtifact,
      handler: ({ city, days }) => `# ${city}\n${days} days of rain`,
    })
    const { name, description } = report
    expect({ name, description }).toEqual({ name: 'report', description: 'Writes a report' })
    const artifact = await report.executor()({ city: 'Bergen' })
    expect(artifact).toBeInstanceOf(ReportArtifact)
    expect(await artifact.title()).toBe('Bergen')
    expect(await artifact.tail(1)).toBe('3 days of rain')
  })

  it('ADK-02 new Tool checks every field of what it is given', () => {
    const wrong: Record<string, unknown> = {
      name: 'has space',
      description: ' ',
      inputSchema: 7,
      handler: 'run',
      ephemeral: 'no',
      trusted: 1,
      onCollision: 'merge',
      meta: [],
      artifact: {},
      extra: true,
    }
    const error = invalid(wrong)
    expect(isToolError(error) && error.issues?.map(({ path }) => path[0]).toSorted()).toEqual(
      Object.keys(wrong).toSorted(),
    )
  })

  it('ADK-03 what is no tool throws E_INVALID_INITIAL_TOOL_VALUE, and the message names the fields', () => {
    expect(invalid({ name: 'forecast', handler: () => 1 })).toMatchObject({ code: 'E_INVALID_INITIAL_TOOL_VALUE' })
    expect(invalid({ name: 'forecast', handler: () => 1 })).toHaveProperty(
      'message',
      expect.stringContaining('description'),
    )
    for (const nothing of [undefined, null, 'forecast', []]) {
      expect(invalid(nothing)).toMatchObject({ code: 'E_INVALID_INITIAL_TOOL_VALUE' })
    }
  })

  it('ADK-04 the artifact class is given as it is or by a function without arguments, and nothing else will do', async () => {
    for (const artifact of [ReportArtifact, () => ReportArtifact]) {
      const made = make({ artifact, handler: () => '# Oslo' })
      expect(made.artifact).toBe(artifact)
      expect(await made.executor()({})).toBeInstanceOf(ReportArtifact)
    }
    expect(make().artifact).toBeUndefined()
    expect(await make().executor()({})).toBeInstanceOf(TextArtifact)

    class NoArtifact {}
    const refusals = [NoArtifact, () => NoArtifact].map(async (artifact) => {
      const made = invalid({ name: 'forecast', description: 'Weather', artifact, handler: () => 'clear' })
      return Tool.isTool(made) ? refusalOf(made.executor()({})) : made
    })
    for (const refusal of await Promise.all(refusals)) {
      expect(isToolError(refusal)).toBe(true)
      expect(refusal).not.toMatchObject({ code: 'E_INTERNAL' })
    }
  })

  it('ADK-05 name, description and schema of a tool are read, and cannot be set', () => {
    const made = make({ inputSchema })
    expect(made.inputSchema).toBe(inputSchema)
    for (const field of ['name', 'description', 'inputSchema']) {
      expect(() => Object.assign(made, { [field]: 'changed' }), field).toThrow(TypeError)
    }
    expect(made.name).toBe('forecast')
  })

  it('ADK-06 meta is the application’s own data, and empty where nothing is said', () => {
    expect(make().meta).toEqual({})
    expect(make({ meta: { owner: { team: 'weather' } } }).meta).toEqual({ owner: { team: 'weather' } })
    expect(JSON.stringify(make({ meta: { owner: 'weather' } }))).not.toContain('owner')
  })

  it('ADK-07 a tool is not ephemeral where nothing is said, and one that is goes when its registry is pruned', async () => {
    expect(make().ephemeral).toBe(false)
    expect(make({ ephemeral: true }).ephemeral).toBe(true)
    const registry = new ToolRegistry([make(), make({ name: 'once', ephemeral: true })])
    const executor = createExecutor({ tools: registry })
    await executor.executeToolCalls([{ name: 'once', args: {} }], { pruneEphemeral: true })
    expect(registry.list().map(({ name }) => name)).toEqual(['forecast'])
    registry.add(make({ name: 'once', ephemeral: true }))
    expect(registry.pruneEphemeral()).toEqual(['once'])
  })

  it('ADK-08 onCollision is throw where nothing is said, and speaks in a merge, not on adding', () => {
    expect(make().onCollision).toBe('throw')
    for (const onCollision of ['keep', 'replace'] as const) {
      const registry = new ToolRegistry([make()])
      expect(() => registry.add(make({ onCollision })), onCollision).toThrow(
        expect.objectContaining({ code: 'E_TOOL_ALREADY_REGISTERED' }),
      )
    }
  })

  it('ADK-09 a tool is not trusted where nothing is said, and a format can tell the model so', async () => {
    expect(make().trusted).toBe(false)
    const executor = createExecutor({
      tools: [make({ name: 'strange' }), make({ name: 'known', trusted: true })],
    })
    const results = await executor.executeToolCalls([
      { id: 'a', name: 'strange' },
      { id: 'b', name: 'known' },
    ])
    const { content } = anthropic({ envelope: true }).results(results) as { content: { content: string }[] }
    expect(content[0]?.content).toMatch(/^<untrusted_content_([0-9a-f]+)>\nclear\n<\/untrusted_content_\1>$/)
    expect(content[1]?.content).toMatch(/^<trusted_content_([0-9a-f]+)>\nclear\n<\/trusted_content_\1>$/)
  })

  it('ADK-10 Tool.schema is a schema of what a tool is made of, to be used in other schemas', async () => {
    const install = tool({
      name: 'install',
      description: 'Installs a tool',
      inputSchema: Tool.schema,
      handler: (config) => new Tool(config).describe().name,
    })
    expect(await install({ name: 'forecast', description: 'Weather', handler: () => 1 })).toBe('forecast')
    await expect(install({ name: 'forecast' } as never)).rejects.toMatchObject({
      code: 'E_INVALID_TOOL_ARGS',
      issues: expect.arrayContaining([expect.objectContaining({ path: ['description'] })]),
    })
  })

  it('ADK-11 Tool.isTool is not deceived by a name or a shape', () => {
    expect(Tool.isTool(make())).toBe(true)
    const forged = { Tool: class {} }.Tool
    expect(forged.name).toBe('Tool')
    const lookalike = Object.assign(() => 'clear', { description: 'Weather', validate() {}, executor() {} })
    for (const other of [new forged(), lookalike, { ...make().describe() }]) expect(Tool.isTool(other)).toBe(false)
  })

  it('ADK-12 the handler cannot be taken out of a tool', () => {
    const handler = (): string => 'clear'
    const made = make({ handler })
    expect('handler' in made).toBe(false)
    const holding = [...Object.values(made), ...Object.values(Object.getOwnPropertyDescriptors(made))]
    expect(holding).not.toContain(handler)
    expect(new ToolRegistry([made]).get('forecast')).not.toHaveProperty('handler')
  })

  it('ADK-13 the callId is the sha256 of the canonical JSON of tool and args, as they came, before validation', async () => {
    const heard: ToolEvent[] = []
    const run = make({ inputSchema }).executor({ on: (event) => heard.push(event) })
    await run({ city: 'Tromsø' })
    const expected = sha256('{"args":{"city":"Tromsø"},"tool":"forecast"}')
    expect(heard.length).toBeGreaterThan(0)
    for (const { callId } of heard) expect(callId).toBe(expected)
    expect(expected).toMatch(/^[0-9a-f]{64}$/)

    const executor = createExecutor({ tools: [make({ inputSchema })] })
    const refused = await executor.execute({ name: 'forecast', args: '{"days":"x" , "city":1.0}' })
    expect(refused.error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect(refused.callId).toBe(sha256('{"args":{"city":1,"days":"x"},"tool":"forecast"}'))
  })

  it('ADK-14 the args are validated before the handler runs', async () => {
    const seen: unknown[] = []
    const run = make({ inputSchema, handler: (input) => void seen.push(input) }).executor()
    expect(await refusalOf(run({ city: 7 }))).toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
    await run({ city: 'Oslo' })
    expect(seen).toEqual([{ city: 'Oslo', days: 3 }])
  })

  it('ADK-15 tool:start comes before the handler, with the callId and the input as it was validated', async () => {
    const order: unknown[] = []
    const heard: ToolEvent[] = []
    const made = make({ inputSchema, handler: (_input, { callId }) => void order.push(['handler', callId]) })
    const executor = createExecutor({ tools: [made] })
    executor.on('tool:start', (event) => {
      order.push(['start', event.callId])
      heard.push(event)
    })
    await made.executor({ executor, session: 'turn_1' })({ city: 'Oslo' })
    const callId = sha256('{"args":{"city":"Oslo"},"tool":"forecast"}')
    expect(order).toEqual([
      ['start', callId],
      ['handler', callId],
    ])
    expect(heard).toMatchObject([
      { toolName: 'forecast', session: 'turn_1', input: { city: 'Oslo', days: 3 }, timestamp: expect.any(Number) },
    ])
  })

  it('ADK-16 validate gives the args back validated and coerced, and may take its time', async () => {
    const made = make({
      inputSchema: z.object({
        days: z.coerce.number().default(3),
        city: z.string().transform(async (city) => Promise.resolve(city.trim())),
      }),
    })
    expect(await made.validate({ days: '7', city: ' Oslo ' })).toEqual({ days: 7, city: 'Oslo' })
    expect(await made.validate({ city: 'Oslo' })).toEqual({ days: 3, city: 'Oslo' })
  })

  it('ADK-17 args that are not valid throw E_INVALID_TOOL_ARGS with what is wrong, and nothing starts', async () => {
    let runs = 0
    const made = make({ inputSchema, handler: () => ++runs })
    const refusal = await refusalOf(made.validate({ city: 7 }))
    expect(refusal).toBeInstanceOf(InvalidToolArgsError)
    expect(refusal).toMatchObject({ issues: [{ path: ['city'], message: expect.any(String) }] })

    const heard: string[] = []
    expect(await refusalOf(made.executor({ on: ({ event }) => heard.push(event) })({ city: 7 }))).toMatchObject({
      code: 'E_INVALID_TOOL_ARGS',
    })
    expect(heard).toEqual(['call:received', 'call:settled'])
    expect(runs).toBe(0)
  })

  it('ADK-18 tool:end has the callId of its start, says how long it took and whether it failed, once', async () => {
    for (const isError of [false, true]) {
      const heard: ToolEvent[] = []
      const made = make({
        handler: () => {
          if (isError) throw new Error('no sky')
          return 'clear'
        },
      })
      await refusalOf(made.executor({ on: (event) => heard.push(event) })({}))
      const [start, end, ...more] = heard.filter(({ event }) => event.startsWith('tool:'))
      expect(start?.event).toBe('tool:start')
      expect(end).toMatchObject({ event: 'tool:end', callId: start?.callId, isError, durationMs: expect.any(Number) })
      expect(more).toEqual([])
    }
    // A listener that throws changes nothing.
    const executor = createExecutor({ tools: [make()], report: () => {} })
    const ends: unknown[] = []
    executor.on('tool:end', ({ isError }) => {
      ends.push(isError)
      throw new Error('a bad listener')
    })
    expect((await executor.execute({ name: 'forecast' })).status).toBe('ok')
    expect(ends).toEqual([false])
  })

  it('ADK-19 the bound executor gives the artifact, whatever the handler returned', async () => {
    const media: ContentBlock = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }
    const own = artifactOf('# Mine', ReportArtifact)
    const kinds: [returned: unknown, kind: string][] = [
      ['text', 'text'],
      [new Uint8Array([1, 2]), 'binary'],
      [[media], 'binary'],
      [[media, media], 'json'],
      [{ rows: 1 }, 'json'],
      [own, 'report'],
    ]
    for (const [returned, kind] of kinds) {
      const artifact = await make({ handler: () => returned }).executor()({})
      expect(artifact.kind).toBe(kind)
    }
    expect(await make({ handler: () => own }).executor()({})).toBe(own)
    const bytes = await make({ handler: () => new Uint8Array([1, 2]) }).executor()({})
    expect(await bytes.bytes()).toEqual(new Uint8Array([1, 2]))
  })

  it('ADK-20 what the handler throws is wrapped in E_TOOL_DOWNSTREAM_ERROR, with what was thrown as its cause', async () => {
    for (const cause of [new TypeError('no sky'), 'no sky', { reason: 'no sky' }]) {
      const made = make({
        handler: () => {
          throw cause
        },
      })
      const refusal = await refusalOf(made.executor()({}))
      expect(refusal).toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', toolName: 'forecast' })
      expect(refusal).toHaveProperty('cause', cause)
      expect(refusal).toHaveProperty('message', expect.stringContaining('"forecast"'))
    }
  })

  it('ADK-21 where large results are kept is the application’s affair', async () => {
    const written: string[] = []
    const memory = memoryStore()
    const store: ArtifactStore = {
      ...memory,
      write: (source, options) => {
        written.push(options.session)
        return memory.write(source, options)
      },
    }
    const executor = createExecutor({ tools: [make({ handler: () => 'x'.repeat(20_000) })], use: [{ store }] })
    const run = make().executor({ executor, session: 'chat_1' })
    const artifact = await run({})
    expect(written).toEqual(['chat_1'])
    expect(artifact.handle).toEqual(expect.any(String))
    expect(await artifact.asString()).toBe('x'.repeat(20_000))
  })

  it('ADK-22 the executor of a tool is bound once and used again', async () => {
    const run = make({ inputSchema, handler: (input) => (input as { city: string }).city }).executor()
    const cities = await Promise.all(['Oslo', 'Bergen'].map(async (city) => (await run({ city })).asString()))
    expect(cities).toEqual(['Oslo', 'Bergen'])
  })

  it('ADK-23 describe gives name, description and schema as plain data, with its annotations', () => {
    const description = make({ inputSchema }).describe()
    expect(description).toMatchObject({
      name: 'forecast',
      description: 'Weather for a city',
      inputSchema: { properties: { city: { type: 'string', description: 'Its name' } } },
    })
    expect(JSON.parse(JSON.stringify(description))).toEqual(description)
  })

  it('ADK-24 a schema is annotated once, for validation and for the model', async () => {
    const made = make({
      inputSchema: z.object({
        city: z
          .string()
          .min(2)
          .describe('Its name')
          .meta({ examples: ['Oslo'] }),
      }),
    })
    expect(made.describe().inputSchema.properties?.['city']).toMatchObject({
      minLength: 2,
      description: 'Its name',
      examples: ['Oslo'],
    })
    expect(await refusalOf(made.validate({ city: 'X' }))).toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
  })

  it('ADK-25 an artifact reads through a reader of bytes, which may answer at once or later', async () => {
    const bytes = new TextEncoder().encode('one\ntwo\r\nthree')
    const readers: SpoolReader[] = [
      { byteLength: bytes.byteLength, read: (start, end) => bytes.subarray(start, end) },
      { byteLength: bytes.byteLength, read: (start, end) => Promise.resolve(bytes.slice(start, end)) },
    ]
    for (const reader of readers) {
      const artifact = new SpooledArtifact({ reader })
      expect(artifact.byteLength()).toBe(14)
      expect(await artifact.lineCount()).toBe(3)
      expect(await artifact.cat(1, 2)).toBe('two')
      expect(await artifact.asString()).toBe('one\ntwo\r\nthree')
    }
  })

  it('ADK-26 an artifact gives its first and last ten lines, ranges of lines, matches, sizes and all of it', async () => {
    const lines = Array.from({ length: 25 }, (_, index) => `line ${index}`)
    const artifact = artifactOf(lines.join('\n'))
    expect(await artifact.head()).toBe(lines.slice(0, 10).join('\n'))
    expect(await artifact.head(2)).toBe('line 0\nline 1')
    expect(await artifact.tail()).toBe(lines.slice(-10).join('\n'))
    expect(await artifact.tail(2)).toBe('line 23\nline 24')
    expect(await artifact.tail(0)).toBe('')

    expect(await artifact.cat()).toBe(lines.join('\n'))
    expect(await artifact.cat(3, 5)).toBe('line 3\nline 4')
    expect(await artifact.cat(-5, 1)).toBe('line 0')
    expect(await artifact.cat(24, 99)).toBe('line 24')
    expect(await artifact.cat(5, 3)).toBe('')
    expect(await artifact.cat(99)).toBe('')

    const sticky = /line 1\d?$/g
    const matching = ['line 1', ...lines.slice(10, 20)].map((text) => ({ line: Number(text.slice(5)), text }))
    expect(await artifact.grep(sticky)).toEqual(matching)
    expect(await artifact.grep(sticky)).toEqual(matching)
    expect(await artifact.grep('line 24')).toEqual([{ line: 24, text: 'line 24' }])

    const size = lines.join('\n').length
    expect(artifact.byteLength()).toBe(size)
    expect(await artifact.lineCount()).toBe(25)
    expect(await artifact.estimateTokens()).toBe(Math.ceil(size / 4))
    expect(await artifact.asString()).toBe(lines.join('\n'))

    const empty = artifactOf('')
    expect([await empty.lineCount(), await empty.head(), empty.byteLength()]).toEqual([0, '', 0])
  })

  // Overridden: `overwrite` is `onCollision: 'replace'`, which can be undone. `list()` with `isHidden` stands for `all`, `visible`
  // and `hidden`, and `hide` and `unhide` for `setHidden` and `clearHidden`. A registry is not bound to a queue: it prunes what is
  // ephemeral when the application says that a turn is over, and so not after a turn that is taken back.
  it('ADK-34 a registry adds and removes, refuses a name twice, lists for a caller what it may see, and hides tools', async () => {
    const registry = new ToolRegistry([make()])
    expect(() => registry.add(make())).toThrow(expect.objectContaining({ code: 'E_TOOL_ALREADY_REGISTERED' }))
    const other = make({ description: 'Another' })
    const undo = registry.add(other, { onCollision: 'replace' })
    expect(registry.get('forecast')?.description).toBe('Another')
    undo()
    expect(registry.get('forecast')?.description).toBe('Weather for a city')
    registry.add(make({ name: 'hidden', audience: 'user' }))
    expect(registry.list().map(({ name }) => name)).toEqual(['forecast', 'hidden'])
    expect(registry.list('model').map(({ name }) => name)).toEqual(['forecast'])
    expect([registry.remove('hidden'), registry.remove('hidden'), registry.has('hidden')]).toEqual([true, false, false])
    expect(registry.has('constructor')).toBe(false)

    registry.add(make({ name: 'other' }))
    const executor = createExecutor({ tools: registry })
    const visible = (): string[] => executor.tools().map(({ name }) => name)
    const hidden = (): string[] => registry.list().flatMap(({ name }) => (registry.isHidden(name) ? [name] : []))
    registry.hide('other')
    expect([visible(), hidden()]).toEqual([['forecast'], ['other']])
    expect((await executor.execute({ name: 'other', args: {} })).status).toBe('ok')
    registry.unhide('other')
    expect([visible(), hidden()]).toEqual([['forecast', 'other'], []])

    registry.add(make({ name: 'passing', ephemeral: true }))
    expect(visible()).toEqual(['forecast', 'other', 'passing'])
    expect(registry.pruneEphemeral()).toEqual(['passing'])
    expect([visible(), registry.pruneEphemeral()]).toEqual([['forecast', 'other'], []])
  })

  it('ADK-35 a merge goes from left to right, asks the incoming tool, then the option, and changes no registry', () => {
    const registryOf = (description: string, fields: Partial<ErasedConfig> = {}): ToolRegistry =>
      new ToolRegistry([make({ description, ...fields })])
    const left = registryOf('left')
    const wordsOf = (merged: ToolRegistry): string | undefined => merged.get('forecast')?.description

    expect(() => left.merge([registryOf('right')])).toThrow(
      expect.objectContaining({ code: 'E_TOOL_ALREADY_REGISTERED' }),
    )
    expect(wordsOf(left.merge([registryOf('right')], { onCollision: 'replace' }))).toBe('right')
    expect(wordsOf(left.merge([registryOf('right')], { onCollision: 'keep' }))).toBe('left')
    const incoming = [
      registryOf('replacing', { onCollision: 'replace' }),
      registryOf('keeping', { onCollision: 'keep' }),
    ]
    expect(wordsOf(left.merge(incoming))).toBe('replacing')
    expect(wordsOf(left.merge(incoming, { onCollision: 'keep' }))).toBe('replacing')
    expect(wordsOf(left.merge(incoming.slice(1), { onCollision: 'replace' }))).toBe('left')

    const merged = left.merge([new ToolRegistry([make({ name: 'other' })])])
    expect(merged.list().map(({ name }) => name)).toEqual(['forecast', 'other'])
    expect(left.has('other')).toBe(false)
    merged.remove('forecast')
    expect(wordsOf(left)).toBe('left')
    left.hide('forecast')
    expect(left.merge([new ToolRegistry([make({ name: 'other' })])]).list('model')).toHaveLength(1)
  })

  it('ADK-37 the same call has the same callId by design, and every occurrence an id of its own', async () => {
    const counts = new Map<string, number>()
    const occurrences = new Set<string>()
    const executor = createExecutor({ tools: [make({ inputSchema })] })
    executor.on('tool:start', ({ callId, invocationId }) => {
      counts.set(callId ?? '', (counts.get(callId ?? '') ?? 0) + 1)
      occurrences.add(invocationId)
    })
    const args = [
      { city: 'Oslo', days: 3 },
      '{ "days": 3.0, "city": "Oslo" }',
      { days: 3, city: 'Oslo' },
      { city: 'Oslo' },
    ]
    for (const [index, variant] of args.entries())
      await executor.execute({ id: index, name: 'forecast', args: variant })
    expect([...counts.values()]).toEqual([3, 1])
    expect(occurrences.size).toBe(4)
  })

  it('ADK-38 the model reads which tools there are, and what was wrong with its args', async () => {
    const executor = createExecutor({ tools: [make({ inputSchema }), make({ name: 'geocode' })] })
    const unknown = await executor.execute({ name: 'forecats' })
    expect(unknown.content).toMatchObject([{ text: expect.stringContaining('Available: forecast, geocode.') }])
    const wrong = await executor.execute({ name: 'forecast', args: { city: 7, days: 'x' } })
    expect(wrong.content).toMatchObject([{ text: expect.stringMatching(/city: .*string.*; .*days: .*number/) }])
  })
})
