// What becomes of calls: args on their way out, results on their way in.
import { createExecutor, ToolFailure, type ToolExecutor, type ToolResult } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { connect, define, until, type Scripted } from './_scripted.ts'

const answer = define('answer')

async function answered(result: unknown, definition: object = answer): Promise<ToolResult> {
  const { server } = await connect([definition])
  return createExecutor({ use: [server] }).execute({ name: 'answer', args: { result } })
}

function executorOf({ server }: Scripted, timeout = 30_000): ToolExecutor {
  return createExecutor({ use: [server], timeout })
}

describe('args', () => {
  const inputSchema = {
    type: 'object',
    properties: { path: { type: 'string', pattern: '^(a+)+$' } },
    required: ['path'],
    additionalProperties: false,
  }

  test('that do not fit the schema never reach the server', async () => {
    const scripted = await connect([define('echo', { inputSchema })])
    const executor = executorOf(scripted)
    for (const args of [{}, { path: 7 }, { path: 'b' }, { path: 'a', more: 1 }, 'text']) {
      expect((await executor.execute({ name: 'echo', args })).error?.code).toMatch(
        /E_INVALID_TOOL_ARGS|E_UNCANONICAL_ARGS/,
      )
    }
    expect(scripted.count(/^call/)).toBe(0)
    expect((await executor.execute({ name: 'echo', args: { path: 'aa' } })).status).toBe('ok')
    expect(scripted.log()).toContain('call echo {"path":"aa"}')
  })

  test('are matched by patterns of the server in linear time', async () => {
    const executor = executorOf(await connect([define('echo', { inputSchema })]))
    const result = await executor.execute({ name: 'echo', args: { path: `${'a'.repeat(50_000)}b` } })
    expect(result.error?.code).toBe('E_INVALID_TOOL_ARGS') // by backtracking it would take longer than there is
  })

  test('go out under the name that the server gave its tool', async () => {
    const scripted = await connect([define('echo')], { prefix: 'p' })
    await executorOf(scripted).execute({ name: 'p_echo', args: { a: 1 } })
    expect(scripted.log()).toContain('call echo {"a":1}')
  })
})

describe('a result', () => {
  test('comes with every kind of block, without what the protocol does not know', async () => {
    const { content } = await answered({
      content: [
        { type: 'text', text: 'words', annotations: { audience: ['user'] } },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
        { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text: 'contents' } },
        { type: 'resource', resource: { uri: 'file:///b', blob: 'aGk=' } },
        { type: 'resource_link', uri: 'file:///c', name: 'c', description: 'C', size: 12 },
      ],
    })
    expect(content).toEqual([
      { type: 'text', text: 'words' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text: 'contents' } },
      { type: 'resource', resource: { uri: 'file:///b', blob: 'aGk=' } },
      { type: 'resource_link', uri: 'file:///c', name: 'c', description: 'C', size: 12 },
    ])
  })

  test('with structured content is one JSON value, and its repetition as text is left out', async () => {
    const structuredContent = { b: [1, 2], a: 'x' }
    const repeated = await answered({
      content: [{ type: 'text', text: '{ "a": "x", "b": [1, 2.0] }' }],
      structuredContent,
    })
    expect(repeated.content).toMatchObject([{ type: 'json', data: structuredContent }])
    const summary = await answered({ content: [{ type: 'text', text: 'Two of them.' }], structuredContent })
    expect(summary.content).toMatchObject([
      { type: 'text', text: 'Two of them.' },
      { type: 'json', data: structuredContent },
    ])
    expect(JSON.parse((await summary.artifact?.asString()) ?? '')).toEqual(structuredContent)
  })

  test('with structured content that only wraps its text is that text, line by line', async () => {
    const text = 'one\ntwo "x"\n'
    const structuredContent = { content: text }
    const outputSchema = { type: 'object', properties: { content: { type: 'string' } }, required: ['content'] }
    for (const definition of [answer, define('answer', { outputSchema })]) {
      const same = await answered({ content: [{ type: 'text', text }], structuredContent }, definition)
      expect(same.content).toEqual([{ type: 'text', text }])
      expect([same.artifact?.mediaType, await same.artifact?.asString()]).toEqual(['text/plain', text])
    }
    const { server } = await connect([define('answer', { outputSchema })])
    const result = await createExecutor({ use: [server] }).execute({
      name: 'answer',
      args: { result: { content: [{ type: 'text', text: 'x' }], structuredContent: { content: 7 } } },
    })
    expect(result.error?.code).toBe('E_INVALID_TOOL_RESULT') // the wrapper is checked all the same
  })

  test('with structured content that is one text has both, where the text is another or the schema has more', async () => {
    const structuredContent = { content: 'one\ntwo "x"\n' }
    const properties = { content: { type: 'string' }, title: { type: 'string' } }
    const wide = define('answer', { outputSchema: { type: 'object', properties } })
    const open = await answered(
      { content: [{ type: 'text', text: structuredContent.content }], structuredContent },
      wide,
    )
    expect(open.content).toMatchObject([{ type: 'json', data: structuredContent }])
    const other = await answered({ content: [{ type: 'text', text: 'two' }], structuredContent })
    expect(other.content).toHaveLength(2)
    const two = { a: 'same', b: 'same' }
    const both = await answered({ content: [{ type: 'text', text: 'same' }], structuredContent: two })
    expect(both.content).toHaveLength(2)
  })

  test('of nothing is nothing', async () => {
    expect((await answered({ content: [] })).content).toEqual([{ type: 'text', text: '(no output)' }])
  })

  test('that is large is kept as an artifact, and shown by its beginning', async () => {
    const executor = executorOf(await connect([define('huge')]))
    const { artifact, handle, content } = await executor.execute({ name: 'huge', args: {} })
    expect(artifact?.byteLength()).toBe(2_000_000)
    expect(handle).toBeDefined()
    expect(JSON.stringify(content).length).toBeLessThan(4_000)
  })

  describe('of a tool with an output schema', () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const definition = define('answer', { outputSchema })

    test('is checked by us', async () => {
      const good = await answered({ content: [], structuredContent: { n: 1 } }, definition)
      expect(good).toMatchObject({ status: 'ok', content: [{ type: 'json', data: { n: 1 } }] })
      const bad = await answered({ content: [], structuredContent: { n: 'one' } }, definition)
      expect(bad).toMatchObject({ status: 'error', effect: 'completed', error: { code: 'E_INVALID_TOOL_RESULT' } })
    })

    test('has to have structured content', async () => {
      const result = await answered({ content: [{ type: 'text', text: '{"n":1}' }] }, definition)
      expect(result.error?.code).toBe('E_INVALID_TOOL_RESULT')
    })

    test('may be a failure without it', async () => {
      const result = await answered({ content: [{ type: 'text', text: 'no luck' }], isError: true }, definition)
      expect(result.error?.code).toBe('E_TOOL_DOWNSTREAM_ERROR')
    })
  })

  test('that says it failed is a failure in the server’s words, line by line', async () => {
    const { error, effect, content } = await answered({
      content: [
        { type: 'text', text: 'ENOENT: no such file\u001b[31m' },
        { type: 'text', text: 'Try another.' },
      ],
      isError: true,
    })
    expect(error).toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', retryable: false })
    expect(error?.cause).toBeInstanceOf(ToolFailure)
    expect(effect).toBe('unknown')
    expect(content).toEqual([{ type: 'text', text: 'ENOENT: no such file\\u001b[31m\nTry another.' }])
  })

  test.each([
    ['content that is no list', { content: 'words' }],
    ['a block of an unknown kind', { content: [{ type: 'hologram', data: 'x' }] }],
    ['a block without its fields', { content: [{ type: 'image' }] }],
    ['megabytes of nonsense', { content: [{ type: 'x'.repeat(100_000) }] }],
  ])('of the wrong shape is a typed error: %s', async (_what, result) => {
    const { error, content } = await answered(result)
    expect(error).toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', category: 'application' })
    expect(error?.message.length).toBeLessThan(1_000)
    expect(JSON.stringify(content).length).toBeLessThan(1_500)
  })

  test('that is an error of the protocol is a typed error', async () => {
    const { error } = await executorOf(await connect([define('nobody')])).execute({ name: 'nobody', args: {} })
    expect(error).toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', category: 'application', retryable: false })
    expect(error?.message).toContain('Unknown tool: nobody')
  })
})

describe('progress', () => {
  test('becomes events of the call, and a flood of it is cut', async () => {
    const executor = executorOf(await connect([define('flood')], { limits: { progress: 50 } }))
    const heard: unknown[] = []
    executor.on('tool:progress', ({ type, data }) => heard.push({ type, data }))
    const { status } = await executor.execute({ name: 'flood', args: {} })
    expect(status).toBe('ok')
    expect(heard).toHaveLength(50)
    expect(heard[1]).toEqual({ type: 'progress', data: { progress: 2, total: 5_000, message: 'x'.repeat(1_000) } })
  })
})

describe('the effect of a call', () => {
  const readonly = { traits: { readonly: true } }

  test('is none if the application says that the tool only reads, whatever becomes of the call', async () => {
    const tools = { echo: readonly, hang: readonly, answer: readonly }
    const scripted = await connect([define('echo'), define('hang'), answer], { tools, timeout: 100 })
    const executor = executorOf(scripted)
    expect(await executor.execute({ name: 'echo', args: {} })).toMatchObject({ status: 'ok', effect: 'none' })
    expect(await executor.execute({ name: 'hang', args: {} })).toMatchObject({ status: 'timed_out', effect: 'none' })
    const failed = await executor.execute({ name: 'answer', args: { result: { content: [], isError: true } } })
    expect(failed).toMatchObject({ status: 'error', effect: 'none' })
  })

  test('is not what the server says of its tool', async () => {
    const annotations = { readOnlyHint: true, destructiveHint: false }
    const scripted = await connect([define('echo', { annotations })])
    expect(await executorOf(scripted).execute({ name: 'echo', args: {} })).toMatchObject({ effect: 'completed' })
  })
})

describe('a call that is given up', () => {
  test('is cancelled at the server', async () => {
    const scripted = await connect([define('hang'), define('echo')])
    const executor = executorOf(scripted)
    const controller = new AbortController()
    const pending = executor.execute({ name: 'hang', args: {} }, { signal: controller.signal })
    await until(() => scripted.count(/^call hang/) === 1)
    controller.abort()
    expect(await pending).toMatchObject({ status: 'cancelled', effect: 'unknown' })
    await until(() => scripted.count(/^cancelled/) === 1)
    expect((await executor.execute({ name: 'echo', args: {} })).status).toBe('ok')
  })

  test('by its deadline is cancelled at the server', async () => {
    const scripted = await connect([define('hang')], { timeout: 100 })
    expect(await executorOf(scripted).execute({ name: 'hang', args: {} })).toMatchObject({
      status: 'timed_out',
      effect: 'unknown',
    })
    await until(() => scripted.count(/^cancelled/) === 1)
  })
})

describe('a question of the server', () => {
  test('reaches the host, and the answer the server', async () => {
    const asked: unknown[] = []
    const scripted = await connect([define('ask')], {
      elicit: (question) => {
        asked.push(question)
        return Promise.resolve({ action: 'accept', content: { sure: true } })
      },
    })
    const { content } = await executorOf(scripted).execute({ name: 'ask', args: {} })
    expect(asked).toMatchObject([{ message: 'Are you sure?' }])
    expect(content).toEqual([{ type: 'text', text: '{"action":"accept","content":{"sure":true}}' }])
  })

  test('is refused where the host answers none', async () => {
    const scripted = await connect([define('ask')])
    const { content } = await executorOf(scripted).execute({ name: 'ask', args: {} })
    expect(JSON.stringify(content)).not.toContain('accept')
  })
})

describe('`meta`', () => {
  test('goes out with the call, and is asked for in the handler', async () => {
    const sessions: string[] = []
    const scripted = await connect([define('echo')], {
      meta: ({ session }) => {
        sessions.push(session)
        return { traceparent: '00-1-2-01' }
      },
    })
    await executorOf(scripted).execute({ name: 'echo', args: {} }, { session: 'mine' })
    expect(sessions).toEqual(['mine'])
    expect(scripted.log()).toContain('meta traceparent 00-1-2-01')
  })
})
