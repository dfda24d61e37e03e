// A server of files that we did not write, from the configuration that people have for it: what it may do is decided here,
// by a policy and by a person, and it may die in between.
import { createExecutor, type Extension, type ToolExecutor, type ToolResult } from 'toolwright'
import { mcpTools, normalizeMCPConfig } from 'toolwright/mcp/client'
import { memoryJournal } from 'toolwright/journals/memory'
import { permissions } from 'toolwright/policies/permissions'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { missing, program } from '../../servers/installed.ts'

if (missing !== undefined) console.warn(`The story of the server of files is not told: ${missing}`)

interface Desk {
  readonly folder: string
  readonly executor: ToolExecutor
  /** Ends the server, as a crash would. */
  readonly kill: () => void
  readonly call: (name: string, args: object) => Promise<ToolResult>
}

/** Moves files nowhere, whoever asks. */
const noMoves: Extension = {
  policies: [
    {
      name: 'no moves',
      decide: ({ tool }) =>
        tool.mcpConfig?.['toolName'] === 'move_file'
          ? { decision: 'deny', reason: 'Files stay where they are' }
          : undefined,
    },
  ],
}

async function desk(): Promise<Desk> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-files-')))
  const noteFolder = mkdtempSync(join(tmpdir(), 'toolwright-pid-'))
  const pidFile = join(noteFolder, 'pid')
  const noted = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))`
  const config = {
    mcpServers: {
      files: {
        command: '${NODE}',
        args: ['--import', `data:text/javascript,${encodeURIComponent(noted)}`, '${SERVER}', '${FOLDER}'],
        alwaysAllow: ['write_file'],
      },
    },
  }
  const variables = { NODE: process.execPath, SERVER: program('mcp-server-filesystem'), FOLDER: folder }
  const [files = {}] = normalizeMCPConfig(config, { variables })
  const executor = createExecutor({
    use: [
      await mcpTools({ ...files, protocol: '2025-11-25', prefix: 'files', reconnectDelay: 20 }),
      permissions({ mode: 'auto', requireApprovalTools: ['files_write_file', 'files_edit_file'] }),
      noMoves,
      memoryJournal(),
    ],
  })
  onTestFinished(async () => {
    await executor.close()
    for (const one of [folder, noteFolder]) rmSync(one, { recursive: true, force: true })
  })
  return {
    folder,
    executor,
    kill: () => void process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL'),
    call: (name, args) => executor.execute({ name: `files_${name}`, args }),
  }
}

const wordsOf = ({ content }: ToolResult): string => JSON.stringify(content)

describe.skipIf(missing !== undefined)('a server of files', () => {
  test('reads at once, and what it gives is checked', async () => {
    const { folder, executor, call } = await desk()
    writeFileSync(join(folder, 'note.txt'), 'remember')
    expect(executor.tools().map(({ name }) => name)).toContain('files_read_text_file')
    expect(wordsOf(await call('read_text_file', { path: join(folder, 'note.txt') }))).toContain('remember')
    const { artifact } = await call('read_text_file', { path: join(folder, 'note.txt') })
    expect([artifact?.mediaType, await artifact?.asString()]).toEqual([
      'text/plain',
      readFileSync(join(folder, 'note.txt'), 'utf8'),
    ])
    expect((await call('read_text_file', { path: 7 })).error?.code).toBe('E_INVALID_TOOL_ARGS')
  })

  test('writes once a person has said so, and the model is told of a path that is not its own', async () => {
    const { folder, executor, call } = await desk()
    const path = join(folder, 'plan.txt')
    const asked = await call('write_file', { path, content: 'step one' })
    expect(asked).toMatchObject({ status: 'waiting', effect: 'none' })
    expect(existsSync(path)).toBe(false)

    const written = await executor.calls.decide(asked.token ?? '', 'allow', { decidedBy: 'ann' })
    expect(written).toMatchObject({ status: 'ok', effect: 'completed' })
    expect(readFileSync(path, 'utf8')).toBe('step one')
    await expect(executor.calls.decide(asked.token ?? '', 'allow')).rejects.toMatchObject({
      code: 'E_APPROVAL_INVALID',
    })

    const refused = await call('write_file', { path, content: 'step two' })
    expect((await executor.calls.decide(refused.token ?? '', 'deny')).status).toBe('denied')
    expect(readFileSync(path, 'utf8')).toBe('step one')

    const outside = await call('read_text_file', { path: '/etc/passwd' })
    expect(outside).toMatchObject({ status: 'error', error: { code: 'E_TOOL_DOWNSTREAM_ERROR' } })
    expect(wordsOf(outside)).toMatch(/Access denied/)
    expect(wordsOf(outside)).not.toContain('root:')
  })

  test('does nothing that a policy denies', async () => {
    const { folder, call } = await desk()
    const source = join(folder, 'a.txt')
    writeFileSync(source, 'a')
    const moved = await call('move_file', { source, destination: join(folder, 'b.txt') })
    expect(moved).toMatchObject({ status: 'denied', effect: 'none' })
    expect(wordsOf(moved)).toContain('Files stay where they are')
    expect(existsSync(source)).toBe(true)
  })

  test('dies while a person thinks, and does what they allow when it is back', async () => {
    const { folder, executor, kill, call } = await desk()
    const path = join(folder, 'late.txt')
    const asked = await call('write_file', { path, content: 'after all' })
    kill()
    const written = await executor.calls.decide(asked.token ?? '', 'allow')
    // The death may be noticed by this very call: then nobody knows, and nothing is sent again.
    if (written.status === 'error') {
      expect(written).toMatchObject({ effect: 'unknown', error: { category: 'network', retryable: true } })
      const again = await call('write_file', { path, content: 'after all' })
      expect((await executor.calls.decide(again.token ?? '', 'allow')).status).toBe('ok')
    }
    expect(readFileSync(path, 'utf8')).toBe('after all')
    expect((await call('list_directory', { path: folder })).status).toBe('ok')
  })
})
