import { type } from 'arktype'
import {
  createExecutor,
  json as markedJson,
  JsonArtifact,
  memoryStore,
  type Shelf,
  TextArtifact,
  tool,
  type ArtifactQuery,
  type ToolContext,
  type ToolExecutor,
} from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import type { SessionTools } from 'toolwright/extension'
import { artifactTools, type ArtifactToolsOptions } from 'toolwright/artifacts/tools'
import { anthropic } from 'toolwright/formats/anthropic'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { asking, bytes, lines, words } from './_asking.ts'

const textNames = ['head', 'tail', 'grep', 'cat', 'byte_length', 'line_count', 'estimate_tokens'].map(
  (name) => `artifact_${name}`,
)
const jsonNames = ['type', 'keys', 'length', 'get', 'slice', 'filter', 'pluck'].map((name) => `artifact_json_${name}`)
const names = [...textNames, 'artifact_bytes', 'artifact_image', ...jsonNames]

/** What an executor asks an extension for tools with. */
function requestOf(session: string, shelf: Shelf): SessionTools {
  return { session, shelf, isTaken: () => false, catalogue: () => [] }
}

class AccessLog extends TextArtifact {
  static override readonly kind: string = 'access_log'
  static override readonly mediaType: string = 'text/x-access-log'
  static override readonly queries: Readonly<Record<string, ArtifactQuery>> = {
    failures: {
      description: 'The failed requests',
      answer: (log: AccessLog) => log.grep(/ 5\d\d$/),
    },
    requests: {
      description: 'The requests for a path',
      inputSchema: z.object({ path: z.string().describe('Its path'), start: z.number().int().default(0) }),
      answer: async (log: AccessLog, { path, start }: { path: string; start: number }) =>
        (await log.grep(` ${path} `)).slice(start),
    },
  }
}

class ErrorLog extends AccessLog {
  static override readonly kind: string = 'error_log'
  static override readonly queries = {
    failures: { description: 'not shown: the first description stands', answer: () => 'all of them' },
    newest: { description: 'The newest error', answer: (log: ErrorLog) => log.tail(1) },
  }
}

const requests = lines(3_000, (line) => `GET /path/${line % 7} ${line % 1_000 === 0 ? 503 : 200}`)

function listed(executor: ToolExecutor, session = 'a'): string[] {
  return executor
    .tools('model', session)
    .map(({ name }) => name)
    .filter((name) => name.startsWith('artifact_'))
}

describe('the tools', () => {
  test('are there from the start, the same for every session, and never spool an answer', () => {
    const { executor } = asking()
    expect(listed(executor)).toEqual(names)
    expect(listed(executor, 'b')).toEqual(names)
    for (const definition of executor.tools().filter(({ name }) => name.startsWith('artifact_'))) {
      expect(definition).toMatchObject({
        ephemeral: true,
        trusted: false,
        onCollision: 'replace',
        inlineLimit: Infinity,
        traits: { readonly: true, idempotent: true, destructive: false },
      })
      expect(definition.artifact).toBeUndefined()
      const { inputSchema } = definition.describe()
      expect(inputSchema).toMatchObject({
        type: 'object',
        properties: { artifact: { type: 'string' } },
        additionalProperties: false,
      })
      expect(inputSchema.required?.[0]).toBe('artifact')
    }
  })

  test('are the same array, and the same objects, until there are more of them', async () => {
    const extension = artifactTools()
    const shelf = { list: () => [], open: () => Promise.reject(new Error('unused')) }
    const first = extension.tools(requestOf('a', shelf))
    expect(extension.tools(requestOf('b', shelf))).toBe(first)
    const large = tool({ name: 'large', description: 'Large', handler: () => requests })
    const log = tool({ name: 'log', description: 'Log', artifact: AccessLog, handler: () => requests })
    const executor = createExecutor({ tools: [large, log], use: [extension] })
    await executor.execute({ name: 'large' })
    expect(extension.tools(requestOf('a', shelf))).toBe(first)
    await executor.execute({ name: 'log' })
    const second = extension.tools(requestOf('a', shelf))
    expect(second).not.toBe(first)
    await executor.execute({ name: 'log' })
    expect(extension.tools(requestOf('a', shelf))).toBe(second)
  })

  test('are six, unless the host names others, and each preview names those alone', async () => {
    const six = ['head', 'tail', 'cat', 'grep', 'json_get', 'json_filter'].map((key) => `artifact_${key}`)
    const { executor, keep } = asking({ only: 'usual' })
    expect(listed(executor).toSorted()).toEqual(six.toSorted())
    await keep([1, 2, 3])
    const preview = words(await executor.execute({ name: 'give' }))
    expect(Array.from(preview.matchAll(/artifact_(?![0-9a-f]{40})\w+/g), ([name]) => name).toSorted()).toEqual(
      six.toSorted(),
    )
    const weigh = (only: 'all' | 'usual'): number =>
      JSON.stringify(anthropic().definitions(asking({ only }).executor.tools())).length
    expect(weigh('usual')).toBeLessThan(weigh('all') / 2)
  })

  test('of the application’s own classes are there besides, from the start or from their first artifact', async () => {
    const early = createExecutor({ use: [artifactTools({ classes: [AccessLog] })] })
    expect(listed(early)).toEqual(expect.arrayContaining(['artifact_grep', 'artifact_failures']))
    expect(listed(early)).not.toContain('artifact_bytes')
    const { executor, keep } = asking({ only: 'usual', artifact: AccessLog })
    expect(listed(executor)).not.toContain('artifact_failures')
    await keep(requests)
    expect(listed(executor)).toContain('artifact_failures')
  })

  test('can be fewer', () => {
    const { executor } = asking({ only: ['artifact_grep', 'artifact_cat'] })
    expect(listed(executor)).toEqual(['artifact_grep', 'artifact_cat'])
  })

  test('are named in the preview, as far as they fit the artifact', async () => {
    const { executor, keep } = asking()
    const preview = async (result: unknown): Promise<string> => {
      await keep(result)
      return words(await executor.execute({ name: 'give' }))
    }
    expect(await preview(requests)).toMatch(
      /Ask artifact_head, artifact_tail, artifact_grep, .* or artifact_bytes about it\.\)$/,
    )
    expect(await preview(Array.from({ length: 999 }, (_, id) => ({ id })))).toMatch(
      / Ask artifact_head, .*artifact_json_get, .* about it\.\)$/,
    )
    expect(await preview(new Uint8Array(9_000))).toMatch(/ Ask artifact_bytes or artifact_image about it\.\)$/)
  })

  test('answer calls of people and of models alike, whose args are values or JSON text', async () => {
    const { executor, keep } = asking()
    const artifact = await keep(requests)
    for (const args of [{ artifact, count: 1 }, JSON.stringify({ artifact, count: 1 })]) {
      for (const caller of ['model', 'user'] as const) {
        const result = await executor.execute({ name: 'artifact_head', args }, { session: 'a', caller })
        expect(words(result)).toBe('GET /path/0 503')
      }
    }
  })

  test('do nothing to the world: a policy may know it, and their calls have no effect', async () => {
    const { keep, call } = asking()
    await keep(requests)
    expect(await call('head')).toMatchObject({ status: 'ok', effect: 'none' })
  })
})

describe('an answer', () => {
  test('has no handle, and so nothing can be asked of it', async () => {
    const { keep, call } = asking({ maximumBytes: 100_000, maximumLines: 5_000 })
    await keep(requests)
    const result = await call('cat')
    expect(bytes(words(result))).toBeGreaterThan(20_000) // far above the executor's limit
    expect(result).toMatchObject({ status: 'ok' })
    expect(result).not.toHaveProperty('handle')
    expect(result.artifact?.handle).toBeUndefined()
  })

  test.each([true, false])('is as trusted as the artifact: %s', async (trusted) => {
    const { keep, call } = asking({ trusted })
    await keep(requests)
    for (const name of ['head', 'tail', 'cat', 'byte_length', 'line_count', 'bytes']) {
      expect((await call(name)).artifact?.trusted, name).toBe(trusted)
    }
    expect((await call('grep', { pattern: '503' })).artifact?.trusted).toBe(trusted)
    await keep([1, 2, 3])
    expect((await call('json_get')).artifact?.trusted).toBe(trusted)
  })

  test.each([1_024, 1_500, 4_096])('of whatever has at most %i bytes', async (maximumBytes) => {
    const { keep, call } = asking({ maximumBytes, artifact: AccessLog })
    const wide = lines(3_000, (line) => `GET /päth/${line} ${'\u001b€'.repeat(line % 60)} 503`)
    await keep(wide)
    for (const [name, args] of [
      ['head', { count: 1_000 }],
      ['tail', { count: 1_000 }],
      ['cat', {}],
      ['cat', { start: 59 }],
      ['grep', { pattern: '503' }],
      ['grep', { pattern: '5..$', before: 20, after: 20 }],
      ['bytes', { end: 100_000 }],
      ['bytes', { end: 100_000, encoding: 'base64' }],
      ['failures', {}],
    ] as const) {
      const answer = words(await call(name, args))
      expect(bytes(answer), `${name}: ${answer.slice(-300)}`).toBeLessThanOrEqual(maximumBytes)
      expect(answer).toContain('Truncated')
    }
  })
})

describe('refusals', () => {
  test('a handle that is unknown, gone, or of another session is refused in the same words', async () => {
    const { keep, call } = asking({ executor: { use: [{ store: memoryStore({ maximumBytes: 50_000 }) }] } })
    const theirs = await keep(requests, 'b')
    const gone = await keep('x\n'.repeat(20_000))
    await keep('y\n'.repeat(20_000))
    const refusals = new Set<string>()
    for (const artifact of [theirs, gone, `artifact_${'0'.repeat(40)}`]) {
      const result = await call('head', { artifact })
      expect(result).toMatchObject({
        status: 'error',
        effect: 'none',
        error: { code: 'E_INVALID_TOOL_ARGS', issues: [{ path: ['artifact'] }] },
      })
      refusals.add(words(result).replace(artifact, 'X'))
    }
    expect([...refusals]).toHaveLength(1)
    expect([...refusals][0]).toContain('There is no artifact "X" in this session.')
  })

  test('what is no handle at all is refused', async () => {
    const { call } = asking()
    for (const artifact of [undefined, null, 7, {}, [], '', '../../etc/passwd', '__proto__', 'x'.repeat(9_000)]) {
      const result = await call('head', { artifact })
      expect(result).toMatchObject({
        status: 'error',
        error: { code: 'E_INVALID_TOOL_ARGS', issues: [{ path: ['artifact'] }] },
      })
      expect(words(result).length).toBeLessThan(1_100)
    }
  })

  test('a question that does not fit the artifact is refused, and the refusal says which do', async () => {
    const { keep, call } = asking()
    await keep(requests)
    const onText = await call('json_get')
    expect(onText.error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect(words(onText)).toMatch(/json artifact, and is that of a text artifact\. Ask artifact_head, .* about it/)
    await keep(new Uint8Array(9_000))
    const onBytes = await call('grep', { pattern: 'x' })
    expect(onBytes.error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect(words(onBytes)).toMatch(/Ask artifact_bytes or artifact_image about it/)
  })

  test('everything that is wrong is said at once', async () => {
    const { call } = asking()
    const result = await call('grep', { artifact: 7, pattern: '', flags: 'g', extra: 1 })
    for (const part of [/artifact: must be the handle/, /pattern: /, /flags: /, /"extra"/])
      expect(words(result)).toMatch(part)
  })

  test('numbers that no line has are refused', async () => {
    const { keep, call } = asking()
    await keep(requests)
    for (const args of [{ start: -1 }, { start: 1.5 }, { start: '1' }, { end: -1 }, { column: -1 }, { start: null }]) {
      expect((await call('cat', args)).error?.code, JSON.stringify(args)).toBe('E_INVALID_TOOL_ARGS')
    }
    for (const start of [Number.MAX_SAFE_INTEGER, 1e300]) expect((await call('cat', { start })).status).toBe('ok')
  })
})

describe('a class of one’s own', () => {
  test('brings its tools along, beside those of what it extends', async () => {
    const { executor, keep, ask } = asking({ classes: [AccessLog], artifact: AccessLog })
    expect(listed(executor)).toEqual([...names, 'artifact_failures', 'artifact_requests'])
    await keep(requests)
    expect(JSON.parse(await ask('failures'))).toEqual(
      [0, 1_000, 2_000].map((line) => ({ line, text: `GET /path/${line % 7} 503` })),
    )
    expect(await ask('head', { count: 1 })).toBe('GET /path/0 503')
  })

  test('joins when its first artifact is kept, where it was not named', async () => {
    const { executor, keep, ask } = asking({ artifact: AccessLog })
    expect(listed(executor)).toEqual(names)
    await keep(requests)
    expect(listed(executor)).toEqual([...names, 'artifact_failures', 'artifact_requests'])
    expect(words(await executor.execute({ name: 'give' }))).toContain(
      'artifact_bytes, artifact_failures or artifact_requests about it.',
    )
    expect(await ask('failures')).toContain('503')
  })

  test('says with a schema of any library what a question takes', async () => {
    const { executor, keep, ask, call } = asking({ artifact: AccessLog, classes: [AccessLog] })
    await keep(requests)
    const { inputSchema } =
      executor
        .tools()
        .find(({ name }) => name === 'artifact_requests')
        ?.describe() ?? expect.fail('none')
    expect(inputSchema).toMatchObject({
      type: 'object',
      properties: { artifact: { type: 'string' }, path: { type: 'string', description: 'Its path' } },
      required: ['artifact', 'path'],
    })
    expect(JSON.parse(await ask('requests', { path: '/path/3', start: 427 }))).toHaveLength(2)
    expect((await call('requests', { path: 3 })).error?.issues).toMatchObject([{ path: ['path'] }])
    expect((await call('requests')).error?.issues).toMatchObject([{ path: ['path'] }])
  })

  test('goes on with a list from where the answer says', async () => {
    const { keep, ask } = asking({ artifact: AccessLog, classes: [AccessLog] })
    await keep(requests)
    let start = 0
    let count = 0
    for (let page = 0; page < 50; page++) {
      const answer = await ask('requests', { path: '/path/3', start })
      const [body = '', notice] = answer.split('\n')
      count += (JSON.parse(body) as unknown[]).length
      const [, next] =
        /^\(Truncated: the first \d+ of \d+ items are shown\. Go on with start: (\d+)\.\)$/.exec(notice ?? '') ?? []
      if (next === undefined) break
      start = Number(next)
    }
    expect(count).toBe(requests.match(/ \/path\/3 /g)?.length)
  })

  test('may answer otherwise than the class that it extends', async () => {
    const { executor, keep, ask } = asking({ classes: [ErrorLog], artifact: ErrorLog })
    expect(listed(executor)).toEqual([...names, 'artifact_failures', 'artifact_requests', 'artifact_newest'])
    await keep(requests)
    expect(await ask('failures')).toBe('all of them')
    expect(await ask('newest')).toBe('GET /path/3 200')
    expect(await ask('requests', { path: '/path/3', start: 428 })).toContain('"line":2999')
  })

  test('is not asked what only its subclass can answer', async () => {
    const { keep, call } = asking({ classes: [ErrorLog], artifact: AccessLog })
    await keep(requests)
    const result = await call('newest')
    expect(result.error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect(words(result)).toContain('artifact_failures')
  })

  test('without a kind of its own is told from what it extends', async () => {
    class Plain extends TextArtifact {
      static override readonly queries = {
        own: { description: 'Its own', answer: (artifact: Plain) => artifact.shout() },
      }
      async shout(): Promise<string> {
        return (await this.head(1)).toUpperCase()
      }
    }
    const plain = asking({ classes: [Plain], artifact: Plain })
    await plain.keep(requests)
    expect(await plain.ask('own')).toBe('GET /PATH/0 503')
    const others = asking({ classes: [Plain] })
    await others.keep(requests)
    expect((await others.call('own')).error?.code).toBe('E_INVALID_TOOL_ARGS')
  })

  test('is told of the call, and of its end', async () => {
    const contexts: ToolContext[] = []
    class Slow extends TextArtifact {
      static override readonly kind: string = 'slow'
      static override readonly queries = {
        wait: {
          description: 'Waits',
          answer: (_: Slow, _input: object, context: ToolContext) => {
            contexts.push(context)
            return 'done'
          },
        },
      }
    }
    const { keep, ask } = asking({ artifact: Slow, classes: [Slow] })
    await keep(requests)
    await ask('wait')
    expect(contexts).toMatchObject([{ session: 'a', toolName: 'artifact_wait' }])
    expect(contexts[0]?.signal).toBeInstanceOf(AbortSignal)
  })

  test('of a JSON artifact whose answer is nothing, empty, or no JSON is answered for', async () => {
    class Odd extends JsonArtifact {
      static override readonly kind: string = 'odd'
      static override readonly queries = {
        nothing: { description: 'Nothing', answer: () => undefined },
        null: { description: 'Null', answer: () => null },
        empty: { description: 'Empty', answer: () => '' },
        cycle: {
          description: 'A cycle',
          answer: () => {
            const cycle: Record<string, unknown> = { a: 1 }
            cycle['self'] = cycle
            return cycle
          },
        },
        big: { description: 'A bigint', answer: () => 1n },
        throws: {
          description: 'Throws',
          answer: () => {
            throw new Error('no such sheet')
          },
        },
        later: { description: 'Rejects', answer: () => Promise.reject(new Error('no such sheet')) },
        date: { description: 'A date', answer: () => [new Date(0), undefined, Number.NaN, () => 1] },
      }
    }
    const { keep, ask, call } = asking({ artifact: Odd, classes: [Odd] })
    await keep([1])
    expect(await ask('nothing')).toBe('(There is nothing there.)')
    expect(await ask('null')).toBe('null')
    expect(await ask('empty')).toBe('(The answer is empty.)')
    expect(await ask('cycle')).toMatch(/^\{"a":1\}\n\(Truncated: 1 members are left out/)
    expect(await ask('date')).toBe('["1970-01-01T00:00:00.000Z",null,null,null]')
    expect((await call('big')).error?.code).toBe('E_TOOL_DOWNSTREAM_ERROR')
    for (const name of ['throws', 'later']) expect(words(await call(name))).toBe('Error: no such sheet')
  })

  test('takes a schema that says no JSON Schema of itself only where nobody asks for one', async () => {
    class Silent extends TextArtifact {
      static override readonly kind: string = 'silent'
      static override readonly queries = {
        echo: {
          description: 'Echoes',
          inputSchema: {
            '~standard': {
              version: 1 as const,
              vendor: 'silent',
              validate: (value: unknown) => ({ value: value as { word: string } }),
            },
          },
          answer: (_: Silent, { word }: { word: string }) => [word],
        },
      }
    }
    const reports: unknown[] = []
    const { executor, keep, ask } = asking({
      classes: [Silent],
      artifact: Silent,
      executor: { report: (error) => void reports.push(error) },
    })
    expect(listed(executor)).toEqual(names)
    expect(reports).toMatchObject([{ code: 'E_SCHEMA_CONVERSION' }])
    await keep(requests)
    expect(await ask('echo', { word: 'hello' })).toBe('["hello"]')
  })

  test('has arguments of ArkType as well', async () => {
    class Typed extends TextArtifact {
      static override readonly kind: string = 'typed'
      static override readonly queries = {
        repeat: {
          description: 'Repeats',
          inputSchema: type({ word: 'string', 'times?': 'number.integer' }),
          answer: (_: Typed, { word, times = 2 }: { word: string; times?: number }) => word.repeat(times),
        },
      }
    }
    const { keep, ask, call } = asking({ classes: [Typed], artifact: Typed })
    await keep(requests)
    expect(await ask('repeat', { word: 'ab', times: 3 })).toBe('ababab')
    expect((await call('repeat', { word: 'ab', times: 0.5 })).error?.issues).toMatchObject([{ path: ['times'] }])
  })
})

describe('{ enumerate: true }', () => {
  test('has no tools where there is nothing to ask about', () => {
    const { executor } = asking({ enumerate: true })
    expect(listed(executor)).toEqual([])
  })

  test('has the tools that fit, which name the artifacts of the session that fit them, the newest first', async () => {
    const { executor, keep } = asking({ enumerate: true })
    const text = await keep(requests)
    const json = await keep(Array.from({ length: 2_000 }, (_, id) => ({ id })))
    const handles = (name: string, session = 'a'): unknown =>
      executor
        .tools('model', session)
        .find((each) => each.name === name)
        ?.describe().inputSchema.properties?.['artifact']
    expect(listed(executor)).toEqual(names.filter((name) => name !== 'artifact_image'))
    expect(handles('artifact_head')).toMatchObject({ type: 'string', enum: [json, text] })
    expect(handles('artifact_json_get')).toEqual({
      type: 'string',
      enum: [json],
      description: expect.stringMatching(new RegExp(`^One of ${json} \\(json, \\d+ bytes, of give\\)$`)),
    })
    expect(listed(executor, 'b')).toEqual([])
    await keep(new Uint8Array(9_000), 'b')
    expect(listed(executor, 'b')).toEqual(['artifact_bytes', 'artifact_image'])
  })

  test('gives the same array until the artifacts of the session change', async () => {
    const extension = artifactTools({ enumerate: true })
    const large = tool({ name: 'large', description: 'Large', handler: () => requests })
    const executor = createExecutor({ tools: [large], use: [extension] })
    const tools = (session: string): unknown => extension.tools(requestOf(session, executor.artifacts))
    await executor.execute({ name: 'large' }, { session: 'a' })
    const first = tools('a')
    tools('b')
    expect(tools('a')).toBe(first)
    await executor.execute({ name: 'large' }, { session: 'b' })
    expect(tools('a')).toBe(first)
    await executor.execute({ name: 'large' }, { session: 'a' })
    expect(tools('a')).not.toBe(first)
  })

  test('answers are never named', async () => {
    const { executor, keep, call } = asking({ enumerate: true, maximumBytes: 100_000 })
    const handle = await keep(requests)
    await call('cat')
    await call('grep', { pattern: 'GET' })
    const { inputSchema } = executor.tools('model', 'a').at(-1)?.describe() ?? expect.fail('none')
    expect(inputSchema.properties?.['artifact']).toMatchObject({ enum: [handle] })
  })

  test('names the fifty newest of many, and opens the others all the same', async () => {
    const { executor, keep, call } = asking({ enumerate: true })
    const first = await keep(requests)
    for (let count = 0; count < 55; count++) await keep('x'.repeat(9))
    const { inputSchema } = executor.tools('model', 'a').at(-1)?.describe() ?? expect.fail('none')
    expect(inputSchema.properties?.['artifact']).toHaveProperty('enum.length', 50)
    expect((await call('head', { artifact: first, count: 1 })).status).toBe('ok')
  })
})

describe('artifacts of another process', () => {
  test('are read as what their media type says', async () => {
    const store = memoryStore()
    const before = asking({ artifact: AccessLog, executor: { use: [{ store }] } })
    const log = await before.keep(requests)
    const plain = asking({ executor: { use: [{ store }] } })
    const json = await plain.keep([1, 2, 3])
    const raw = await plain.keep(new Uint8Array(9))

    const after = asking({ classes: [AccessLog], executor: { use: [{ store }] } })
    expect(words(await after.call('failures', { artifact: log }))).toContain('503')
    expect(words(await after.call('head', { artifact: log, count: 1 }))).toBe('GET /path/0 503')
    expect(words(await after.call('json_length', { artifact: json }))).toBe('3')
    expect(words(await after.call('bytes', { artifact: raw }))).toBe('0: 000000000000000000')
    expect((await after.call('head', { artifact: raw })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect((await after.call('failures', { artifact: json })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect((await after.call('head', { artifact: log })).artifact?.trusted).toBe(false)
  })
})

describe('artifactTools refuses', () => {
  class Nameless extends TextArtifact {
    static override readonly queries = { 'has space': { description: 'x', answer: () => 1 } }
  }
  class Speechless extends TextArtifact {
    static override readonly queries = { query: { description: ' ', answer: () => 1 } }
  }
  class Mute extends TextArtifact {
    static override readonly queries = { query: { description: 'x' } as never }
  }
  class Rival extends JsonArtifact {
    static override readonly kind: string = 'rival'
    static override readonly queries = { failures: { description: 'Other failures', answer: () => 1 } }
  }

  class ListsQueries extends TextArtifact {
    static override readonly queries = [{ description: 'x', answer: () => 1 }] as never
  }
  class Formless extends TextArtifact {
    static override readonly queries = { query: { description: 'x', inputSchema: null as never, answer: () => 1 } }
  }
  class NoQueries extends TextArtifact {
    static override readonly queries = undefined as never
  }

  test.each<[string, unknown, RegExp]>([
    ['what is no options', null, /object of options/],
    ['queries in an array', { classes: [ListsQueries] }, /ListsQueries has `queries` that are no object/],
    ['queries that are none', { classes: [NoQueries] }, /NoQueries has `queries` that are no object/],
    ['options that nobody reads', { maximumbytes: 7 }, /no option "maximumbytes"; its options are classes/],
    ['answers of nothing', { maximumBytes: 1_023 }, /maximumBytes/],
    ['answers without lines', { maximumLines: 0 }, /maximumLines/],
    ['a time before now', { searchTime: -1 }, /searchTime/],
    ['a time that is none', { searchTime: Number.NaN }, /searchTime/],
    ['an estimate that is none', { estimateTokens: 4 }, /estimateTokens/],
    ['names of other tools', { only: ['grep'] }, /only/],
    ['classes that are none', { classes: [Map] }, /classes/],
    ['a class outside of an array', { classes: AccessLog }, /classes/],
    ['a query whose name no tool can have', { classes: [Nameless] }, /Nameless has the query "has space"/],
    ['a query that says nothing of itself', { classes: [Speechless] }, /Speechless has the query "query"/],
    ['a query whose schema is none', { classes: [Formless] }, /Formless has the query "query", but its `inputSchema`/],
    ['a query without an answer', { classes: [Mute] }, /Mute has the query "query"/],
    [
      'two classes with different queries of one name',
      { classes: [AccessLog, Rival] },
      /Rival and AccessLog have different queries of the name "failures"/,
    ],
  ])('%s', (_, options, message) => {
    const make = (): unknown => artifactTools(options as ArtifactToolsOptions)
    expect(make).toThrow(InvalidConfigurationError)
    expect(make).toThrow(message)
  })
})

test.each<[string, unknown]>([
  ['a Map', new Map([['a', 1]])],
  ['a promise in an array', [Promise.resolve(1)]],
  ['a generator', (function* none() {})()],
  ['a marked value', markedJson(1)],
])('a query that answers %s is told what to return', async (_title, value) => {
  class Odd extends TextArtifact {
    static override readonly kind: string = 'odd'
    static override readonly queries = { odd: { description: 'Asks', answer: () => value } }
  }
  const { keep, call } = asking({ artifact: Odd })
  await keep(requests)
  const { error } = await call('odd')
  expect(error?.message).toContain('JSON cannot show the answer: return text or plain values')
})

test('a query that cannot be a tool spoils nothing but itself when its class joins late', async () => {
  class Late extends TextArtifact {
    static override readonly kind: string = 'late'
    static override readonly queries = { 'has space': { description: 'x', answer: () => 1 } }
  }
  const reports: unknown[] = []
  const { executor, keep, ask } = asking({ artifact: Late, executor: { report: (error) => void reports.push(error) } })
  await keep(requests)
  expect(reports).toMatchObject([{ code: 'E_INVALID_CONFIGURATION' }])
  await keep(requests)
  expect(reports).toHaveLength(1)
  expect(await ask('line_count')).toBe('3000')
  expect(listed(executor)).toEqual(names)
})

test('classes of another copy of the package are known for what they are', async () => {
  vi.resetModules()
  const copy = await import('toolwright')
  expect(copy.TextArtifact).not.toBe(TextArtifact)
  class Theirs extends copy.TextArtifact {
    static override readonly kind: string = 'theirs'
    static override readonly queries = {
      first: { description: 'Its first line', answer: (log: Theirs) => log.head(1) },
    }
  }
  const texts = asking({ artifact: Theirs, classes: [Theirs] })
  await texts.keep(requests)
  expect(await texts.ask('first')).toBe('GET /path/0 503')
  expect(await texts.ask('line_count')).toBe('3000')
  expect((await texts.call('json_get')).error?.code).toBe('E_INVALID_TOOL_ARGS')

  const values = asking({ artifact: copy.JsonArtifact })
  await values.keep([1, 2, 3])
  expect(await values.ask('json_length')).toBe('3')
  const raw = asking({ artifact: copy.BinaryArtifact })
  await raw.keep(new Uint8Array(9))
  expect((await raw.call('head')).error?.code).toBe('E_INVALID_TOOL_ARGS')
  expect(await raw.ask('bytes')).toBe('0: 000000000000000000')
})
