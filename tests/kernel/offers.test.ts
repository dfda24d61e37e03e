// What callers are shown: extensions choose it, and the list stays the same array until the tools change.
import {
  createExecutor,
  tool,
  ToolRegistry,
  type Extension,
  type Format,
  type Tool,
  type ToolDefinition,
  type ToolExecutor,
} from 'toolwright'
import type { SessionTools } from 'toolwright/extension'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { describe, expect, test } from 'vitest'
import { sink, text, work } from './_calls.ts'

/** Shows a bridge and what searches, of all tools. */
function searching(always: readonly string[] = []): Extension {
  let catalogue: SessionTools['catalogue'] = () => []
  const own = [
    tool({ name: 'tool_call', description: 'Calls a tool', type: 'bridge', inputSchema: { type: 'object' } }),
    work('tool_search', ({ query }: { query: string }) =>
      catalogue('model')
        .map(({ name }) => name)
        .filter((name) => name.includes(query)),
    ),
  ]
  const shown = new Set([...own.map(({ name }) => name), ...always])
  return {
    tools(request) {
      catalogue = request.catalogue
      return own
    },
    offers: ({ name }) => shown.has(name),
  }
}

const many = (count: number): Tool[] => Array.from({ length: count }, (_, index) => work(`tool_${index}`, () => index))

const none: Tool[] = []

const namesOf = (tools: readonly ToolDefinition[]): string[] => tools.map(({ name }) => name)

describe('what is not offered', () => {
  test('is not in the list, and is called all the same', async () => {
    const executor = createExecutor({ tools: many(50), use: [searching(['tool_7'])] })
    expect(namesOf(executor.tools())).toEqual(['tool_7', 'tool_call', 'tool_search'])
    expect(text(await executor.execute({ name: 'tool_3' }))).toBe('3')
    expect(text(await executor.execute({ name: 'tool_call', args: { name: 'tool_4', args: {} } }))).toBe('4')
    const { value } = await executor.execute({ name: 'tool_search', args: { query: 'tool_4' } })
    expect(value).toHaveLength(11)
  })

  test('is asked about for each caller and session, with every extension', () => {
    const questions: unknown[] = []
    const asking: Extension = {
      offers: (each, caller, session) => (questions.push([each.name, caller, session]), true),
    }
    const withoutB: Extension = { offers: ({ name }) => name !== 'b' }
    const executor = createExecutor({ tools: [work('a', () => 1), work('b', () => 1)], use: [asking, withoutB] })
    const app = { app: 'page' }
    expect([executor.tools('model', 's'), executor.tools('user', 't'), executor.tools(app, 's')].map(namesOf)).toEqual([
      ['a'],
      ['a'],
      [],
    ])
    expect(questions).toEqual([
      ['a', 'model', 's'],
      ['b', 'model', 's'],
      ['a', 'user', 't'],
      ['b', 'user', 't'],
    ])
  })

  test('is shown if the extension that chooses throws, which is reported once', () => {
    const { reports, report } = sink()
    const broken: Extension = {
      offers() {
        throw new Error('it broke')
      },
    }
    const executor = createExecutor({ tools: many(20), use: [broken], report })
    expect(executor.tools()).toHaveLength(20)
    expect(reports).toHaveLength(1)
  })

  test.each([undefined, 0, '', null, Promise.resolve(false)])('takes nothing but `false`: %s', (answer) => {
    const executor = createExecutor({ tools: many(2), use: [{ offers: () => answer as never }] })
    expect(executor.tools()).toHaveLength(2)
  })

  test('is a function', () => {
    expect(() => createExecutor({ use: [{ offers: ['a'] } as never] })).toThrow(/`use\[0\]\.offers` must be a function/)
  })
})

describe('the list', () => {
  const kinds: readonly (readonly [string, () => ToolExecutor])[] = [
    ['without extensions', () => createExecutor({ tools: many(5) })],
    ['with an extension that gives tools', () => createExecutor({ tools: many(5), use: [{ tools: () => none }] })],
    ['with one that chooses', () => createExecutor({ tools: many(5), use: [searching()] })],
  ]

  test.each(kinds)('is one array until something changes, for each caller and session, %s', async (_title, open) => {
    const executor = open()
    const list = executor.tools('model', 's')
    await executor.execute({ name: 'tool_1' }, { session: 's' })
    expect(executor.tools('model', 's')).toBe(list)
    expect(executor.tools('user', 's')).not.toBe(list)
    expect(executor.tools({ app: 'model' }, 's')).not.toBe(list)
    expect(executor.tools('model', 's')).toBe(list)
    expect(Object.isFrozen(list)).toBe(true)
  })

  describe('of sessions that alternate, each with tools of its own,', () => {
    const sessions = ['s', 't', 'u', 'v']

    function opened(isGuest: boolean): {
      executor: ToolExecutor
      registry: ToolRegistry
      readonly give: (session: string) => void
    } {
      const bySession = new Map(sessions.map((session) => [session, [work(`of_${session}`, () => session)]]))
      const registry = new ToolRegistry(many(3))
      const own: Extension = { isGuest, tools: ({ session }) => bySession.get(session) ?? [] }
      const broken: Extension = {
        tools() {
          throw new Error('it broke')
        },
      }
      const executor = createExecutor({ tools: registry, use: [own, broken, searching()], report: () => {} })
      return { executor, registry, give: (session) => bySession.set(session, many(1)) }
    }

    test.each([
      ['an application', false],
      ['a page', true],
    ])('is one array each until something changes, for tools of %s', async (_title, isGuest) => {
      const { executor, registry, give } = opened(isGuest)
      const all = (): (readonly ToolDefinition[])[] =>
        [...sessions, 'without'].flatMap((session) => [
          executor.tools('model', session),
          executor.tools('user', session),
        ])
      const search = (session: string) => executor.execute({ name: 'tool_search', args: { query: 'of_' } }, { session })
      const first = all()
      const answers: unknown[] = []
      for (const session of sessions) answers.push((await search(session)).value)
      expect(answers).toEqual(sessions.map((session) => [`of_${session}`]))
      expect(all().every((list, index) => list === first[index])).toBe(true)
      give('s')
      const changed = all()
      expect(changed[0]).not.toBe(first[0])
      expect(changed.slice(2).every((list, index) => list === first[index + 2])).toBe(true)
      registry.hide('tool_1')
      expect(all().some((list, index) => list === changed[index])).toBe(false)
    })

    test('is made again if more sets of tools alternate than are kept', () => {
      const bySession = new Map(Array.from({ length: 9 }, (_, index) => [`${index}`, many(index + 1)]))
      const executor = createExecutor({ use: [{ tools: ({ session }) => bySession.get(session) ?? [] }] })
      const listOf = (index: number): readonly ToolDefinition[] => executor.tools('model', `${index}`)
      for (let index = 0; index < 9; index++) listOf(index)
      const [first, last] = [listOf(0), listOf(8)]
      for (const index of [7, 6, 5, 4, 3]) listOf(index)
      expect([listOf(0), listOf(8)]).toEqual([first, last])
      expect(listOf(0)).toBe(first)
      expect(listOf(8)).toBe(last)
      for (let index = 0; index < 8; index++) listOf(index)
      expect(listOf(8)).not.toBe(last)
      expect(listOf(8).map(({ name }) => name)).toEqual(last.map(({ name }) => name))
    })
  })

  test.each<readonly [string, (registry: ToolRegistry) => void]>([
    ['a tool is added', (registry) => registry.add(work('new', () => 1))],
    ['a tool is removed', (registry) => registry.remove('tool_1')],
    [
      'a tool is replaced',
      (registry) =>
        registry.add(
          work('tool_1', () => 2),
          { onCollision: 'replace' },
        ),
    ],
    ['a tool is hidden', (registry) => registry.hide('tool_1')],
    ['a tool is shown again', (registry) => registry.unhide('tool_4')],
    ['a tool of the parent is added', (registry) => registry.parent?.add(work('new', () => 1))],
    ['a tool of the parent is hidden', (registry) => registry.parent?.hide('tool_0')],
    ['an `ephemeral` tool is pruned', (registry) => registry.pruneEphemeral()],
  ])('is another one if %s', (_title, change) => {
    for (const use of [[], [searching(['tool_0', 'tool_1', 'tool_3', 'tool_4', 'new'])]]) {
      const parent = new ToolRegistry(many(1))
      const brief = work('tool_3', () => 3, { ephemeral: true })
      const registry = new ToolRegistry([...many(3).slice(1), brief, work('tool_4', () => 4)], { parent })
      registry.hide('tool_4')
      const executor = createExecutor({ tools: registry, use })
      const before = executor.tools()
      const now: (readonly ToolDefinition[])[] = []
      executor.on('tools:changed', () => now.push(executor.tools()))
      change(registry)
      const after = executor.tools()
      expect(after).not.toBe(before)
      expect(after).not.toEqual(before)
      expect(now.at(-1)).toBe(after)
      expect(executor.tools()).toBe(after)
    }
  })

  test('is another one if an extension gives other tools, and for a session that has its own', () => {
    let tools = [work('first', () => 1)]
    const changing: Extension = { tools: () => tools }
    const own = [work('own', () => 1)]
    const perSession: Extension = { tools: ({ session }) => (session === 's' ? own : []) }
    const executor = createExecutor({ use: [changing, perSession, { offers: ({ name }) => name !== 'hidden' }] })
    expect(namesOf(executor.tools('model', 's'))).toEqual(['first', 'own'])
    expect(namesOf(executor.tools('model', 't'))).toEqual(['first'])
    tools = [work('second', () => 1), work('hidden', () => 1)]
    expect(namesOf(executor.tools('model', 's'))).toEqual(['second', 'own'])
    expect(namesOf(executor.tools('model', 't'))).toEqual(['second'])
  })

  test('drops a tool of the executor as soon as its name is a server’s in another session', () => {
    const registry = new ToolRegistry()
    const mcpConfig = { serverName: 'files', toolName: 'read' }
    const served = [work('read', () => 1, { type: 'mcp', mcpConfig })]
    const server: Extension = { tools: ({ session }) => (session === 's' ? served : none) }
    const { report } = sink()
    const executor = createExecutor({ tools: registry, use: [server], report })
    expect(namesOf(executor.tools('model', 's'))).toEqual(['read'])
    registry.add(work('read', () => 2))
    expect(namesOf(executor.tools('model', 't'))).toEqual([])
    expect(namesOf(executor.tools('model', 's'))).toEqual(['read'])
  })

  test('follows the tools of pages, which yield to others', () => {
    const registry = new ToolRegistry()
    const guest: Extension = { isGuest: true, tools: () => guests }
    const guests = [work('draw', () => 1), work('zoom', () => 1)]
    const { report } = sink()
    const executor = createExecutor({ tools: registry, use: [guest], report })
    const before = executor.tools()
    expect(namesOf(before)).toEqual(['draw', 'zoom'])
    expect(executor.tools()).toBe(before)
    const own = work('zoom', () => 2)
    registry.add(own)
    expect(namesOf(executor.tools()).toSorted()).toEqual(['draw', 'zoom'])
    expect(executor.tools().find(({ name }) => name === 'zoom')?.description).toBe(own.description)
  })

  test('is kept for the last 32 sessions and callers', () => {
    const executor = createExecutor({ tools: many(3), use: [{ offers: () => true }] })
    const first = executor.tools('model', 'session 0')
    const used = executor.tools('model', 'session 1')
    for (let index = 2; index <= 32; index++) {
      executor.tools('model', `session ${index}`)
      expect(executor.tools('model', 'session 1')).toBe(used)
    }
    expect(executor.tools('model', 'session 0')).not.toBe(first)
    expect(executor.tools('model', 'session 0')).toEqual(first)
  })

  test('leaves a tool that cannot be described out, and reports it once', () => {
    const { reports, report } = sink()
    const bad = work('bad', () => 1, {
      inputSchema: { '~standard': { version: 1, vendor: 'x', validate: () => ({ value: 1 }), jsonSchema: { input() { throw new Error('no') } } } }, // prettier-ignore
    })
    const executor = createExecutor({ tools: [bad, ...many(1)], report })
    expect(namesOf(executor.tools())).toEqual(['tool_0'])
    expect(namesOf(executor.tools())).toEqual(['tool_0'])
    expect(reports).toHaveLength(1)
  })
})

describe('the catalogue', () => {
  test('has what is not offered, and is one array until something changes', () => {
    let catalogue: SessionTools['catalogue'] | undefined
    const registry = new ToolRegistry([...many(3), work('admin', () => 1, { audience: 'user' })])
    registry.hide('tool_2')
    const reading: Extension = {
      tools(request) {
        catalogue = request.catalogue
        return none
      },
      offers: () => false,
    }
    const executor = createExecutor({ tools: registry, use: [reading] })
    expect(executor.tools('model', 's')).toEqual([])
    expect(namesOf(catalogue?.('model') ?? [])).toEqual(['tool_0', 'tool_1'])
    expect(namesOf(catalogue?.() ?? [])).toEqual(['tool_0', 'tool_1', 'tool_2', 'admin'])
    expect(catalogue?.('model')).toBe(catalogue?.('model'))
    const before = catalogue?.('model')
    registry.add(work('new', () => 1))
    expect(catalogue?.('model')).not.toBe(before)
    expect(namesOf(catalogue?.('model') ?? [])).toEqual(['tool_0', 'tool_1', 'new'])
  })
})

describe('the definitions', () => {
  const formats: readonly Format[] = [anthropic(), openai(), openaiResponses(), gemini(), aiSdk(), mcp()]

  test.each(formats.map((format) => [format.name, format] as const))(
    'of %s are the same bytes after 100 discoveries and changes of the catalogue',
    async (_name, format) => {
      const registry = new ToolRegistry(many(200))
      const executor = createExecutor({ tools: registry, use: [searching(['tool_0'])] })
      const bytes = (): string => JSON.stringify(format.definitions(executor.tools('model', 's')))
      const before = bytes()
      for (let index = 0; index < 100; index++) {
        const calls = [
          { id: `a${index}`, name: 'tool_search', args: { query: String(index) } },
          { id: `b${index}`, name: 'tool_call', args: { name: `tool_${index}`, args: {} } },
        ]
        const statuses = (await executor.executeToolCalls(calls, { session: 's' })).map(({ status }) => status)
        expect(statuses).toEqual(['ok', 'ok'])
      }
      registry.add(work('new', () => 'here'))
      registry.remove('tool_5')
      registry.hide('tool_6')
      expect(bytes()).toBe(before)
      expect(text(await executor.execute({ name: 'tool_call', args: { name: 'new', args: {} } }))).toBe('here')
    },
  )
})

describe('the version of a registry', () => {
  test('grows with each change, here or in the parent', () => {
    const parent = new ToolRegistry()
    const registry = new ToolRegistry([], { parent })
    const versions = [registry.version]
    for (const change of [
      () => registry.add(work('a', () => 1)),
      () => parent.add(work('b', () => 1)),
      () => registry.hide('b'),
      () => registry.unhide('b'),
      () => parent.remove('b'),
    ]) {
      change()
      versions.push(registry.version)
    }
    expect(new Set(versions).size).toBe(6)
    expect(versions).toEqual(versions.toSorted((one, other) => one - other))
    registry.hide('a')
    const now = registry.version
    registry.hide('a')
    expect(registry.version).toBe(now)
  })
})
