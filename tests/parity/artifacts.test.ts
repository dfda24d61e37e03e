// ADK keeps what a tool returned as an artifact, and forges tools with which the model asks about it.
import * as door from 'toolwright/errors'
import {
  createExecutor,
  JsonArtifact,
  memoryStore,
  TextArtifact,
  tool,
  Tool,
  type ArtifactClass,
  type ArtifactQuery,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import { ArtifactError, isToolError, ToolError } from 'toolwright/errors'
import type { ErasedConfig } from 'toolwright/extension'
import { EcmaScriptArtifact } from 'toolwright/artifacts/ecmascript'
import { filter, Json5Artifact, JsonLinesArtifact, pluck } from 'toolwright/artifacts/json'
import { MarkdownArtifact } from 'toolwright/artifacts/markdown'
import { artifactTools, type ArtifactToolsOptions } from 'toolwright/artifacts/tools'
import { ToonArtifact } from 'toolwright/artifacts/toon'
import { XmlArtifact } from 'toolwright/artifacts/xml'
import { YamlArtifact } from 'toolwright/artifacts/yaml'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const session = 'turn_1'
const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}`, price: id % 10 }))
const log = Array.from({ length: 5_000 }, (_, line) => `${line} ${line === 4_321 ? 'ERROR Disk' : 'info ok'}`).join(
  '\n',
)

interface Kept {
  readonly executor: ToolExecutor
  readonly result: ToolResult
  /** Asks a forged tool about it, and gives the words of the answer. */
  readonly ask: (name: string, args?: object) => Promise<string>
  readonly call: (name: string, args?: object) => Promise<ToolResult>
}

/** Keeps what a tool returned, however small it is. */
async function kept(returned: unknown, artifact?: ArtifactClass, options: ArtifactToolsOptions = {}): Promise<Kept> {
  const source = new Tool({
    name: 'source',
    description: 'Gives',
    inlineLimit: 0,
    ...(artifact && { artifact }),
    handler: () => returned,
  })
  const executor = createExecutor({
    tools: [source],
    use: [artifactTools({ only: 'all', ...options }), memoryJournal()],
  })
  const result = await executor.execute({ id: 'toolu_01', name: 'source' }, { session })
  const call = (name: string, args: object = {}): Promise<ToolResult> =>
    executor.execute({ name: `artifact_${name}`, args: { artifact: result.handle, ...args } }, { session })
  return { executor, result, call, ask: async (name, args) => wordsOf(await call(name, args)) }
}

function wordsOf({ content }: ToolResult): string {
  const [block] = content
  return block?.type === 'text' ? block.text : expect.fail('no text')
}

function forged(executor: ToolExecutor, of = session): string[] {
  return executor
    .tools('model', of)
    .map(({ name }) => name)
    .filter((name) => name !== 'source')
}

async function json(answer: Promise<string>): Promise<unknown> {
  return JSON.parse(await answer)
}

describe('ADK', () => {
  it('ADK-27 seven tools ask of every text: head, tail, grep, cat, byte_length, line_count, estimate_tokens', async () => {
    const { ask, call, executor } = await kept(log)
    const names = ['head', 'tail', 'grep', 'cat', 'byte_length', 'line_count', 'estimate_tokens']
    expect(forged(executor)).toEqual(expect.arrayContaining(names.map((name) => `artifact_${name}`)))
    expect((await ask('head')).split('\n')).toHaveLength(10)
    expect(await ask('tail', { count: 1 })).toBe('4999 info ok')
    expect(await ask('cat', { start: 2, end: 4 })).toBe('2 info ok\n3 info ok')
    expect(await ask('grep', { pattern: 'error disk', flags: 'imsu' })).toMatch(
      /^4321: 4321 ERROR Disk\n\(1 line matches;/,
    )
    expect(await ask('byte_length')).toBe(String(log.length))
    expect(await ask('line_count')).toBe('5000')
    expect(await ask('estimate_tokens')).toBe(String(Math.ceil(log.length / 4)))
    for (const flags of ['g', 'y', 'd', 'v', 'i g']) {
      expect((await call('grep', { pattern: 'x', flags })).error, flags).toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
    }
  })

  it('ADK-28 a JSON artifact tells type, keys, length, values, slices and what a path finds, also line by line and in JSON5', async () => {
    const { ask } = await kept(rows)
    expect(await ask('json_type')).toBe('array')
    expect(await ask('json_length')).toBe('2000')
    expect(await json(ask('json_get', { pointer: '/7/name' }).then((text) => JSON.stringify(text)))).toBe('row 7')
    expect(await json(ask('json_slice', { start: 3, end: 5 }))).toEqual(rows.slice(3, 5))
    expect(await json(ask('json_filter', { path: '$[?@.id < 2]' }))).toEqual(rows.slice(0, 2))
    expect(await json(ask('json_pluck', { path: '$[?@.id < 2]', members: ['name'] }))).toMatchObject([
      { name: 'row 0' },
      { name: 'row 1' },
    ])
    const { ask: askOne } = await kept({ a: 1, b: [1, 2] })
    expect(await json(askOne('json_keys'))).toEqual(['a', 'b'])

    const lined = await kept(rows.map((row) => JSON.stringify(row)).join('\n'), JsonLinesArtifact)
    expect(await lined.ask('json_length')).toBe('2000')
    expect(await json(lined.ask('json_slice', { start: 1_999 }))).toEqual(rows.slice(-1))
    const artifact = lined.result.artifact as JsonLinesArtifact
    expect(await filter(artifact, '$[?@.name == "row 9"].id')).toEqual([9])
    expect(await pluck(artifact, '$[?@.id == 9]', ['price'])).toMatchObject([{ price: 9 }])

    // The notation is inferred: JSON, then JSON Lines, then JSON5.
    for (const [text, notation] of [
      ['[{"id": 1}, {"id": 2}]', 'json'],
      ['{"id": 1}\n{"id": 2}\n', 'jsonl'],
      ['[{id: 1}, {id: 2,}] // two', 'json5'],
    ] as const) {
      const inferred = await kept(text, Json5Artifact)
      expect(await json(inferred.ask('json_filter', { path: '$[*].id' }))).toEqual([1, 2])
      expect(await (inferred.result.artifact as Json5Artifact).notation()).toBe(notation)
    }
  })

  it('ADK-29 a Markdown artifact tells front matter, headings, sections, code blocks, links, images, text and tree', async () => {
    const front = ['---', 'title: Guide', 'tags: [a, b]', '---']
    const first = ['# One', '', 'See [the *docs*](https://a.example "Docs") and ![a cat](cat.png).', '']
    const second = ['## Two', '', '```ts', 'run()', '```', '', '- [x] done', '']
    const lines = [...front, ...first, ...second, 'Three', '=====', '', '~~~', '# no heading', '~~~']
    const { ask, executor } = await kept(lines.join('\n'), MarkdownArtifact)
    const names = ['frontmatter', 'headings', 'sections', 'code_blocks', 'links', 'images', 'text', 'ast']
    expect(forged(executor)).toEqual(expect.arrayContaining(names.map((name) => `artifact_md_${name}`)))
    expect(await json(ask('md_frontmatter'))).toEqual({ title: 'Guide', tags: ['a', 'b'] })
    expect(await json(ask('md_headings'))).toEqual([
      { level: 1, text: 'One', line: 4 },
      { level: 2, text: 'Two', line: 8 },
      { level: 1, text: 'Three', line: 16 },
    ])
    expect(await json(ask('md_sections'))).toEqual([
      { path: 'One', line: 4, endLine: 16 },
      { path: 'One > Two', line: 8, endLine: 16 },
      { path: 'Three', line: 16, endLine: 22 },
    ])
    for (const title of ['Two', 'one > two']) {
      expect(await ask('md_sections', { title })).toBe(second.join('\n'))
    }
    expect(await ask('md_sections', { title: 'Four' })).toContain('There is no section "Four"')
    expect(await json(ask('md_code_blocks'))).toEqual([
      { language: 'ts', text: 'run()', line: 10, endLine: 13 },
      { text: '# no heading', line: 19, endLine: 22 },
    ])
    expect(await json(ask('md_code_blocks', { language: 'ts' }))).toMatchObject([{ text: 'run()' }])
    expect(await json(ask('md_links'))).toEqual([
      { text: 'the docs', url: 'https://a.example', title: 'Docs', line: 6 },
    ])
    expect(await json(ask('md_images'))).toEqual([{ alt: 'a cat', url: 'cat.png', line: 6 }])
    expect(await ask('md_text')).toBe('One\n\nSee the docs and a cat.\n\nTwo\n\nrun()\n\ndone\n\nThree\n\n# no heading')
    expect(await ask('md_text', { from_line: 6, to_line: 10 })).toBe('See the docs and a cat.\n\nTwo')
    expect(await json(ask('md_ast'))).toMatchObject(
      ['heading', 'paragraph', 'heading', 'code', 'list', 'heading', 'code'].map((type) => ({ type })),
    )
  })

  it('ADK-30 YAML, XML, TOON and ECMAScript are artifacts, and any other format is one class over any parser, whose tools come by themselves', async () => {
    class OwnArtifact extends TextArtifact {
      static override readonly kind: string = 'yaml'
      static override readonly mediaType: string = 'application/yaml'
      static override readonly queries: Readonly<Record<string, ArtifactQuery>> = {
        yaml_get: {
          description: 'The value at a key of a YAML document',
          inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
          answer: async (artifact: OwnArtifact, { key }: { key: string }) =>
            ((await artifact.value()) as Record<string, unknown>)[key],
        },
      }
      async value(): Promise<unknown> {
        return parse(await this.asString()) as unknown
      }
    }
    const { ask, executor, result } = await kept('name: Ada\nages:\n  - 36\n', OwnArtifact)
    expect(forged(executor)).toContain('artifact_yaml_get')
    expect(wordsOf(result)).toContain('artifact_yaml_get about it.')
    expect(await ask('yaml_get', { key: 'ages' })).toBe('[36]')
    expect(await ask('head', { count: 1 })).toBe('name: Ada')

    const xml = await kept('<feed>\n  <entry id="1">A</entry>\n  <entry id="2">B</entry>\n</feed>\n', XmlArtifact)
    expect(await json(xml.ask('json_filter', { path: '$.feed.entry[*]["#text"]' }))).toEqual(['A', 'B'])
    expect(await json(xml.ask('xml_elements', { name: 'entry', start: 1 }))).toMatchObject([{ line: 2, endLine: 3 }])

    const yaml = await kept('name: Ada\nages:\n  - 36\n', YamlArtifact)
    expect(await json(yaml.ask('json_get', { pointer: '/ages' }))).toEqual([36])
    const toon = await kept('users[2]{id,name}:\n  1,Ada\n  2,Bob\n', ToonArtifact)
    expect(await json(toon.ask('json_filter', { path: '$.users[?@.id == 2].name' }))).toEqual(['Bob'])

    const module = await kept("import { join } from 'node:path'\n\nexport function at() {}\n", EcmaScriptArtifact)
    expect(await json(module.ask('ecmascript_imports'))).toMatchObject([{ from: 'node:path', names: ['join'] }])
    expect(await json(module.ask('ecmascript_exports'))).toMatchObject([{ name: 'at' }])
    expect(await json(module.ask('ecmascript_functions'))).toMatchObject([{ name: 'at', line: 2, endLine: 3 }])
  })

  it('ADK-31 forged tools are ephemeral, replace their like, and can name the live artifacts; without any there are none', async () => {
    const { executor, result } = await kept(rows, undefined, { enumerate: true })
    const tools = executor.tools('model', session).filter(({ name }) => name !== 'source')
    for (const definition of tools) {
      expect(definition).toMatchObject({ ephemeral: true, onCollision: 'replace' })
      expect(definition.describe().inputSchema.properties?.['artifact']).toMatchObject({
        type: 'string',
        enum: [result.handle],
      })
    }
    // The class's own come after those of what it extends; those that fit nothing alive are left out.
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['artifact_head', 'artifact_json_get']))
    expect(tools.map(({ name }) => name)).not.toContain('artifact_image')
    expect(tools.findIndex(({ name }) => name === 'artifact_head')).toBeLessThan(
      tools.findIndex(({ name }) => name === 'artifact_json_get'),
    )
    expect(forged(executor, 'another session')).toEqual([])
  })

  it('ADK-32 answers of forged tools are inline, are kept nowhere, and are nothing to ask about', async () => {
    const { executor, call } = await kept(log, undefined, {
      enumerate: true,
      maximumBytes: 60_000,
      maximumLines: 5_000,
    })
    const before = executor.artifacts.list(session)
    const answer = await call('cat')
    expect(wordsOf(answer).length).toBeGreaterThan(16_384) // above the executor's limit
    expect(answer).not.toHaveProperty('handle')
    expect(executor.artifacts.list(session)).toEqual(before)
    for (const definition of executor.tools('model', session).filter(({ name }) => name !== 'source')) {
      expect(definition.artifact).toBeUndefined()
    }
  })

  it('ADK-33 of a large result the model sees handle, size and tools; a small one it sees whole', async () => {
    const large = await kept(log)
    expect(wordsOf(large.result)).toMatch(
      /This is the beginning of [\d,]+ bytes of text\/plain\. All of it is kept as artifact_[0-9a-f]{40}\. Ask artifact_head, .* about it\.\)$/,
    )
    expect(wordsOf(large.result).length).toBeLessThan(3_000)
    const small = tool({ name: 'small', description: 'Small', handler: () => 'clear sky' })
    const result = await createExecutor({ tools: [small], use: [artifactTools()] }).execute({ name: 'small' })
    expect(wordsOf(result)).toBe('clear sky')
    expect(result).not.toHaveProperty('handle')
    // The limit is the executor's, or the tool's own.
    const always = tool({ name: 'always', description: 'Inline', inlineLimit: Infinity, handler: () => log })
    expect(wordsOf(await createExecutor({ tools: [always] }).execute({ name: 'always' }))).toBe(log)
  })

  it('ADK-36 the record of a call has tool, args, callId, states, error, what was shown, the artifact and its times', async () => {
    const journal = memoryJournal()
    const source = tool({ name: 'source', description: 'Gives', inputSchema: { type: 'object' }, handler: () => log })
    const failing = tool('failing', () => Promise.reject(new Error('no disk')))
    const executor = createExecutor({ tools: [source, failing], use: [journal, artifactTools()] })
    const result = await executor.execute({ id: 'toolu_01', name: 'source', args: { since: 1 } }, { session })
    const { record } = (await journal.journal.read(result.invocationId)) ?? expect.fail('no record')
    expect(record).toMatchObject({
      id: result.invocationId,
      toolCallId: 'toolu_01',
      name: 'source',
      input: { since: 1 },
      callId: result.callId,
      state: 'COMPLETED',
      isError: false,
      createdAt: expect.any(Number),
      startedAt: expect.any(Number),
      completedAt: expect.any(Number),
      journal: { handle: result.handle, result: result.content, artifact: { kind: 'text', byteLength: log.length } },
    })
    const failed = await executor.execute({ name: 'failing', args: {} }, { session })
    const second = (await journal.journal.read(failed.invocationId)) ?? expect.fail('no record')
    expect(second.record).toMatchObject({ state: 'FAILED', isError: true, error: expect.stringContaining('no disk') })
    // An answer about an artifact is told from an artifact: it has no handle.
    const answer = await executor.execute({ name: 'artifact_head', args: { artifact: result.handle } }, { session })
    const third = (await journal.journal.read(answer.invocationId)) ?? expect.fail('no record')
    expect(third.record.journal).not.toHaveProperty('handle')
  })

  // Overridden: `status`, `fatal` and `help` are `category`, `retryable` and `recommendations`, which hold beyond HTTP. Ids are
  // random and a reader comes with its artifact, so that neither a collision nor a missing reader can occur.
  it('ADK-39 what goes wrong with an artifact is E_ARTIFACT, and every error has code, category and cause', async () => {
    const classes = Object.values(door).filter(
      (exported): exported is typeof ToolError =>
        typeof exported === 'function' && Object.prototype.isPrototypeOf.call(ToolError, exported),
    )
    expect(classes).toContain(ArtifactError)
    expect(classes.length).toBeGreaterThan(20)
    for (const Class of classes) {
      const cause = new Error('ENOENT')
      const error = new Class('It has gone.', { cause, recommendations: ['Ask again.'] })
      expect(isToolError(error)).toBe(true)
      expect(error).toMatchObject({
        code: expect.stringMatching(/^E_[A-Z_]+$/),
        category: expect.stringMatching(
          /^(?:network|rate_limit|auth|validation|timeout|cancelled|application|unknown)$/,
        ),
        retryable: ['E_LEASED', 'E_UNAVAILABLE', 'E_VALIDATOR_FAILED'].includes(Class.code),
        recommendations: ['Ask again.'],
      })
      expect(error.cause).toBe(cause)
      // Of what leaves the process, all but the cause.
      expect(JSON.parse(JSON.stringify(error))).toMatchObject({ code: Class.code, category: error.category })
      expect(JSON.stringify(error)).not.toContain('ENOENT')
    }
    expect(new Set(classes.map(({ code }) => code)).size).toBe(classes.length)
    await expect(Promise.resolve().then(() => memoryStore().open('artifact_x', { session }))).rejects.toMatchObject({
      code: 'E_ARTIFACT',
    })
    // Handles are random, so that two never collide.
    const store = memoryStore()
    const handles = await Promise.all(
      Array.from({ length: 1_000 }, async () => (await store.write('x', { session, mediaType: 'text/plain' })).handle),
    )
    expect(new Set(handles).size).toBe(1_000)
    // An artifact describes itself, as does the result that holds it.
    const { result } = await kept(rows)
    expect(JSON.parse(JSON.stringify(result.artifact))).toEqual({
      kind: 'json',
      mediaType: 'application/json',
      byteLength: JSON.stringify(rows).length,
      handle: result.handle,
    })
    // A class that cannot be had is refused in words.
    const broken = new Tool({
      name: 'broken',
      description: 'Broken',
      artifact: (() => Map) as unknown as ErasedConfig['artifact'],
      handler: () => 'x',
    })
    const refused = await createExecutor({ tools: [broken] }).execute({ name: 'broken' })
    expect(refused.error).toMatchObject({ code: 'E_ARTIFACT', message: expect.stringContaining('`artifact`') })
  })

  it('ADK-40 the store in memory takes text, bytes and streams, copies what it keeps, and old readers stay valid', async () => {
    const store = memoryStore()
    const read = async (handle: string): Promise<TextArtifact> =>
      new TextArtifact({ reader: await store.open(handle, { session }) })
    const write = async (source: Parameters<typeof store.write>[0]): Promise<string> =>
      (await store.write(source, { session, mediaType: 'text/plain' })).handle
    const bytes = new TextEncoder().encode('one\ntwo\n')
    async function* stream(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, 5)
      yield bytes.subarray(5)
    }
    const handles = [await write('one\ntwo\n'), await write(bytes), await write(stream())]
    const readers = await Promise.all(handles.map(read))
    bytes.fill(120)
    for (const handle of handles) expect(await (await read(handle)).asString()).toBe('one\ntwo\n')
    // A final newline ends the last line and begins no other; nothing has no lines.
    for (const reader of readers) expect(await reader.lineCount()).toBe(2)
    expect(await (await read(await write(''))).lineCount()).toBe(0)
    expect(store.size).toBe(4)
    // Equal bytes that are written again are another artifact, and what is gone stays readable for who had opened it.
    expect(handles).not.toContain(await write('one\ntwo\n'))
    await store.delete(handles[1] ?? '')
    await expect(read(handles[1] ?? '')).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    expect(await (await read(handles[0] ?? '')).asString()).toBe('one\ntwo\n')
    store.clear()
    expect(store.size).toBe(0)
    for (const handle of handles) await expect(read(handle)).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    for (const reader of readers) expect(await reader.asString()).toBe('one\ntwo\n')
  })
})

it('KODE-45 a result that would be cut to 10,000 of its 100,000 bytes is shown in part, and asked about as a whole', async () => {
  const text = `${'x'.repeat(99)}\n`.repeat(1_500) + 'the end'
  const { result, ask } = await kept(text)
  expect(wordsOf(result).length).toBeLessThan(10_000)
  expect(wordsOf(result)).toContain('150,007 bytes')
  expect(await ask('tail', { count: 1 })).toBe('the end')
})

it('AIDK-12 an answer about an artifact is content blocks, as every result is', async () => {
  const { call } = await kept(rows)
  expect((await call('json_length')).content).toEqual([{ type: 'text', text: '2000' }])
})

it('STR-27 a value that JSON cannot say is an error, also where a query of one’s own gives it', async () => {
  class Counted extends JsonArtifact {
    static override readonly kind: string = 'counted'
    static override readonly queries: Readonly<Record<string, ArtifactQuery>> = {
      huge: { description: 'A number too large for JSON', answer: () => [10n ** 30n] },
    }
  }
  const { call } = await kept(rows, Counted)
  expect(await call('huge')).toMatchObject({ status: 'error', error: { code: 'E_TOOL_DOWNSTREAM_ERROR' } })
})
