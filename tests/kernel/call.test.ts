import { createExecutor, type CallOptions, type ToolCall, type ToolEvent } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { heard, names, outcome, text, work } from './_calls.ts'

/** Says which inputs its handler got. */
function spy(options: object = {}): { readonly runs: unknown[]; readonly tool: ReturnType<typeof work> } {
  const runs: unknown[] = []
  return { runs, tool: work('delete_rows', (input) => void runs.push(input), options) }
}

describe('a call whose args stand under another name', () => {
  const blocks = {
    'of Anthropic': { type: 'tool_use', id: 'toolu_1', name: 'delete_rows', input: { where: 'id = 7' } },
    'of MCP': { name: 'delete_rows', arguments: { where: 'id = 7' } },
    'of OpenAI': { name: 'delete_rows', arguments: '{"where":"id = 7"}' },
    'with parameters': { id: 1, name: 'delete_rows', parameters: {} },
  }

  test.each(Object.entries(blocks))('is refused, and nothing runs: %s', async (_, block) => {
    const { runs, tool } = spy()
    const executor = createExecutor({ tools: [tool], use: [memoryJournal()] })
    const events = heard(executor)
    const call = block as unknown as ToolCall
    const results = [await executor.execute(call), ...(await executor.executeToolCalls([call]))]
    for (const result of results) {
      expect(outcome(result)).toBe('error none E_INVALID_TOOL_ARGS')
      expect(result.id).toBe(call.id)
      expect(text(result)).toMatch(/^The call has `(input|arguments|parameters)` and no `args`, .*anthropic\(\)/)
    }
    const stream = executor.stream(call)
    let step = await stream.next()
    while (step.done !== true) step = await stream.next()
    expect(outcome(step.value)).toBe('error none E_INVALID_TOOL_ARGS')
    expect(runs).toEqual([])
    expect(names(events.slice(0, 2))).toBe('call:received call:settled')
  })

  test('runs if it has args too, or if the other name has no value of its own', async () => {
    const { runs, tool } = spy()
    const executor = createExecutor({ tools: [tool] })
    const inherited: object = Object.create({ input: { a: 1 } })
    await executor.execute({ name: 'delete_rows', args: { a: 1 }, input: { a: 2 } } as unknown as ToolCall)
    await executor.execute({ name: 'delete_rows', arguments: undefined } as unknown as ToolCall)
    await executor.execute(Object.assign(inherited, { name: 'delete_rows' }))
    expect(runs).toEqual([{ a: 1 }, {}, {}])
  })
})

describe('a turn that is not an array of calls', () => {
  const message = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'delete_rows', input: {} }] }

  test.each([[message], [undefined], [null], ['calls'], [new Map()]])(
    'is refused with what it takes: %j',
    async (input) => {
      const executor = createExecutor()
      const turn = executor.executeToolCalls(input as never)
      await expect(turn).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
      await expect(turn).rejects.toThrow(/takes an array of calls.*anthropic\(\)\.calls\(message\)/)
    },
  )
})

describe('the name and the id of a call', () => {
  test('a name of any length is told by its beginning alone', async () => {
    const executor = createExecutor({ tools: [work('short', () => 1)] })
    const events = heard(executor)
    const result = await executor.execute({ id: 'a', name: 'n'.repeat(20_000_000) })
    expect(outcome(result)).toBe('error none E_TOOL_NOT_FOUND')
    expect(result).toMatchObject({ id: 'a', toolName: `${'n'.repeat(255)}…` })
    for (const { toolName } of events) expect(toolName).toBe(result.toolName)
  })

  test('a long id is answered whole, and told by its beginning and its hash', async () => {
    const journal = memoryJournal()
    const executor = createExecutor({ tools: [work('short', () => 1)], use: [journal] })
    const events = heard(executor)
    const ids = ['i'.repeat(1_024), 'i'.repeat(1_025), `${'i'.repeat(1_024)}j`]
    const results = await Promise.all(
      ids.map((id, index) => executor.execute({ id, name: 'short' }, { invocationId: `call-${index}` })),
    )
    expect(results.map(({ id, status }) => [id, status])).toEqual(ids.map((id) => [id, 'ok']))
    const shortened = new Set(events.map(({ id }: ToolEvent) => String(id)))
    expect(shortened.size).toBe(3)
    for (const id of shortened) expect(id.length).toBeLessThanOrEqual(1_024)
    for (const [index, id] of ids.entries()) {
      const found = await journal.journal.read(`call-${index}`)
      expect(shortened).toContain(found?.record.toolCallId)
      // What is asked for again is answered under the id by which it is asked for.
      expect((await executor.execute({ id, name: 'short' }, { invocationId: `call-${index}` })).id).toBe(id)
    }
  })

  test('a long id is kept whole while its call waits, and answered by another executor', async () => {
    const journal = memoryJournal()
    const tools = [work('asks', () => 'done', { requiresConfirmation: true })]
    const id = 'thought'.repeat(5_000)
    const { token = '' } = await createExecutor({ tools, use: [journal] }).execute({ id, name: 'asks' })
    const result = await createExecutor({ tools, use: [journal] }).calls.decide(token, 'allow')
    expect(result).toMatchObject({ id, status: 'ok' })
    const found = await journal.journal.read(result.invocationId)
    expect(JSON.stringify(found?.record).length).toBeLessThan(5_000)
  })

  test('a call whose id is no id any more is refused under it', async () => {
    const { runs, tool } = spy()
    const executor = createExecutor({ tools: [tool], use: [memoryJournal()] })
    const events = heard(executor)
    const id = 'i'.repeat(20_000_000)
    const result = await executor.execute({ id, name: 'delete_rows', args: {} })
    expect(outcome(result)).toBe('error none E_INVALID_TOOL_ARGS')
    expect(result.id === id).toBe(true)
    expect(runs).toEqual([])
    expect(JSON.stringify(events).length).toBeLessThan(10_000)
  })
})

test.each<CallOptions>([
  { session: 's'.repeat(1_025) },
  { principal: 's'.repeat(1_025) },
  { invocationId: 's'.repeat(1_025) },
  { caller: { app: 's'.repeat(1_025) } },
])(
  'what the application says of a call is refused before anything runs if it is above 1,024 characters',
  async (options) => {
    const { runs, tool } = spy()
    const executor = createExecutor({ tools: [tool] })
    const call = { name: 'delete_rows', args: {} }
    const refusal = { code: 'E_INVALID_CONFIGURATION' }
    const { invocationId, ...rest } = options
    const turn = {
      ...rest,
      ...(invocationId && { invocationId: (_: ToolCall, index: number) => ['a', invocationId][index]! }),
    }
    await expect(executor.execute(call, options)).rejects.toMatchObject(refusal)
    await expect(executor.executeToolCalls([call, call], turn)).rejects.toMatchObject(refusal)
    await expect(executor.stream(call, options).next()).rejects.toMatchObject(refusal)
    expect(runs).toEqual([])
  },
)
