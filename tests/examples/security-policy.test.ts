// Commands that may destroy something are asked about, files that hold secrets are refused, and the rest is left to the
// lists of the application.
import { createExecutor, tool, type Extension, type ToolExecutor, type ToolResult } from 'toolwright'
import type { ApprovalRequest } from 'toolwright/extension'
import { permissions } from 'toolwright/policies/permissions'
import { expect, test } from 'vitest'
import { z } from 'zod'

interface Desk {
  readonly executor: ToolExecutor
  readonly ran: string[]
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
  const ran: string[] = []
  const asked: ApprovalRequest[] = []
  const command = z.object({ command: z.string() })
  const path = z.object({ path: z.string() })
  const record =
    (name: string) =>
    (input: object): string => {
      const line = `${name} ${Object.values(input).join(' ')}`
      ran.push(line)
      return `did ${line}`
    }
  const tools = [
    tool({ name: 'bash_run', description: 'Runs a command', inputSchema: command, handler: record('bash_run') }),
    tool({ name: 'fs_read', description: 'Reads a file', inputSchema: path, handler: record('fs_read') }),
    tool({ name: 'fs_write', description: 'Writes a file', inputSchema: path, handler: record('fs_write') }),
    tool({ name: 'bash_kill', description: 'Ends a command', inputSchema: command, handler: record('bash_kill') }),
  ]
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
  return { executor: createExecutor({ tools, use: [guard, lists, approver] }), ran, asked }
}

function words({ content }: ToolResult): string {
  return JSON.stringify(content)
}

test('a harmless command runs at once', async () => {
  const { executor, ran, asked } = desk('deny')
  expect((await executor.execute({ name: 'bash_run', args: { command: 'ls' } })).status).toBe('ok')
  expect([ran, asked]).toEqual([['bash_run ls'], []])
})

test.each(['rm -rf /', 'dd if=/dev/zero of=/dev/sda', 'mkfs.ext4 /dev/sda1', 'echo > /dev/sda'])(
  'a person decides about `%s`, and is told why it is asked',
  async (command) => {
    const refusing = desk('deny')
    const refused = await refusing.executor.execute({ name: 'bash_run', args: { command } })
    expect([refused.status, refusing.ran]).toEqual(['denied', []])
    expect(refusing.asked).toMatchObject([{ input: { command }, meta: { risk: 'high' } }])

    const allowing = desk('allow')
    const allowed = await allowing.executor.execute({ name: 'bash_run', args: { command } })
    expect([allowed.status, allowing.ran]).toEqual(['ok', [`bash_run ${command}`]])
  },
)

test.each(['/etc/passwd', '/home/ada/.ssh/id_rsa', '/srv/app/.env'])(
  'nobody is asked about %s: it is refused, and the model reads why',
  async (path) => {
    const { executor, ran, asked } = desk('allow')
    for (const name of ['fs_read', 'fs_write']) {
      const result = await executor.execute({ name, args: { path } })
      expect(result).toMatchObject({ status: 'denied', isError: true, effect: 'none' })
      expect(words(result)).toContain('Permission denied: sensitive file')
    }
    expect([ran, asked]).toEqual([[], []])
  },
)

test('what the lists ask about is asked, and what they deny is refused, whatever the guard thinks', async () => {
  const { executor, ran, asked } = desk('allow')
  expect((await executor.execute({ name: 'fs_write', args: { path: 'notes.txt' } })).status).toBe('ok')
  expect((await executor.execute({ name: 'bash_kill', args: { command: '7' } })).status).toBe('denied')
  expect(ran).toEqual(['fs_write notes.txt'])
  expect(asked).toHaveLength(1)
})
