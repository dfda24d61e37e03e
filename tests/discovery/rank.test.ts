import fc from 'fast-check'
import { tool, type ToolDefinition } from 'toolwright'
import { words, type WordsOptions } from 'toolwright/discovery/search'
import { describe, expect, it, vi } from 'vitest'
import { definitionsOf, namesFound } from './_tools.ts'

const { signal } = new AbortController()

const tools = definitionsOf({
  list_invoices: 'Lists the invoices of a customer.',
  get_invoice: 'Reads one invoice.',
  create_invoice: 'Creates an invoice.',
  delete_invoice: 'Deletes an invoice for good.',
  send_mail: 'Sends an e-mail to a person.',
  search_mails: 'Finds e-mails by their text.',
  repository_star: 'Stars a repository.',
  weather: 'Tells the weather of a city. It knows the invoices of nothing.',
})

async function found(
  query: string,
  list: readonly ToolDefinition[] = tools,
  options: WordsOptions = {},
): Promise<string[]> {
  return (await words(options).rank(query, list, 5, signal)).map(({ name }) => name)
}

describe('words()', () => {
  it.each([
    ['show all bills of a customer', 'list_invoices'],
    ['invoices', 'list_invoices'],
    ['read an invoice', 'get_invoice'],
    ['make a new invoice', 'create_invoice'],
    ['get rid of an invoice', 'delete_invoice'],
    ['look for a mail', 'search_mails'],
    ['message somebody by email', 'send_mail'],
    ['repo', 'repository_star'],
    ['forecast weather', 'weather'],
  ])('finds for %j first %s', async (query, name) => {
    expect((await found(query))[0]).toBe(name)
  })

  it('finds nothing for words that no tool has', async () => {
    expect(await found('xylophone')).toEqual([])
    expect(await found('')).toEqual([])
    expect(await found('invoice', [])).toEqual([])
  })

  it('counts the words of a group, a title and parameters', async () => {
    const list = [
      ...definitionsOf({ plain: 'Does it.' }),
      tool({ name: 'tagged', description: 'Does it.', metadata: { tags: ['accounting'] }, handler: () => '' }),
      tool({ name: 'titled', title: 'Ledger', description: 'Does it.', handler: () => '' }),
      tool({
        name: 'with_parameters',
        description: 'Does it.',
        inputSchema: { type: 'object', properties: { currency: { type: 'string', description: 'ISO code' } } },
        handler: () => '',
      }),
    ]
    expect(await found('accounting', list)).toEqual(['tagged'])
    expect(await found('ledger', list)).toEqual(['titled'])
    expect(await found('currency code', list)).toEqual(['with_parameters'])
    expect(await found('payroll', list, { group: ({ name }) => (name === 'plain' ? 'payroll' : undefined) })).toEqual([
      'plain',
    ])
  })

  it('counts the names of members that a parameter has, or the things of its list', async () => {
    const withBody = (name: string, body: object): ToolDefinition =>
      tool({ name, description: 'Does it.', inputSchema: { type: 'object', properties: { body } }, handler: () => '' })
    const members = { type: 'object', properties: { currency: { type: 'string' } } } as const
    const list = [
      ...definitionsOf({ plain: 'Does it.' }),
      withBody('with_members', members),
      withBody('with_list', { type: 'array', items: members }),
      withBody('odd', { type: 'object', properties: 5, items: null }),
    ]
    expect((await found('currency', list)).toSorted()).toEqual(['with_list', 'with_members'])
  })

  it('takes two words of a query for one of the tools', async () => {
    const list = definitionsOf({ list_timesheets: 'Lists the timesheets.', list_sheets: 'Lists the sheets of a book.' })
    expect((await found('time sheet', list))[0]).toBe('list_timesheets')
  })

  it('puts a tool that says another thing before one that says what a better one said', async () => {
    const unlike = ['user', 'mail', 'page', 'team', 'file', 'note'].map((thing) => [
      `get_${thing}`,
      `Reads a ${thing}.`,
    ])
    const list = definitionsOf({
      ...Object.fromEntries(unlike),
      export_orders: 'Exports the orders of a shop.',
      export_shop_orders: 'Exports the orders of a shop.',
      shop_orders_export: 'Exports the orders of a shop.',
      export_for_printers: 'Exports orders for printers.',
    })
    expect((await found('export orders', list)).slice(0, 2)).toEqual(['export_orders', 'export_for_printers'])
  })

  it('gives the same first places, however many are asked for', async () => {
    const things = ['mail', 'letter', 'parcel', 'order', 'invoice', 'bill', 'note', 'card']
    const many = definitionsOf(
      Object.fromEntries(
        things.flatMap((thing) =>
          things.map((other) => [`send_${thing}_${other}`, `Sends a ${thing} with a ${other}.`]),
        ),
      ),
    )
    const all = (await words().rank('send a letter', many, 64, signal)).map(({ name }) => name)
    expect(new Set(all).size).toBe(64)
    for (const limit of [1, 2, 5, 20, 40, 41]) {
      const some = await words().rank('send a letter', many, limit, signal)
      expect(some.map(({ name }) => name)).toEqual(all.slice(0, limit))
      expect(some.map(({ score }) => score)).toEqual(some.map(({ score }) => score).toSorted((a, b) => b - a))
    }
  })

  it('puts equal tools in the order of their names, in whatever order they are listed', async () => {
    const equal = definitionsOf(
      Object.fromEntries(['c', 'a', 'd', 'b'].map((name) => [`${name}_copy`, 'Copies a page.'])),
    )
    expect(await found('page', equal)).toEqual(['a_copy', 'b_copy', 'c_copy', 'd_copy'])
    expect(await found('page', equal.toReversed())).toEqual(['a_copy', 'b_copy', 'c_copy', 'd_copy'])
  })

  it('answers the same, whatever was asked or read before', async () => {
    const fresh = await words().rank('send a new invoice', tools, 5, signal)
    const used = words()
    await used.rank('weather', definitionsOf({ sender: 'Sends new things.', senders: 'Sends invoices.' }), 5, signal)
    for (const query of ['weather', 'invoice', 'mail']) await used.rank(query, tools, 3, signal)
    expect(await used.rank('send a new invoice', tools, 5, signal)).toEqual(fresh)
  })

  it('finds what is listed, at most as many, the best first, for any text', async () => {
    const ranker = words()
    const names = new Set(tools.map(({ name }) => name))
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), async (query, limit) => {
        const ranked = await ranker.rank(query, tools, limit, signal)
        expect(ranked.length).toBeLessThanOrEqual(limit)
        expect(ranked.every(({ name, score }) => names.has(name) && Number.isFinite(score) && score > 0)).toBe(true)
        expect(ranked.map(({ score }) => score)).toEqual(ranked.map(({ score }) => score).toSorted((a, b) => b - a))
        expect(new Set(ranked.map(({ name }) => name)).size).toBe(ranked.length)
      }),
    )
  })

  it('reads tools of which 10 of 5,000 changed ten times, and none again', async () => {
    const group = vi.fn(() => undefined)
    const ranker = words({ group })
    const named = (index: number): ToolDefinition => definitionsOf({ [`tool_${index}`]: `Does thing ${index}.` })[0]!
    const many = Array.from({ length: 5_000 }, (_, index) => named(index))
    await ranker.rank('thing', many, 5, signal)
    expect(group).toHaveBeenCalledTimes(5_000)
    const changed = many.map((one, index) => (index % 500 === 0 ? named(index) : one))
    await ranker.rank('thing', changed, 5, signal)
    expect(group).toHaveBeenCalledTimes(5_010)
    await ranker.rank('thing', [...changed], 5, signal) // an equal list
    expect(group).toHaveBeenCalledTimes(5_010)
  })

  it('keeps the indexes of eight lists, and makes the least used anew', async () => {
    const ranker = words()
    // A list tells how often an index was made of it: making one reads the length of all words, and ranking does not.
    const lists = Array.from({ length: 9 }, (_, index) => [...definitionsOf({ [`one_${index}`]: 'Does a thing.' })])
    const made = lists.map((list) => vi.spyOn(list, 'map'))
    for (let round = 0; round < 3; round++) {
      for (const list of lists.slice(0, 8)) expect(await ranker.rank('thing', list, 5, signal)).toHaveLength(1)
    }
    await ranker.rank('thing', lists[8]!, 5, signal)
    await ranker.rank('thing', lists[7]!, 5, signal)
    await ranker.rank('thing', lists[0]!, 5, signal) // the one that was dropped
    expect(made.map((each) => each.mock.calls.length)).toEqual([2, 1, 1, 1, 1, 1, 1, 1, 1])
  })

  it('answers rightly about an array that its owner changed', async () => {
    const ranker = words()
    const list = [...tools]
    await ranker.rank('weather', list, 5, signal)
    list.length = 0
    expect(await ranker.rank('weather', list, 5, signal)).toEqual([])
  })

  it('takes a tool whose schema cannot be made, and members that are no schemas', async () => {
    const odd = tool({
      name: 'odd',
      description: 'Does odd things.',
      inputSchema: { type: 'object', properties: { a: true, b: { description: 5 }, __proto__: {} } } as never,
      handler: () => '',
    })
    const broken = { ...definitionsOf({ broken: 'Does broken things.' })[0]!, describe: () => expect.unreachable() }
    expect((await found('things', [odd, broken])).toSorted()).toEqual(['broken', 'odd'])
  })

  it('goes on when texts that change for ever have filled its vocabulary', async () => {
    const ranker = words()
    for (let round = 0; round < 6; round++) {
      const texts = Array.from({ length: 50 }, (_, index) =>
        Array.from({ length: 400 }, (_each, at) => `w${(round * 50 + index) * 400 + at}x`).join(' '),
      )
      const list = definitionsOf(Object.fromEntries(texts.map((text, index) => [`tool_${index}`, text])))
      expect(await namesFound(ranker, `w${round * 20_000}x`, list)).toEqual(['tool_0'])
    }
    expect(await namesFound(ranker, 'weather', tools)).toEqual(['weather'])
  })

  it('refuses options that it does not know', () => {
    expect(() => words({ groups: {} } as never)).toThrow(/`words` has no option "groups"/)
    expect(() => words({ group: 'mine' } as never)).toThrow(/`words` takes a function as `group`/)
  })
})
