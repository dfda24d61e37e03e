// Commands that may destroy something are asked about, files that hold secrets are refused, and the rest is left to the
// lists of the application.
import { createExecutor, tool, type Extension, type ToolExecutor, type ToolResult } from 'toolwright'
import type { ApprovalRequest } from 'toolwright/extension'
import { permissions } from 'toolwright/policies/permissions'
import { expectCalls, fakeTools, type Fakes } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

interface Desk {
  readonly executor: ToolExecutor
  /** Stands in for the machine, and logs what is called. */
  readonly fakes: Fakes
  readonly asked: ApprovalRequest[]
}

const dangerous = ['rm -rf', 'dd if=', 'mkfs', '> /dev/']
const sensitive = ['/etc/passwd', '/.ssh/', '/.env']

const guard: Extension = {
  policies: [
    {
      name: 'guard',
      decide: ({ tool: { name }, input }) => {
        const { command = '', path = '' } = input as { readonly command?: string; readonly path?: string }
        if (name === 'bash_run' && dangerous.some((pattern) => command.includes(pattern))) {
          return { decision: 'ask', meta: { risk: 'high', reason: 'Potentially destructive command' } }
        }
        if (sensitive.some((pattern) => path.includes(pattern))) {
          const toolResult = { ok: false, error: 'Permission denied: sensitive file' }
          return { decision: 'deny', reason: 'Access to sensitive file denied', toolResult }
        }
        return undefined
      },
    },
  ],
}

function desk(answer: 'allow' | 'deny'): Desk {
  const asked: ApprovalRequest[] = []
  const command = z.object({ command: z.string() })
  const path = z.object({ path: z.string() })
  const handler = (): never => {
    throw new Error('The machine was touched.')
  }
  const tools = [
    tool({ name: 'bash_run', description: 'Runs a command', inputSchema: command, handler }),
    tool({ name: 'fs_read', description: 'Reads a file', inputSchema: path, handler }),
    tool({ name: 'fs_write', description: 'Writes a file', inputSchema: path, handler }),
    tool({ name: 'bash_kill', description: 'Ends a command', inputSchema: command, handler }),
  ]
  const fakes = fakeTools({
    bash_run: ({ command: line }) => `did ${String(line)}`,
    fs_read: { result: 'text' },
    fs_write: { result: 'written' },
    bash_kill: { result: 'ended' },
  })
  const approver: Extension = {
    approver: {
      ask: (request) => {
        asked.push(request)
        return Promise.resolve({ decision: answer, decidedBy: 'ada' })
      },
    },
  }
  const lists = permissions({
    mode: 'auto',
    requireApprovalTools: ['fs_write'],
    autoAllowTools: ['fs_read', 'bash_run'],
    autoDenyTools: ['bash_kill'],
  })
  return { executor: createExecutor({ tools, use: [guard, lists, approver, fakes] }), fakes, asked }
}

function words({ content }: ToolResult): string {
  return JSON.stringify(content)
}

test('a harmless command runs at once', async () => {
  const { executor, fakes, asked } = desk('deny')
  expect((await executor.execute({ name: 'bash_run', args: { command: 'ls' } })).status).toBe('ok')
  expectCalls(fakes).toHaveCalled('bash_run', { args: { command: 'ls' }, effect: 'completed', asked: false, times: 1 })
  expect(asked).toEqual([])
})

test.each(['rm -rf /', 'dd if=/dev/zero of=/dev/sda', 'mkfs.ext4 /dev/sda1', 'echo > /dev/sda'])(
  'a person decides about `%s`, and is told why it is asked',
  async (command) => {
    const refusing = desk('deny')
    await refusing.executor.execute({ name: 'bash_run', args: { command } })
    expectCalls(refusing.fakes).toHaveCalled('bash_run', { status: 'denied', effect: 'none', asked: true, times: 1 })
    expect(refusing.asked).toMatchObject([{ input: { command }, meta: { risk: 'high' } }])

    const allowing = desk('allow')
    await allowing.executor.execute({ name: 'bash_run', args: { command } })
    const content = `did ${command}`
    expectCalls(allowing.fakes).toHaveCalled('bash_run', { args: { command }, effect: 'completed', content, times: 1 })
  },
)

test.each(['/etc/passwd', '/home/ada/.ssh/id_rsa', '/srv/app/.env'])(
  'nobody is asked about %s: it is refused, and the model reads why',
  async (path) => {
    const { executor, fakes, asked } = desk('allow')
    for (const name of ['fs_read', 'fs_write']) {
      const result = await executor.execute({ name, args: { path } })
      expect(result).toMatchObject({ status: 'denied', isError: true, effect: 'none' })
      expect(words(result)).toContain('Permission denied: sensitive file')
      expectCalls(fakes).toHaveCalled(name, { status: 'denied', asked: false, times: 1 })
    }
    expect(asked).toEqual([])
  },
)

test('what the lists ask about is asked, and what they deny is refused, whatever the guard thinks', async () => {
  const { executor, fakes, asked } = desk('allow')
  await executor.execute({ name: 'fs_write', args: { path: 'notes.txt' } })
  await executor.execute({ name: 'bash_kill', args: { command: '7' } })
  expectCalls(fakes).toHaveCalled('fs_write', { status: 'ok', effect: 'completed', asked: true })
  expectCalls(fakes).toHaveCalled('bash_kill', { status: 'denied', effect: 'none', asked: false })
  expect(asked).toHaveLength(1)
})
