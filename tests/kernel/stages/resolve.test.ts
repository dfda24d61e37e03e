import { createExecutor, ToolRegistry } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { processorTime } from '../../_processor-time.ts'
import { heard, names, outcome, sink, text, work } from '../_calls.ts'

describe('resolve', () => {
  test('finds a tool by its name, else by an alias, and goes on under its own name', async () => {
    const executor = createExecutor({
      tools: [work('read', () => 'read', { aliases: ['cat'] }), work('write', () => 'write')],
    })
    const byName = await executor.execute({ name: 'read', args: { a: 1 } })
    const byAlias = await executor.execute({ name: 'cat', args: { a: 1 } })
    expect([byAlias.toolName, text(byAlias)]).toEqual(['read', 'read'])
    expect(byAlias.callId).toBe(byName.callId)
  })

  test('takes names exactly', async () => {
    const executor = createExecutor({ tools: [work('read', () => 1)] })
    for (const name of ['Read', ' read', 'read ', 'read\0', '']) {
      expect((await executor.execute({ name })).error?.code).toBe('E_TOOL_NOT_FOUND')
    }
  })

  test('a tool that is not there: the answer names those that are, and the event has no callId', async () => {
    const executor = createExecutor({ tools: [work('read', () => 1), work('write', () => 1)] })
    const events = heard(executor)
    const result = await executor.execute({ id: 'x', name: 'nope', args: { a: 1 } })
    expect(outcome(result)).toBe('error none E_TOOL_NOT_FOUND')
    expect(result).toMatchObject({ callId: null, toolName: 'nope', isError: true, id: 'x' })
    expect(text(result)).toContain('There is no tool "nope". Available: read, write.')
    expect(names(events)).toBe('call:received call:settled')
    expect(events).toMatchObject([
      { callId: null, args: { a: 1 } },
      { callId: null, status: 'error' },
    ])
  })

  test('a tool that the caller may not see is answered like one that is not there', async () => {
    const hidden = work('hidden', () => 1, { audience: 'user' })
    const executor = createExecutor({ tools: [work('read', () => 1), hidden] })
    const answer = text(await executor.execute({ name: 'hidden' }))
    const unknown = text(await createExecutor({ tools: [work('read', () => 1)] }).execute({ name: 'hidden' }))
    expect(answer).toBe(unknown)
    expect(answer).not.toMatch(/Available.*hidden/)
    expect((await executor.execute({ name: 'hidden' }, { caller: 'user' })).status).toBe('ok')
  })

  test('of many tools the answer names twenty, and says how many more there are', async () => {
    const tools = Array.from({ length: 25 }, (_, index) => work(`tool_${index}`, () => 1))
    const words = text(await createExecutor({ tools }).execute({ name: 'nope' }))
    expect(words).toContain('tool_19 and 5 more.')
    expect(words).not.toContain('tool_20')
    expect(text(await createExecutor().execute({ name: 'nope' }))).toContain('Available: no tools.')
  })

  test.each([
    ['get-forecast', 'get_forecast'],
    ['getForecast', 'get_forecast'],
    ['get_forcast', 'get_forecast'],
    ['forecast', 'get_forecast'],
    ['get_forecast_for_city', 'get_forecast'],
    ['tool_1337', 'tool_137'],
  ])('of many tools the answer begins with the nearest: %s', async (asked, nearest) => {
    const tools = Array.from({ length: 200 }, (_, index) => work(`tool_${index}`, () => 1))
    tools.push(work('get_forecast', () => 1))
    const words = text(await createExecutor({ tools }).execute({ name: asked }))
    expect(words).toMatch(new RegExp(`Available: (tool_\\d{2,3}, ){0,4}${nearest}, .* and 181 more\\.`))
  })

  test('the answer names no tool that could not be called, or that no model is shown', async () => {
    const broken = {
      '~standard': {
        version: 1,
        vendor: 'own',
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: () => expect.unreachable() },
      },
    }
    const tools = [
      work('near_user', () => 1, { audience: 'user' }),
      work('near_provider', undefined as never, { type: 'provider', handler: undefined }),
      work('near_custom', () => 1, { type: 'elsewhere' }),
      work('near_broken', () => 1, { inputSchema: broken }),
      work('far', () => 1),
    ]
    expect(text(await createExecutor({ tools }).execute({ name: 'near' }))).toContain('Available: far.')
    const use = [{ runners: [{ type: 'elsewhere', run: () => 1 }] }]
    const words = text(await createExecutor({ tools, use }).execute({ name: 'near' }))
    expect(words).toContain('Available: near_custom, far.')
  })

  test('among ten thousand tools, a name that is like all of them costs little more than one that is like none', async () => {
    const tools = Array.from({ length: 10_000 }, (_, index) => work(`${'ab'.repeat(28)}_${index}`, () => 1))
    const executor = createExecutor({ tools })
    const costOf = async (name: string): Promise<number> => {
      expect(outcome(await executor.execute({ name }))).toBe('error none E_TOOL_NOT_FOUND')
      return await processorTime(() => executor.execute({ name }))
    }
    const unlike = await costOf('x')
    expect(await costOf('ba'.repeat(28))).toBeLessThan(15 * unlike)
    expect(await costOf('ba'.repeat(128))).toBeLessThan(15 * unlike)
  }, 120_000)

  test.each([
    ['tool_1337x', 'tool_1337'],
    ['toool-9876', 'tool_9876'],
    ['get_forcast', 'get_forecast'],
  ])('among ten thousand similar names the nearest is still found: %s', async (asked, nearest) => {
    const tools = Array.from({ length: 10_000 }, (_, index) => work(`tool_${index}`, () => 1))
    const executor = createExecutor({ tools: [...tools, work('get_forecast', () => 1)] })
    expect(text(await executor.execute({ name: asked }))).toContain(`Available: ${nearest}, `)
  })

  test('a hostile name is shown escaped and cut', async () => {
    const words = text(await createExecutor().execute({ name: `\u001b[31m\n${'x'.repeat(1_000_000)}` }))
    expect(words).not.toMatch(/[\u001b\n]/)
    expect(words.length).toBeLessThan(300)
  })

  test.each([null, undefined, {}, { name: null }, { name: 5 }, { name: {} }, 'read', 5, []])(
    'a call that is %j is a call of no tool',
    async (call) => {
      const result = await createExecutor({ tools: [work('read', () => 1)] }).execute(call as never)
      expect(outcome(result)).toBe('error none E_TOOL_NOT_FOUND')
    },
  )

  test('a call whose fields cannot be read is a call of no tool', async () => {
    const call = {
      get name(): string {
        throw new Error('no')
      },
    }
    const { report } = sink()
    expect((await createExecutor({ report }).execute(call)).status).toBe('error')
  })

  test('a registry may grow and shrink while calls come in', async () => {
    const registry = new ToolRegistry()
    const executor = createExecutor({ tools: registry })
    expect((await executor.execute({ name: 'late' })).status).toBe('error')
    const undo = registry.add(work('late', () => 1))
    expect((await executor.execute({ name: 'late' })).status).toBe('ok')
    undo()
    expect((await executor.execute({ name: 'late' })).status).toBe('error')
  })

  test("the tools of a session are there in that session alone, before the executor's", async () => {
    const executor = createExecutor({
      tools: [work('where', () => 'everywhere')],
      use: [
        { tools: ({ session }) => (session === 'one' ? [work('where', () => 'in one'), work('own', () => 1)] : []) },
      ],
    })
    expect(text(await executor.execute({ name: 'where' }, { session: 'one' }))).toBe('in one')
    expect(text(await executor.execute({ name: 'where' }, { session: 'two' }))).toBe('everywhere')
    expect((await executor.execute({ name: 'own' }, { session: 'two' })).error?.code).toBe('E_TOOL_NOT_FOUND')
    expect(
      executor
        .tools('model', 'one')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['own', 'where'])
    expect(executor.tools('model', 'two').map(({ name }) => name)).toEqual(['where'])
  })

  test('an extension whose tools break is reported, and the other tools stand', async () => {
    const { report, reports } = sink()
    const executor = createExecutor({
      tools: [work('read', () => 1)],
      use: [
        {
          tools: () => {
            throw new Error('down')
          },
        },
      ],
      report,
    })
    expect((await executor.execute({ name: 'read' })).status).toBe('ok')
    expect(reports).toHaveLength(1)
  })
})
