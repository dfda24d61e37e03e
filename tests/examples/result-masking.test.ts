// What a command prints may hold a password, and a file may be very long: the model sees neither.
import { createExecutor, tool, type ToolResult } from 'toolwright'
import { redact } from 'toolwright/middleware/redact'
import { truncate } from 'toolwright/middleware/truncate'
import { expect, test } from 'vitest'
import { z } from 'zod'

const output = 'connecting\nPASSWORD=hunter2 ok\npassword: swordfish\ndone'

const bashRun = tool({
  name: 'bash_run',
  description: 'Runs a command',
  inputSchema: z.object({ command: z.string() }),
  handler: ({ command }) =>
    command === 'fail' ? Promise.reject(new Error('exit code 1')) : { stdout: output, stderr: '', exitCode: 0 },
})

const fsRead = tool({
  name: 'fs_read',
  description: 'Reads a file',
  inputSchema: z.object({ characters: z.number() }),
  handler: ({ characters }) => 'é'.repeat(characters),
})

const executor = createExecutor({ tools: [bashRun, fsRead], use: [truncate(), redact()] })

async function all({ artifact }: ToolResult): Promise<string> {
  return (await artifact?.asString()) ?? ''
}

test('passwords in the output of a command are masked, and everything beside them stays', async () => {
  const result = await executor.execute({ name: 'bash_run', args: { command: 'connect' } })
  const [block] = result.content
  expect(block?.type === 'json' ? block.data : undefined).toEqual({
    stdout: 'connecting\nPASSWORD=*** ok\npassword: ***\ndone',
    stderr: '',
    exitCode: 0,
  })
  expect(JSON.stringify([result.content, await all(result)])).not.toMatch(/hunter2|swordfish/)
})

test('a file of more than 100,000 characters is cut to 10,000, and the model is told how large it was', async () => {
  const short = await executor.execute({ name: 'fs_read', args: { characters: 100_000 } })
  expect(await all(short)).toBe('é'.repeat(100_000))
  const long = await executor.execute({ name: 'fs_read', args: { characters: 100_001 } })
  expect(await all(long)).toBe(`${'é'.repeat(10_000)}\n\n...(truncated, total size: 200002 bytes)`)
})

test('a failure stays a failure', async () => {
  const result = await executor.execute({ name: 'bash_run', args: { command: 'fail' } })
  expect(result).toMatchObject({ status: 'error', effect: 'unknown' })
})
