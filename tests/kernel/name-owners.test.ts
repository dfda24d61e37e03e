// Whose tool a name means, whatever extensions give from one moment to the next.
import { createExecutor, ToolRegistry, type Extension, type Tool, type ToolExecutor } from 'toolwright'
import type { SessionTools } from 'toolwright/extension'
import { describe, expect, test } from 'vitest'
import { text, work } from './_calls.ts'

/** An extension that gives tools of a server, and may give others later. */
function serverOf(serverName: string, ...names: string[]): Extension & { give(...names: string[]): void } {
  const toolOf = (name: string): Tool =>
    work(name, () => `${name} of ${serverName}`, { type: 'mcp', mcpConfig: { serverName, toolName: name } })
  let tools = names.map(toolOf)
  return {
    tools: () => tools,
    give: (...others) => {
      tools = others.map(toolOf)
    },
  }
}

interface Watched {
  readonly executor: ToolExecutor
  readonly registry: ToolRegistry
  readonly reports: string[]
  readonly answer: (name: string) => Promise<string | undefined>
}

function watched(use: readonly Extension[], tools: readonly Tool[] = []): Watched {
  const registry = new ToolRegistry(tools)
  const reports: string[] = []
  const report = (error: unknown): void => void reports.push((error as Error).message)
  const executor = createExecutor({ tools: registry, use, report })
  const answer = async (name: string): Promise<string | undefined> => {
    const result = await executor.execute({ name })
    return result.error?.code ?? text(result)
  }
  return { executor, registry, reports, answer }
}

const local = (name: string): Tool => work(name, () => `${name} of ours`)

describe('a name that a server’s tool had first', () => {
  test.each([
    ['earlier', (first: Extension, second: Extension) => [first, second]],
    ['later', (first: Extension, second: Extension) => [second, first]],
  ])('never comes to mean the tool of a server that stands %s in `use`', async (_, order) => {
    const files = serverOf('files', 'delete_file')
    const other = serverOf('other')
    const { reports, answer } = watched(order(files, other))
    expect(await answer('delete_file')).toBe('delete_file of files')
    other.give('delete_file')
    expect(await answer('delete_file')).toBe('delete_file of files')
    files.give()
    expect(await answer('delete_file')).toBe('E_TOOL_NOT_FOUND')
    expect(reports).toEqual([expect.stringMatching(/"delete_file" of the server "other" is set aside.*`prefix`/)])
    files.give('delete_file')
    expect(await answer('delete_file')).toBe('delete_file of files')
  })

  test('is its own in every session, and under every spelling', async () => {
    const files = serverOf('files', 'delete_file')
    const other = serverOf('other')
    const { executor, answer } = watched([other, files])
    expect(executor.tools('model', 'one')).toHaveLength(1)
    files.give()
    other.give('delete_file', 'Delete-File')
    expect(executor.tools('model', 'two')).toEqual([])
    expect(await answer('Delete-File')).toBe('E_TOOL_NOT_FOUND')
  })

  test('makes a tool that the host adds later stand back, which is reported once', async () => {
    const files = serverOf('files', 'delete_file')
    const { executor, registry, reports, answer } = watched([files])
    expect(await answer('delete_file')).toBe('delete_file of files')
    registry.add(local('delete_file'))
    registry.add(work('erase', () => 'erased', { aliases: ['old_name'] }))
    expect(await answer('delete_file')).toBe('delete_file of files')
    expect(await answer('old_name')).toBe('erased')
    files.give()
    expect(await answer('delete_file')).toBe('E_TOOL_NOT_FOUND')
    expect(executor.tools().map(({ name }) => name)).toEqual(['erase'])
    expect(reports).toEqual([expect.stringMatching(/^The tool "delete_file" of the executor's registry is set aside/)])
  })
})

describe('a name that a tool of the application’s own had first', () => {
  test('never comes to mean a server’s, not even after it was taken out', async () => {
    const files = serverOf('files')
    const { registry, reports, answer } = watched(
      [files],
      [local('delete_file'), work('erase', () => 1, { aliases: ['wipe'] })],
    )
    expect(await answer('delete_file')).toBe('delete_file of ours')
    files.give('delete_file', 'wipe', 'list')
    expect(await answer('delete_file')).toBe('delete_file of ours')
    registry.remove('delete_file')
    registry.remove('erase')
    expect(await answer('delete_file')).toBe('E_TOOL_NOT_FOUND')
    expect(await answer('wipe')).toBe('E_TOOL_NOT_FOUND')
    expect(await answer('list')).toBe('list of files')
    expect(reports).toHaveLength(2)
  })

  test('is kept where an extension of the application’s own gave it, and no longer does', async () => {
    let tools: readonly Tool[] = [local('ask')]
    const files = serverOf('files')
    const { answer } = watched([files, { tools: () => tools }])
    expect(await answer('ask')).toBe('ask of ours')
    tools = []
    files.give('ask')
    expect(await answer('ask')).toBe('E_TOOL_NOT_FOUND')
  })

  test('may be had by tools of two extensions of the application’s own, each in its session', async () => {
    const one = [local('ask')]
    const other = [work('ask', () => 'the other')]
    const none: Tool[] = []
    const { executor, reports } = watched([
      { tools: ({ session }) => (session === 'one' ? one : none) },
      { tools: ({ session }) => (session === 'one' ? none : other) },
    ])
    expect(text(await executor.execute({ name: 'ask' }, { session: 'one' }))).toBe('ask of ours')
    expect(text(await executor.execute({ name: 'ask' }, { session: 'two' }))).toBe('the other')
    expect(reports).toEqual([])
  })
})

describe('the catalogue of a session', () => {
  test('has the tools of all sources, for a handler of an extension to read', async () => {
    let ask: SessionTools | undefined
    const index = work('index', () => ask?.catalogue('model').map(({ name }) => name))
    const indexing: Extension = {
      tools(request) {
        ask = request
        return [index]
      },
    }
    const forPeople = work('hidden', () => '', { audience: 'user' })
    const { executor, reports } = watched([indexing, serverOf('files', 'read')], [local('ask'), forPeople])
    const result = await executor.execute({ name: 'index' })
    expect(result.value).toEqual(['ask', 'index', 'read'])
    expect(ask?.catalogue()).toHaveLength(4)
    expect(reports).toEqual([])
  })

  test('cannot be read while the tools of the session are asked for, which is reported', () => {
    const eager: Extension = { tools: ({ catalogue }) => catalogue() }
    const { executor, reports } = watched([eager, serverOf('files', 'read')])
    expect(executor.tools().map(({ name }) => name)).toEqual(['read'])
    expect(reports).toEqual([expect.stringMatching(/`catalogue`.*Read it later/)])
  })
})

describe('a tool of a guest', () => {
  const guest = (...names: string[]): Extension => {
    const tools = names.map((name) => work(name, () => `${name} of a guest`))
    return { isGuest: true, tools: () => tools }
  }

  test.each([
    ['before', (one: Extension, other: Extension) => [one, other]],
    ['after', (one: Extension, other: Extension) => [other, one]],
  ])('yields to one that a server lists later, also if it stands %s it in `use`', async (_, order) => {
    const files = serverOf('files')
    const { executor, reports, answer } = watched(order(guest('search', 'select'), files))
    expect(await answer('search')).toBe('search of a guest')
    files.give('search')
    expect([await answer('search'), await answer('select')]).toEqual(['search of files', 'select of a guest'])
    expect(executor.tools().map(({ name }) => name)).toEqual(['search', 'select'])
    expect(reports).toEqual([expect.stringMatching(/^The tool "search" of a page is set aside: "search" belongs to/)])
    files.give()
    expect(await answer('search')).toBe('E_TOOL_NOT_FOUND')
  })

  test('yields to one that the application or another extension adds later, in any spelling', async () => {
    let tools: readonly Tool[] = []
    const { registry, reports, answer } = watched([guest('pay_bill', 'Pay-Bill', 'ask'), { tools: () => tools }])
    expect([await answer('pay_bill'), await answer('ask')]).toEqual(['pay_bill of a guest', 'ask of a guest'])
    registry.add(local('pay_bill'))
    tools = [local('ask')]
    expect([await answer('pay_bill'), await answer('ask')]).toEqual(['pay_bill of ours', 'ask of ours'])
    expect(await answer('Pay-Bill')).not.toContain('guest')
    expect(reports).toHaveLength(3) // one for each name, and one for two spellings of the guest's own
  })
})

test('a server that lists new names for ever is refused more of them after 10,000, and keeps those that it has', async () => {
  const files = serverOf('files', 'first')
  const { executor, reports } = watched([files])
  for (let round = 0; round < 12; round++) {
    files.give('first', ...Array.from({ length: 1_000 }, (_, index) => `tool_${round}_${index}`))
    executor.tools()
  }
  expect(executor.tools().map(({ name }) => name)).toEqual(['first'])
  expect(reports).toEqual([expect.stringMatching(/"files" has used 10000 names/)])
})

test('an approval is void for a tool with the same definition of another server, address, name there or program', async () => {
  const config = { serverName: 'files', serverUrl: 'http://a/mcp', toolName: 'delete_file', program: 'x' }
  const toolOf = (mcpConfig: object): Tool =>
    work('delete_file', () => 'deleted', { type: 'mcp', mcpConfig, requiresConfirmation: true })
  for (const field of Object.keys(config)) {
    const registry = new ToolRegistry([toolOf(config)])
    const executor = createExecutor({ tools: registry })
    const first = await executor.execute({ name: 'delete_file' })
    const second = await executor.execute({ name: 'delete_file' })
    registry.add(toolOf({ ...config, transport: 'sse' }), { onCollision: 'replace' })
    expect((await executor.calls.decide(first.token ?? '', 'allow')).status).toBe('ok')
    registry.add(toolOf({ ...config, [field]: 'another' }), { onCollision: 'replace' })
    await expect(executor.calls.decide(second.token ?? '', 'allow')).rejects.toMatchObject({
      code: 'E_APPROVAL_INVALID',
    })
  }
})

test('a tool of the application’s own with the same definition is told apart by its version alone', async () => {
  const toolOf = (does: string, version?: string): Tool =>
    work('delete_file', () => does, { requiresConfirmation: true, metadata: version === undefined ? {} : { version } })
  const registry = new ToolRegistry([toolOf('first')])
  const executor = createExecutor({ tools: registry })
  const tokens = [await executor.execute({ name: 'delete_file' }), await executor.execute({ name: 'delete_file' })]
  registry.add(toolOf('second'), { onCollision: 'replace' })
  expect(text(await executor.calls.decide(tokens[0]?.token ?? '', 'allow'))).toBe('second')
  registry.add(toolOf('third', '3'), { onCollision: 'replace' })
  await expect(executor.calls.decide(tokens[1]?.token ?? '', 'allow')).rejects.toMatchObject({
    code: 'E_APPROVAL_INVALID',
  })
})
