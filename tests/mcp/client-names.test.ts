// Whose tool a name means, where servers list what they like, when they like.
import { createExecutor, tool, ToolRegistry, type ToolExecutor } from 'toolwright'
import { pageTools } from 'toolwright/client/page-tools'
import { memoryJournal } from 'toolwright/journals/memory'
import type { McpToolsOptions } from 'toolwright/mcp/client'
import { budget } from 'toolwright/policies/budget'
import { permissions } from 'toolwright/policies/permissions'
import { describe, expect, test } from 'vitest'
import { connect, define, messages, until, type Scripted } from './_scripted.ts'

const namesOf = (executor: ToolExecutor): string[] => executor.tools().map(({ name }) => name)

interface Fickle extends Scripted {
  /** Makes the server list these tools from now on. */
  readonly list: (...names: string[]) => Promise<void>
}

/** A server that may be told to list other tools. */
async function fickle(options: McpToolsOptions, ...names: string[]): Promise<Fickle> {
  const listing = (listed: readonly string[]): object[] => ['change', ...listed].map((name) => define(name))
  const scripted = await connect(listing(names), options)
  const { server } = scripted
  return {
    ...scripted,
    async list(...listed) {
      const before = server.tools()
      const change = before.find(({ mcpConfig }) => mcpConfig?.toolName === 'change')
      await createExecutor({ tools: before }).execute({ name: change?.name ?? '', args: { tools: listing(listed) } })
      await until(() => server.tools() !== before)
    },
  }
}

const ask = permissions({ mode: 'auto', requireApprovalTools: ['echo'] })

test('an approval for the tool of one server never runs the tool of another that lists the same definition later', async () => {
  const newcomer = await fickle({ name: 'newcomer' })
  const files = await connect([define('echo')], { name: 'files' })
  const executor = createExecutor({ use: [newcomer.server, files.server, ask] })
  const waiting = await executor.execute({ name: 'echo', args: { path: '/a' } })
  await newcomer.list('echo')
  expect(namesOf(executor)).toEqual(['change', 'newcomer_echo', 'echo'])
  const result = await executor.calls.decide(waiting.token ?? '', 'allow')
  expect(result.status).toBe('ok')
  expect([newcomer.count(/^call echo/), files.count(/^call echo/)]).toEqual([0, 1])
  expect(messages(newcomer.reported)).toEqual([
    expect.stringMatching(/"echo" of the MCP server "newcomer" is called "newcomer_echo"/),
  ])
})

test('an approval that outlived the executor never runs the tool of another server in its place', async () => {
  const journal = memoryJournal()
  const first = await connect([define('echo')], { name: 'files' })
  const waiting = await createExecutor({ use: [first.server, ask, journal] }).execute({ name: 'echo', args: {} })
  for (const options of [{ name: 'newcomer' }, { name: 'files', args: ['--elsewhere'] }]) {
    const newcomer = await connect([define('echo')], options)
    const executor = createExecutor({ use: [newcomer.server, first.server, ask, journal] })
    await expect(executor.calls.decide(waiting.token ?? '', 'allow')).rejects.toMatchObject({
      code: 'E_APPROVAL_INVALID',
    })
    expect(newcomer.count(/^call echo/)).toBe(0)
  }
  const again = createExecutor({ use: [first.server, ask, journal] })
  expect((await again.calls.decide(waiting.token ?? '', 'allow')).status).toBe('ok')
})

test('a name of a tool of the application’s own is never a server’s, although the tool is gone when the server lists it', async () => {
  const server = await fickle({ name: 'files' })
  const registry = new ToolRegistry([tool('echo', () => 'ours')])
  const executor = createExecutor({ tools: registry, use: [server.server] })
  expect(namesOf(executor)).toEqual(['echo', 'change'])
  registry.remove('echo')
  await server.list('echo')
  expect(namesOf(executor)).toEqual(['change', 'files_echo'])
  expect((await executor.execute({ name: 'echo', args: {} })).error?.code).toBe('E_TOOL_NOT_FOUND')
})

test('a page has no name that a server lists, although the page declared it before', async () => {
  const files = await fickle({ name: 'files' })
  const pages = pageTools()
  const reported: unknown[] = []
  const report = (error: unknown): void => void reported.push(error)
  const executor = createExecutor({ use: [pages, files.server], report })
  pages.declare('ada', 'page 1', [{ name: 'echo', description: 'Says what the page wants' }])
  const ada = { session: 'ada' }
  expect((await executor.execute({ name: 'echo', args: {} }, ada)).status).toBe('waiting')
  const [waiting] = await executor.calls.waiting(ada)
  await files.list('echo')
  const result = await executor.execute({ name: 'echo', args: { path: '/a' } }, ada)
  expect([result.status, files.count(/^call echo/)]).toEqual(['ok', 1])
  await expect(executor.calls.respond(waiting!, 'as the page wants')).rejects.toMatchObject({
    code: 'E_APPROVAL_INVALID',
  })
  pages.declare('ada', 'page 1', [])
  pages.declare('ada', 'page 2', [{ name: 'Echo', description: 'Tries it again' }])
  expect(executor.tools('model', 'ada').map(({ name }) => name)).toEqual(['change', 'echo'])
  expect(messages(reported)).toEqual([expect.stringMatching(/^The tool "echo" of a page is set aside/)])
  expect(files.reported).toEqual([])
})

describe('a list of a policy', () => {
  const statusOf = async (executor: ToolExecutor, name: string): Promise<string> =>
    (await executor.execute({ name, args: {} })).status

  test('that allows means a server’s tool by its server, and nobody else’s by that name', async () => {
    const [files, other] = [
      await fickle({ name: 'files', prefix: 'files' }, 'echo'),
      await connect([define('echo')], { name: 'other' }),
    ]
    const allowing = permissions({ mode: 'ask', autoAllowTools: [{ server: 'files', name: 'echo' }] })
    const executor = createExecutor({ use: [files.server, other.server, allowing] })
    expect(await statusOf(executor, 'files_echo')).toBe('ok')
    expect(await statusOf(executor, 'echo')).toBe('waiting')
    expect(await statusOf(executor, 'files_change')).toBe('waiting')
  })

  test('that allows a name by itself allows no server’s tool, and says what to write', async () => {
    const { server } = await connect([define('echo')], { name: 'files' })
    const allowing = permissions({ mode: 'deny', autoAllowTools: ['echo', 'ours'] })
    const executor = createExecutor({ tools: [tool('ours', () => 1)], use: [server, allowing] })
    expect(await statusOf(executor, 'ours')).toBe('ok')
    const denied = await executor.execute({ name: 'echo', args: {} })
    expect(denied.status).toBe('denied')
    expect(denied.error?.message).toContain('{"server":"files","name":"echo"}')
  })

  test('that allows by a server does not know one by the name that it gave itself', async () => {
    const unnamed: McpToolsOptions = { name: undefined as never }
    const { server } = await connect([define('echo')], unnamed)
    expect(server.serverName).toBe('scripted')
    const list = [{ server: 'scripted', name: 'echo' }]
    const allowing = permissions({ mode: 'deny', autoAllowTools: list })
    expect(await statusOf(createExecutor({ use: [server, allowing] }), 'echo')).toBe('denied')
    const denying = permissions({ mode: 'auto', autoDenyTools: list })
    expect(await statusOf(createExecutor({ use: [server, denying] }), 'echo')).toBe('denied')
  })

  test('that denies or asks by a name by itself means the tools of servers too', async () => {
    const { server } = await connect([define('echo')])
    const denying = permissions({ mode: 'auto', autoDenyTools: ['echo'] })
    expect(await statusOf(createExecutor({ use: [server, denying] }), 'echo')).toBe('denied')
    expect(await statusOf(createExecutor({ use: [server, ask] }), 'echo')).toBe('waiting')
  })
})

test('a limit that several executors share counts the tools of two servers apart, although they have one name', async () => {
  const [one, other] = [
    await connect([define('echo')], { name: 'one' }),
    await connect([define('echo')], { name: 'other' }),
  ]
  const limit = budget({ calls: 1, per: 'tool', tools: ['echo'] })
  const statuses: string[] = []
  for (const { server } of [one, other, one]) {
    const executor = createExecutor({ use: [server, limit] })
    statuses.push((await executor.execute({ name: 'echo', args: {} })).status)
  }
  expect(statuses).toEqual(['ok', 'ok', 'denied'])
})
