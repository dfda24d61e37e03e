import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, onTestFinished, test } from 'vitest'
import { missing, user } from '../servers/bubblewrap.ts'
import { workspace } from '../builtins/_workspace.ts'
import { program } from './_command.ts'
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
  [[], 'A module or --workspace is missing'],
  [['--sandbox', 'local'], '--sandbox needs --workspace'],
  [['--workspace', '.', '--sandbox', 'docker'], 'takes local or bubblewrap'],
  [['--workspace', '.', '--user', 'me'], 'takes numbers'],
  [['--workspace', '/nowhere/at/all'], 'no directory'],
])('mcp %j is refused', (words, said) => {
  const [command = '', ...args] = [...program, 'mcp', ...words]
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', input: '' })
  expect([status, stderr]).toEqual([2, expect.stringContaining(said)])
})
