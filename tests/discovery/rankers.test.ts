import { createExecutor, type ToolDefinition } from 'toolwright'
import { blend, toolSearch, words, type RankedTool, type ToolRanker } from 'toolwright/discovery/search'
import { describe, expect, it } from 'vitest'
import { definitionsOf, namesFound, tagged } from './_tools.ts'

const tools = definitionsOf({
  list_invoices: 'Lists invoices.',
  send_mail: 'Sends a mail.',
  read_file: 'Reads a file.',
})
const { signal } = new AbortController()

/** Searches for a mail with a ranker. Returns the names found, and the faults reported. */
async function searchedBy(rank: unknown, options: object = {}): Promise<{ names: string[]; faults: string[] }> {
  const faults: string[] = []
  const report = (fault: unknown): void => void faults.push(String(fault))
  const ranker = { rank } as ToolRanker
  const executor = createExecutor({ tools, use: [toolSearch({ ranker, report, ...options })] })
  const result = await executor.execute({ name: 'tool_search', args: { query: 'mail' } })
  expect(result.status).toBe('ok')
  const { tools: found } = result.value as { readonly tools: readonly { readonly name: string }[] }
  return { names: found.map(({ name }) => name), faults }
}

describe('a ranker of the application', () => {
  it('is asked with the query, the tools and a signal, and its order stands', async () => {
    const asked: unknown[] = []
    const rank = (...args: Parameters<ToolRanker['rank']>): RankedTool[] => {
      asked.push(
        args[0],
        args[1].map(({ name }) => name),
        args[2] >= 5,
        args[3] instanceof AbortSignal,
      )
      return [
        { name: 'read_file', score: 1 },
        { name: 'list_invoices', score: 0.5 },
      ]
    }
    expect(await searchedBy(rank)).toEqual({ names: ['read_file', 'list_invoices'], faults: [] })
    expect(asked).toEqual(['mail', tools.map(({ name }) => name), true, true])
  })

  it('may find nothing', async () => {
    expect(await searchedBy(async () => [])).toEqual({ names: [], faults: [] })
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no model')
      },
      'Error: no model',
    ],
    ['rejects', async () => Promise.reject(new Error('no model')), 'Error: no model'],
    ['returns no list', () => ({ name: 'read_file' }), 'returned no list'],
    ['returns nothing', () => undefined, 'returned no list'],
    [
      'returns entries that throw',
      () => [
        {
          get name() {
            throw new Error('trap')
          },
        },
      ],
      'Error: trap',
    ],
    ['returns nothing as an entry', () => [null], 'TypeError'],
    ['makes up all names', () => [{ name: 'drop_all', score: 1 }], '1 of 1 are left out'],
    ['returns the tools as they are', (_query: string, list: object) => list, '3 of 3 are left out'],
    [
      'returns a proxy that throws',
      () =>
        new Proxy([], {
          get: () => {
            throw new Error('trap')
          },
        }),
      'Error: trap',
    ],
  ])('that %s is reported, and words() answers', async (_, rank, fault) => {
    const { names, faults } = await searchedBy(rank)
    expect(names).toEqual(['send_mail'])
    expect(faults).toEqual([expect.stringContaining(fault)])
  })

  it('that hangs is reported, told to stop, and words() answers', async () => {
    let stopped: AbortSignal | undefined
    const rank = (...[, , , own]: Parameters<ToolRanker['rank']>): Promise<never> => {
      stopped = own
      return new Promise(() => {})
    }
    const { names, faults } = await searchedBy(rank, { rankTimeout: 1 })
    expect(names).toEqual(['send_mail'])
    expect(faults).toEqual([expect.stringContaining('did not answer within 1 ms')])
    expect(stopped?.aborted).toBe(true)
  })

  it('is told to stop if the call is cancelled', async () => {
    const controller = new AbortController()
    let reason: unknown
    const rank = (...[, , , own]: Parameters<ToolRanker['rank']>): Promise<never> => {
      own.addEventListener('abort', () => (reason = own.reason))
      controller.abort()
      return new Promise(() => {})
    }
    const executor = createExecutor({ tools, use: [toolSearch({ ranker: { rank } })] })
    const result = await executor.execute(
      { name: 'tool_search', args: { query: 'mail' } },
      { signal: controller.signal },
    )
    expect(result.status).toBe('cancelled')
    expect(reason).toBeDefined()
  })

  it.each([
    [
      'names that are not listed',
      [
        { name: 'drop_all', score: 9 },
        { name: 'send_mail', score: 1 },
      ],
    ],
    [
      'names twice',
      [
        { name: 'send_mail', score: 9 },
        { name: 'send_mail', score: 1 },
      ],
    ],
    [
      'scores that are no numbers',
      [
        { name: 'read_file', score: NaN },
        { name: 'send_mail', score: 1 },
      ],
    ],
    ['no names', [{ score: 1 }, { name: 'send_mail', score: 1 }]],
  ])('with %s is reported, and the rest of its list stands', async (_, list) => {
    const { names, faults } = await searchedBy(() => list)
    expect(names).toEqual(['send_mail'])
    expect(faults).toEqual([expect.stringContaining('1 of 2 are left out')])
  })

  it('that changes the list of tools is reported, and changes nothing', async () => {
    const faults: string[] = []
    const ranker: ToolRanker = {
      rank(_query, list) {
        const own = list as ToolDefinition[]
        own.length = 0
        return []
      },
    }
    const executor = createExecutor({
      tools,
      use: [toolSearch({ ranker, report: (fault) => faults.push(String(fault)) })],
    })
    for (let round = 0; round < 2; round++) {
      const { value } = await executor.execute({ name: 'tool_search', args: { query: 'mail' } })
      expect(value).toMatchObject({ tools: [{ name: 'send_mail' }], of: 3 })
    }
    expect(faults).toEqual([expect.stringContaining('TypeError'), expect.stringContaining('TypeError')])
  })

  it('is asked for all places if those it gave are of one group, and not otherwise', async () => {
    const asked: number[] = []
    const inOrder: ToolRanker = {
      rank: (_query, list, limit) => (asked.push(limit), list.map(({ name }) => ({ name, score: 1 })).slice(0, limit)),
    }
    const many = tagged('many', Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`one_${index}`, 'One.'])))
    const ask = async (...others: ReturnType<typeof tagged>): Promise<unknown> => {
      const executor = createExecutor({ tools: [...many, ...others], use: [toolSearch({ ranker: inOrder })] })
      const { value } = await executor.execute({ name: 'tool_search', args: { query: 'x' } })
      return (value as { readonly tools: readonly { readonly name: string }[] }).tools.map(({ name }) => name)
    }
    expect(await ask(...tagged('other', { last: 'Last.' }))).toEqual(['one_0', 'one_1', 'one_2', 'one_3', 'last'])
    expect(await ask()).toEqual(['one_0', 'one_1', 'one_2', 'one_3', 'one_4'])
    expect(asked).toEqual([15, 41, 5])
  })

  it('with a list that is too long is cut', async () => {
    const list = [
      ...tools.map(({ name }) => ({ name, score: 1 })),
      ...Array.from({ length: 1e6 }, () => ({ name: 'x', score: 1 })),
    ]
    const executor = createExecutor({ tools, use: [toolSearch({ ranker: { rank: () => list }, report: () => {} })] })
    const { value } = await executor.execute({ name: 'tool_search', args: { query: 'mail', limit: 2 } })
    expect((value as { readonly tools: object[] }).tools).toHaveLength(2)
  })
})

describe('blend()', () => {
  const byLength: ToolRanker = {
    rank: (_query, list, limit) =>
      list
        .map(({ name }: ToolDefinition) => ({ name, score: name.length }))
        .toSorted((a, b) => b.score - a.score)
        .slice(0, limit),
  }

  it('puts first what both rankers find', async () => {
    expect(await namesFound(blend(words(), byLength), 'read a file', tools)).toEqual([
      'read_file',
      'list_invoices',
      'send_mail',
    ])
  })

  it('counts the second ranker a tenth if it is not told how much', async () => {
    const [first, second] = ['a', 'b'].map((mark) => ({
      rank: () => Array.from({ length: 20 }, (_, place) => ({ name: `${mark}_${place}`, score: -place })),
    }))
    const ranked = async (options?: { readonly share: number }): Promise<readonly RankedTool[]> =>
      blend(first!, second!, options).rank('x', tools, 40, signal)
    expect(await ranked()).toEqual(await ranked({ share: 0.1 }))
    expect(await ranked()).not.toEqual(await ranked({ share: 0.3 }))
  })

  it('counts a name once, however often a ranker gives it', async () => {
    const loud: ToolRanker = { rank: () => Array.from({ length: 20 }, () => ({ name: 'send_mail', score: 1 })) }
    const [one, other] = await blend(loud, loud).rank('x', tools, 5, signal)
    expect(one).toEqual({ name: 'send_mail', score: 0.5 })
    expect(other).toBeUndefined()
  })

  it('says so if a ranker returns no list', async () => {
    const nothing = { rank: () => undefined } as never as ToolRanker
    await expect(blend(words(), nothing).rank('x', tools, 5, signal)).rejects.toThrow(/`blend` returned no list/)
  })

  it.each([-1, 0, NaN])('finds nothing if %d tools are asked for, as words() does', async (limit) => {
    for (const ranker of [words(), blend(words(), byLength)]) {
      expect(await ranker.rank('mail', tools, limit, signal)).toEqual([])
    }
  })

  it('counts the second ranker by its share', async () => {
    expect(await namesFound(blend(words(), byLength, { share: 1 }), 'file', tools)).toEqual([
      'list_invoices',
      'send_mail',
      'read_file',
    ])
    expect((await namesFound(blend(words(), byLength, { share: 0 }), 'file', tools))[0]).toBe('read_file')
  })

  it('does not put what both find late before what one finds first', async () => {
    const inOrder = (names: readonly string[]): ToolRanker => ({
      rank: () => names.map((name, place) => ({ name, score: -place })),
    })
    const many = Array.from({ length: 18 }, (_, index) => `first_${index}`)
    const others = many.map((name) => name.replace('first', 'second'))
    const both = blend(inOrder([...many, 'late']), inOrder([...others, 'late']), { share: 0.2 })
    const ranked = (await both.rank('x', tools, 40, signal)).map(({ name }) => name)
    expect(ranked.slice(0, 3)).toEqual(['first_0', 'first_1', 'first_2'])
    expect(ranked.indexOf('late')).toBeLessThan(ranked.indexOf('first_17'))
    expect(ranked.indexOf('second_0')).toBeLessThan(ranked.indexOf('first_17'))
  })

  it('asks each for more than it returns', async () => {
    const asked: number[] = []
    const counting: ToolRanker = { rank: (_query, _tools, limit) => (asked.push(limit), []) }
    await blend(counting, counting).rank('x', tools, 50, signal)
    await blend(counting, counting).rank('x', tools, 1, signal)
    expect(asked).toEqual([100, 100, 20, 20])
  })

  it('fails if one of them fails, so that words() answers', async () => {
    const failing: ToolRanker = { rank: async () => Promise.reject(new Error('no model')) }
    await expect(blend(words(), failing).rank('x', tools, 5, signal)).rejects.toThrow('no model')
    const { names } = await searchedBy(async (...asked: Parameters<ToolRanker['rank']>) =>
      blend(words(), failing).rank(...asked),
    )
    expect(names).toEqual(['send_mail'])
  })

  it('refuses what is no ranker, and a share beyond 1', () => {
    expect(() => blend(words(), undefined as never)).toThrow(/takes two rankers/)
    expect(() => blend(words(), words(), { share: 2 })).toThrow(/takes a number from 0 to 1 as `share`/)
    expect(() => blend(words(), words(), { share: NaN })).toThrow(/`share`/)
  })
})
