import { createExecutor, tool, ToolRegistry, type Extension, type ToolExecutor } from 'toolwright'
import { toolSearch, type ToolSearchOptions } from 'toolwright/discovery/search'
import { describe, expect, it } from 'vitest'
import { definitionsOf, tagged } from './_tools.ts'

const billing = {
  list_invoices: 'Lists the invoices of a customer. They come in pages.\nAsk for the next page with `after`.',
  create_invoice: 'Creates an invoice.',
  delete_invoice: 'Deletes an invoice.',
}
const office = { send_mail: 'Sends a mail.', list_mails: 'Lists mails.' }

interface Answer {
  readonly tools: readonly {
    readonly name: string
    readonly group?: string
    readonly description: string
    readonly inputSchema?: unknown
  }[]
  readonly of: number
  readonly note?: string
  readonly groups?: Readonly<Record<string, number>>
}

function executorOf(options: ToolSearchOptions = {}, more: readonly Extension[] = []): ToolExecutor {
  const tools = [...tagged('billing', billing), ...tagged('office', office), tool('ping', () => 'pong')]
  return createExecutor({ tools, use: [toolSearch(options), ...more] })
}

async function search(executor: ToolExecutor, args: object, options: object = {}): Promise<Answer> {
  const result = await executor.execute({ name: 'tool_search', args }, options)
  expect(result).toMatchObject({ status: 'ok' })
  return result.value as Answer
}

describe('tool_search', () => {
  it('returns names with a line each, and how many tools there are', async () => {
    const answer = await search(executorOf(), { query: 'show all bills', detail: 'line' })
    expect(answer.tools[0]).toEqual({
      name: 'list_invoices',
      group: 'billing',
      description: 'Lists the invoices of a customer.',
    })
    expect(answer.of).toBe(6)
    expect(answer.tools.length).toBeLessThanOrEqual(5)
  })

  it('returns the first tool whole if it fits far better than the second, and a line for each if not', async () => {
    const wholeOf = async (args: object, options: ToolSearchOptions = {}): Promise<readonly string[]> => {
      const { tools } = await search(executorOf(options), args)
      return tools.filter(({ inputSchema }) => inputSchema !== undefined).map(({ name }) => name)
    }
    expect(await wholeOf({ query: 'show all bills' })).toEqual(['list_invoices'])
    expect(await wholeOf({ query: 'show all bills', detail: 'line' })).toEqual([])
    expect(await wholeOf({ query: 'invoice' })).toEqual([])
    expect(await wholeOf({ group: 'billing' })).toEqual([])
    const scored = (...scores: readonly number[]): ToolSearchOptions => ({
      ranker: { rank: (_query, tools) => scores.map((score, index) => ({ name: tools[index]!.name, score })) },
    })
    expect(await wholeOf({ query: 'x' }, scored(1.11, 1))).toEqual(['list_invoices'])
    expect(await wholeOf({ query: 'x' }, scored(1.09, 1))).toEqual([])
    expect(await wholeOf({ query: 'x' }, scored(0.1))).toEqual(['list_invoices'])
    expect(await wholeOf({ query: 'x' }, scored(-1, -2))).toEqual([])
    expect(await wholeOf({ query: 'x' }, scored(0, 0))).toEqual([])
  })

  it('returns the first tool by a line if it has more than 4 KiB, and says nothing of it', async () => {
    const ofLength = (length: number): ToolExecutor => {
      const inputSchema = { type: 'object', properties: { a: { description: 'x'.repeat(length) } } } as const
      const copy = tool({ name: 'copy_page', description: 'Copies a page.', inputSchema, handler: () => '' })
      return createExecutor({ tools: [copy], use: [toolSearch()] })
    }
    expect((await search(ofLength(3_900), { query: 'copy' })).tools[0]).toHaveProperty('inputSchema')
    expect(await search(ofLength(4_096), { query: 'copy' })).toEqual({
      tools: [{ name: 'copy_page', description: 'Copies a page.' }],
      of: 1,
    })
  })

  it('returns whole descriptions and schemas if asked for them', async () => {
    const { tools } = await search(executorOf(), { query: 'show all bills', detail: 'schema', limit: 1 })
    expect(tools).toEqual([
      {
        name: 'list_invoices',
        group: 'billing',
        description: billing.list_invoices,
        inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      },
    ])
  })

  it('describes named tools whole, and says which names there are not', async () => {
    const { tools, note } = await search(executorOf(), { names: ['send_mail', 'send_fax', 'send_mail'] })
    expect(tools.map(({ name, inputSchema }) => [name, inputSchema !== undefined])).toEqual([['send_mail', true]])
    expect(note).toBe('There is no tool "send_fax".')
  })

  it('searches one group, or lists it without a query', async () => {
    const executor = executorOf()
    const found = await search(executor, { query: 'list', group: 'office' })
    expect(found).toMatchObject({ of: 2, tools: [{ name: 'list_mails' }] })
    const all = await search(executor, { group: 'billing', limit: 2 })
    expect(all.tools.map(({ name }) => name)).toEqual(['list_invoices', 'create_invoice'])
    expect(all).toMatchObject({ of: 3, note: 'The group has more tools than these: give a `query`.' })
  })

  it('tells the groups if nothing was found, with how many tools each has', async () => {
    const executor = executorOf()
    const groups = { billing: 3, office: 2 }
    expect(await search(executor, { query: 'xylophone' })).toEqual({
      tools: [],
      of: 6,
      note: 'Nothing was found: say it in other words.',
      groups,
    })
    expect(await search(executor, {})).toEqual({
      tools: [],
      of: 6,
      note: 'Say in `query` what the tool should do.',
      groups,
    })
    expect(await search(executor, { group: 'sales\n', query: 'list' })).toMatchObject({
      of: 0,
      note: expect.stringContaining('There is no group "sales".') as string,
      groups,
    })
  })

  it('returns as many tools as asked for, at most 20', async () => {
    const tools = definitionsOf(
      Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`copy_${index}`, 'Copies a page.'])),
    )
    const executor = createExecutor({ tools, use: [toolSearch({ results: 7 })] })
    expect((await search(executor, { query: 'copy' })).tools).toHaveLength(7)
    expect((await search(executor, { query: 'copy', limit: 3 })).tools).toHaveLength(3)
    expect((await search(executor, { query: 'copy', limit: 500 })).tools).toHaveLength(20)
  })

  it('describes at most 10 tools whole, and 32 KiB of them, and names the others', async () => {
    const wide = (bytes: number): object => ({
      type: 'object',
      properties: { a: { type: 'string', description: 'x'.repeat(bytes) } },
    })
    const make = (name: string, bytes: number) =>
      tool({ name, description: 'Copies a page.', inputSchema: wide(bytes) as never, handler: () => '' })
    const few = Array.from({ length: 12 }, (_, index) => make(`copy_${String(index).padStart(2, '0')}`, 10))
    const many = await search(createExecutor({ tools: few, use: [toolSearch()] }), {
      query: 'copy',
      detail: 'schema',
      limit: 12,
    })
    expect(many.tools).toHaveLength(10)
    expect(many.note).toBe('There was no room for "copy_10", "copy_11": ask for fewer by `names`.')
    const large = [make('copy_a', 15_000), make('copy_b', 15_000), make('copy_c', 15_000)]
    const executor = createExecutor({ tools: [...large, make('huge', 40_000)], use: [toolSearch()] })
    const answer = await search(executor, { names: ['copy_a', 'copy_b', 'copy_c'] })
    expect(answer.tools.map(({ name }) => name)).toEqual(['copy_a', 'copy_b'])
    expect(answer.note).toContain('"copy_c"')
    const alone = await search(executor, { names: ['huge'] })
    expect(alone).toMatchObject({
      tools: [{ name: 'huge', description: 'Copies a page.' }],
      note: 'The schema of "huge" is too large to show.',
    })
    expect(alone.tools[0]).not.toHaveProperty('inputSchema')
  })

  it('describes what has room, whatever has none or cannot be written', async () => {
    const inputSchema = {
      type: 'object',
      properties: { a: { type: 'string', description: 'x'.repeat(40_000) } },
    } as const
    const circular: Record<string, unknown> = { type: 'object' }
    circular['properties'] = { circular }
    // As another copy of the package may have made it.
    const foreign = definitionsOf({ circular: 'Copies a page.' })[0]!
    const odd = { ...foreign, describe: () => ({ ...foreign.describe(), inputSchema: circular }) }
    Object.defineProperty(odd, Symbol.for('toolwright.definition'), { value: odd })
    const tools = [
      tool({ name: 'huge', description: 'Copies a page.', inputSchema, handler: () => '' }),
      tool('ping', () => 'pong'),
      odd as never,
    ]
    const answer = await search(createExecutor({ tools, use: [toolSearch()] }), { names: ['circular', 'ping', 'huge'] })
    expect(answer.tools.map(({ name, inputSchema: schema }) => [name, schema !== undefined])).toEqual([
      ['circular', false],
      ['ping', true],
      ['huge', false],
    ])
    expect(answer.note).toBe('The schema of "circular" cannot be shown. The schema of "huge" is too large to show.')
  })

  it('takes an empty text or list for one that was not given', async () => {
    const executor = executorOf()
    const plain = await search(executor, { query: 'show all bills' })
    expect(await search(executor, { query: 'show all bills', names: [], group: '' })).toEqual(plain)
    expect(await search(executor, { query: '', names: [], group: 'office' })).toEqual(
      await search(executor, { group: 'office' }),
    )
    expect(await search(executor, { query: '', names: [], group: '' })).toEqual(await search(executor, {}))
  })

  it('says if there are no tools at all', async () => {
    const executor = createExecutor({ use: [toolSearch()] })
    expect(await search(executor, { query: 'show all bills' })).toEqual({
      tools: [],
      of: 0,
      note: 'There are no tools to find now.',
    })
  })

  it('stays whole in the result, however much it describes', async () => {
    const long = { type: 'object', properties: { a: { type: 'string', description: 'x'.repeat(30_000) } } } as const
    const tools = [tool({ name: 'one', description: 'One', inputSchema: long, handler: () => '' })]
    const result = await createExecutor({ tools, use: [toolSearch()] }).execute({
      name: 'tool_search',
      args: { names: ['one'] },
    })
    expect(result.handle).toBeUndefined()
    expect(JSON.stringify(result.content)).toContain('x'.repeat(30_000))
  })

  it('is a tool that only reads, is not cached, and is not trusted', () => {
    const definition = executorOf()
      .tools()
      .find(({ name }) => name === 'tool_search')
    expect(definition).toMatchObject({ trusted: false, traits: { readonly: true }, metadata: { cacheable: false } })
  })

  it('finds tools that come, and no more those that go', async () => {
    const registry = new ToolRegistry(definitionsOf(office))
    const executor = createExecutor({ tools: registry, use: [toolSearch()] })
    expect((await search(executor, { query: 'mail' })).of).toBe(2)
    registry.add(definitionsOf({ archive_mail: 'Archives a mail.' })[0]!)
    expect((await search(executor, { query: 'archive' })).tools.map(({ name }) => name)).toEqual(['archive_mail'])
    registry.remove('archive_mail')
    expect((await search(executor, { query: 'archive' })).tools).toEqual([])
    registry.hide('send_mail')
    expect(await search(executor, { names: ['send_mail'] })).toMatchObject({
      tools: [],
      note: expect.stringContaining('There is no tool "send_mail".') as string,
    })
  })

  it('finds what the caller sees, in its own session', async () => {
    const own = definitionsOf({ own_page: 'Opens a page.' })
    const sessions: Extension = { tools: ({ session }) => (session === 'a' ? own : []) }
    const people = tool({ name: 'page_people', description: 'Opens a page.', audience: 'user', handler: () => '' })
    const executor = createExecutor({ tools: [people], use: [toolSearch(), sessions] })
    const namesFor = async (options: object): Promise<string[]> =>
      (await search(executor, { query: 'page', names: ['page_people', 'own_page'] }, options)).tools.map(
        ({ name }) => name,
      )
    expect(await namesFor({ session: 'a' })).toEqual(['own_page'])
    expect(await namesFor({ session: 'b' })).toEqual([])
    expect(await namesFor({ session: 'b', caller: 'user' })).toEqual(['page_people'])
    const both = await Promise.all([namesFor({ session: 'a' }), namesFor({ session: 'b' }), namesFor({ session: 'a' })])
    expect(both).toEqual([['own_page'], [], ['own_page']])
  })

  it('searches the tools of the executor that runs it, if two share the extension', async () => {
    const shared = toolSearch()
    const [one, other] = [billing, office].map((tools) =>
      createExecutor({ tools: definitionsOf(tools), use: [shared] }),
    )
    const found = await Promise.all(
      [one!, other!, one!].map((executor) => search(executor, { query: 'list' }, { session: 's' })),
    )
    expect(found.map(({ tools }) => tools[0]?.name)).toEqual(['list_invoices', 'list_mails', 'list_invoices'])
  })

  it('finds no tool of a provider, no output, and neither of the two', async () => {
    const answer = tool({
      name: 'tool_answer',
      type: 'output',
      description: 'The answer.',
      inputSchema: { type: 'object' },
    })
    const web = tool({ name: 'tool_web', type: 'provider', description: 'Searches the web.' })
    const executor = createExecutor({ tools: [answer, web], use: [toolSearch()] })
    expect(
      await search(executor, { query: 'tool search call', names: ['tool_search', 'tool_call', 'tool_web'] }),
    ).toMatchObject({ of: 0, tools: [] })
  })

  it('groups by what the application says, and goes on if that throws', async () => {
    const faults: unknown[] = []
    const group = ({ name }: { readonly name: string }): string => {
      if (name === 'ping') throw new Error('no group')
      return name.endsWith('mail') ? 'mail' : 'others'
    }
    const executor = executorOf({ group, report: (fault) => faults.push(fault) })
    expect((await search(executor, { query: 'xylophone' })).groups).toEqual({ others: 4, mail: 1 })
    expect((await search(executor, { names: ['ping'] })).tools[0]).not.toHaveProperty('group')
    expect(faults.map(String)).toEqual(['Error: no group'])
  })

  it('reports args that do not fit, as any tool', async () => {
    const result = await executorOf().execute({ name: 'tool_search', args: { query: 5 } })
    expect(result).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
  })

  it('tells a direct call that it needs an executor', async () => {
    const [direct] = toolSearch().tools({ session: '', shelf: {} as never, isTaken: () => false, catalogue: () => [] })
    await expect((direct as never as (args: object) => Promise<Answer>)({ query: 'x' })).rejects.toThrow(
      /tools of an executor/,
    )
  })
})

describe('the options of toolSearch', () => {
  it.each([
    [{ native: 'client' }, /has no option "native"/],
    [{ always: 'read_file' }, /takes a list of names, or a function as `always`/],
    [{ results: 21 }, /takes a whole number of at least 1, and at most 20 as `results`/],
    [{ ranker: { search: () => [] } }, /takes an object with `rank\(\)` as `ranker`/],
    [{ groups: { a: 1 } }, /as `groups`/],
    [{ names: { search: 'x', call: 'x' } }, /takes two different names/],
    [{ names: { find: 'x' } }, /as `names`/],
    [{ names: { search: 'find tools' } }, /names of 1 to 64 letters, digits, "_" or "-" as `names`/],
    [{ names: { call: '' } }, /as `names`/],
    [{ names: { call: 'x'.repeat(65) } }, /as `names`/],
    [{ rankTimeout: 0 }, /as `rankTimeout`/],
  ])('refuse %o', (options, message) => {
    expect(() => toolSearch(options as never)).toThrow(message)
  })

  it('name the two tools, and the groups in the description', async () => {
    const executor = executorOf({
      names: { search: 'find', call: 'use' },
      groups: { billing: 'invoices and payments' },
    })
    const find = executor.tools().find(({ name }) => name === 'find')
    expect(find?.description).toMatch(/call it with use\.\nGroups:\n- billing: invoices and payments$/)
    expect((await executor.execute({ name: 'find', args: { query: 'ping' } })).value).toMatchObject({
      tools: [{ name: 'ping' }],
    })
  })
})
