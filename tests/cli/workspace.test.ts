import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, onTestFinished, test } from 'vitest'
import { missing, user } from '../servers/bubblewrap.ts'
import { workspace } from '../builtins/_workspace.ts'
import { file, moduleOf, program } from './_command.ts'
import { spawnSync } from 'node:child_process'

async function connected(...options: readonly string[]): Promise<Client> {
  const [command = '', ...args] = [...program, 'mcp', ...options]
  const client = new Client({ name: 'tests', version: '1' })
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }))
  onTestFinished(() => client.close())
  return client
}

test('mcp --workspace serves the tools for files, commands and lists of a directory', async () => {
  const { root } = workspace({ 'a.txt': 'found\n' })
  const client = await connected('--workspace', root)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'fs_read',
    'fs_write',
    'fs_edit',
    'fs_multi_edit',
    'fs_glob',
    'fs_grep',
    'bash_run',
    'bash_logs',
    'bash_kill',
    'todo_read',
    'todo_write',
  ])
  expect(await client.callTool({ name: 'fs_read', arguments: { path: 'a.txt' } })).toMatchObject({
    content: [{ text: 'found\n' }],
  })
  expect(await client.callTool({ name: 'fs_read', arguments: { path: '/etc/passwd' } })).toMatchObject({
    isError: true,
  })
  expect(await client.callTool({ name: 'bash_run', arguments: { command: 'true' } })).toMatchObject({ isError: true })
})

test('mcp --task serves the twelfth, which calls the function of a module', async () => {
  const client = await connected('--workspace', workspace().root, '--task', moduleOf('task.ts'))
  const { tools } = await client.listTools()
  expect(tools).toHaveLength(12)
  expect(tools.at(-1)?.name).toBe('task_run')
  expect(await client.callTool({ name: 'task_run', arguments: { task: 'Count', context: 'Slowly' } })).toMatchObject({
    content: [{ text: 'Count, knowing: Slowly' }],
  })
  const alone = await connected('--task', moduleOf('task.ts'))
  expect((await alone.listTools()).tools.map(({ name }) => name)).toEqual(['task_run'])
})

describe.skipIf(missing !== undefined)('with bubblewrap', () => {
  test('commands run without a question, in the sandbox', async () => {
    const { root } = workspace({ 'a.txt': 'found\n' })
    const owner = user === undefined ? [] : ['--user', `${user.uid}:${user.gid}`]
    const client = await connected('--workspace', root, '--sandbox', 'bubblewrap', ...owner)
    const { content } = await client.callTool({ name: 'bash_run', arguments: { command: 'hostname; cat a.txt' } })
    expect(JSON.stringify(content)).toContain('sandbox\\\\nfound')
  })
})

test.each([
  [[], 'A module, --openapi, --workspace or --task is missing'],
  [['--sandbox', 'local'], '--sandbox needs --workspace'],
  [['--workspace', '.', '--sandbox', 'docker'], 'takes local or bubblewrap'],
  [['--workspace', '.', '--user', 'me'], 'takes numbers'],
  [['--workspace', '/nowhere/at/all'], 'no directory'],
  [['--task', '/nowhere/at/all.ts'], 'a module that exports a function'],
  [['--task', file('no-task.mjs', 'export const run = 1')], 'exports no function as its default, but run (number)'],
])('mcp %j is refused', (words, said) => {
  const [command = '', ...args] = [...program, 'mcp', ...words]
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', input: '' })
  expect([status, stderr]).toEqual([2, expect.stringContaining(said)])
})
