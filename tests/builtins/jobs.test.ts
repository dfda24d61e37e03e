import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutor, memoryStore, type Extension, type ToolExecutor, type ToolResult } from 'toolwright'
import { shellTools, workspaceTools } from 'toolwright/builtins/tools'
import { describe, expect, onTestFinished, test } from 'vitest'
import { withMark } from './_marks.ts'
import { canary, local, temporary, workspace } from './_workspace.ts'

async function over(root: string, options: object = {}, ...use: readonly Extension[]): Promise<ToolExecutor> {
  const tools = shellTools(await local(root), { requiresConfirmation: false, ...options })
  const executor = createExecutor({ use: [tools, ...use] })
  onTestFinished(() => executor.close())
  return executor
}

function words({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join('\n')
}

async function data(
  executor: ToolExecutor,
  name: string,
  args: object,
  session = 's',
): Promise<Record<string, unknown>> {
  const result = await executor.execute({ name, args }, { session })
  expect(result.error, words(result)).toBeUndefined()
  const [block] = result.content
  return (block?.type === 'json' ? block.data : {}) as Record<string, unknown>
}

async function refused(executor: ToolExecutor, name: string, args: object, session = 's'): Promise<string> {
  const result = await executor.execute({ name, args }, { session })
  expect(result.status).not.toBe('ok')
  return words(result)
}

describe('bash_run', () => {
  test('gives both streams and the exit code, which is no error of the tool', async () => {
    const executor = await over(temporary())
    expect(await data(executor, 'bash_run', { command: 'echo a; echo b >&2; exit 4' })).toEqual({
      stdout: 'a\n',
      stderr: 'b\n',
      exitCode: 4,
    })
    expect(await data(executor, 'bash_run', { command: 'sleep 60', timeout: 300 })).toMatchObject({
      exitCode: null,
      signal: 'SIGTERM',
      timedOut: true,
    })
    await refused(executor, 'bash_run', { command: 'true', timeout: 9_999_999 })
    await refused(executor, 'bash_run', { command: '' })
  })

  test('asks a person if the sandbox isolates nothing', async () => {
    const executor = createExecutor({ use: [shellTools(await local(temporary()))] })
    expect(await executor.execute({ name: 'bash_run', args: { command: 'true' } })).toMatchObject({ status: 'waiting' })
    const asked = shellTools(await local(temporary()), { requiresConfirmation: ({ command }) => command !== 'true' })
    const other = createExecutor({ use: [asked] })
    expect(await other.execute({ name: 'bash_run', args: { command: 'true' } })).toMatchObject({ status: 'ok' })
    expect(await other.execute({ name: 'bash_run', args: { command: 'false' } })).toMatchObject({ status: 'waiting' })
  })

  test('keeps all of a large output as an artifact of the session', async () => {
    const executor = await over(temporary())
    const result = await data(executor, 'bash_run', { command: 'seq 100000; seq 20 >&2' })
    expect(result).toMatchObject({ stdoutBytes: 588_895, stdoutOmittedBytes: 588_895 - 32_768, exitCode: 0 })
    expect(result).not.toHaveProperty('stderrArtifact')
    const artifact = await executor.artifacts.open(String(result['stdoutArtifact']), 's')
    expect([await artifact.lineCount(), await artifact.tail(1), artifact.mediaType]).toEqual([
      100_000,
      '100000',
      'text/plain',
    ])
    await expect(executor.artifacts.open(String(result['stdoutArtifact']), 'another')).rejects.toThrow('no artifact')
  })

  test('runs on if the store cannot keep it, and says so', async () => {
    const executor = await over(temporary(), {}, { store: memoryStore({ maximumBytes: 100_000 }) })
    const result = await data(executor, 'bash_run', { command: 'seq 100000; echo end' })
    expect(result).toMatchObject({ exitCode: 0, stdoutNotKept: expect.stringContaining('100,000 bytes') })
    expect(String(result['stdout'])).toMatch(/100000\nend\n$/)
  })

  test('is ended when its caller cancels', async () => {
    const mark = `mark-${randomUUID()}`
    const executor = await over(temporary())
    const stop = new AbortController()
    const running = executor.execute(
      { name: 'bash_run', args: { command: `bash -c 'sleep 300; : ${mark}'` } },
      { signal: stop.signal },
    )
    await expect.poll(() => withMark(mark).length, { timeout: 20_000 }).toBeGreaterThan(0)
    stop.abort()
    expect(await running).toMatchObject({ status: 'cancelled' })
    await expect.poll(() => withMark(mark), { timeout: 20_000 }).toEqual([])
  })
})

describe('a command in the background', () => {
  test('is read, and ended once and again', async () => {
    const executor = await over(temporary())
    const { pid, status } = await data(executor, 'bash_run', { command: 'echo begun; sleep 300', background: true })
    expect([typeof pid, status]).toEqual(['string', 'running'])
    await expect
      .poll(async () => (await data(executor, 'bash_logs', { pid }))['output'], { timeout: 20_000 })
      .toBe('begun\n')
    const { next } = await data(executor, 'bash_logs', { pid })
    expect(await data(executor, 'bash_logs', { pid, since: next })).toEqual({
      output: '',
      next,
      status: 'running',
      exitCode: null,
    })
    expect(await data(executor, 'bash_kill', { pid })).toEqual({ status: 'killed', exitCode: null })
    expect(await data(executor, 'bash_kill', { pid })).toEqual({ status: 'killed', exitCode: null })
    expect(await data(executor, 'bash_logs', { pid })).toMatchObject({ status: 'exited' })
  })

  test('that has ended by itself is told with its exit code', async () => {
    const executor = await over(temporary())
    const { pid } = await data(executor, 'bash_run', { command: 'exit 9', background: true })
    await expect.poll(async () => (await data(executor, 'bash_logs', { pid }))['exitCode'], { timeout: 20_000 }).toBe(9)
    expect(await data(executor, 'bash_kill', { pid })).toEqual({ status: 'exited', exitCode: 9 })
  })

  test.each([['1'], [`${process.pid}`], [`${process.ppid}`], ['__proto__'], ['constructor'], ['job_'], ['']])(
    'is not named by %j: no number of a process, and no key of an object',
    async (pid) => {
      const executor = await over(temporary())
      await data(executor, 'bash_run', { command: 'sleep 300', background: true })
      for (const name of ['bash_logs', 'bash_kill'])
        expect(await refused(executor, name, { pid })).toContain('no such job')
    },
  )

  test('cannot be seen by another session', async () => {
    const executor = await over(temporary())
    const { pid } = await data(executor, 'bash_run', { command: 'sleep 300', background: true }, 'mine')
    for (const name of ['bash_logs', 'bash_kill']) {
      const said = await refused(executor, name, { pid }, 'theirs')
      expect(said).toContain('no such job')
      expect(said).toContain('Start one')
    }
    expect(await data(executor, 'bash_logs', { pid }, 'mine')).toMatchObject({ status: 'running' })
  })

  test('is one of at most 16, which end with the executor', async () => {
    const mark = `mark-${randomUUID()}`
    const executor = await over(temporary())
    const command = `bash -c 'sleep 300; : ${mark}'`
    for (let index = 0; index < 16; index++) await data(executor, 'bash_run', { command, background: true })
    expect(await refused(executor, 'bash_run', { command, background: true })).toContain('16 commands')
    expect(withMark(mark)).not.toEqual([])
    await executor.close()
    await expect.poll(() => withMark(mark), { timeout: 20_000 }).toEqual([])
  })

  test('ends after its life', async () => {
    const mark = `mark-${randomUUID()}`
    const executor = await over(temporary(), { jobLifetime: 100 })
    const { pid } = await data(executor, 'bash_run', { command: `bash -c 'sleep 300; : ${mark}'`, background: true })
    await expect
      .poll(async () => (await data(executor, 'bash_logs', { pid }))['status'], { timeout: 30_000 })
      .toBe('exited')
    await expect.poll(() => withMark(mark), { timeout: 20_000 }).toEqual([])
  })
})

describe('a path outside the workspace', () => {
  async function asking(
    root: string,
    answers: readonly object[],
  ): Promise<{ executor: ToolExecutor; asked: unknown[] }> {
    const asked: unknown[] = []
    const left = [...answers]
    const approver = {
      ask: async ({ why, meta }: { readonly why?: string | undefined; readonly meta?: unknown }) => {
        asked.push({ why, meta })
        return (left.shift() ?? { decision: 'deny' }) as never
      },
    }
    const executor = createExecutor({ use: [workspaceTools(await local(root), { outside: 'ask' }), { approver }] })
    onTestFinished(() => executor.close())
    return { executor, asked }
  }

  test('is refused if no one is to be asked', async () => {
    const { root, outside } = workspace()
    const executor = createExecutor({ use: [workspaceTools(await local(root))] })
    expect(await refused(executor, 'fs_read', { path: join(outside, 'secret.txt') })).toContain('outside the workspace')
  })

  test('is read after a yes, for that call alone; the question shows where it leads', async () => {
    const { root, outside } = workspace({ link: '-> ../outside/secret.txt' })
    const { executor, asked } = await asking(root, [{ decision: 'allow' }])
    const read = (path: string, session = 's'): Promise<ToolResult> =>
      executor.execute({ name: 'fs_read', args: { path } }, { session })
    expect(words(await read('link'))).toBe(canary)
    expect(asked).toEqual([
      {
        why: expect.stringContaining(join(outside, 'secret.txt')),
        meta: { outside: [join(outside, 'secret.txt')], write: false },
      },
    ])
    expect(await read('link')).toMatchObject({ status: 'denied' })
    expect(asked).toHaveLength(2)
  })

  test('is granted to the session with always, to read and not to write, and to no other', async () => {
    const { root, outside } = workspace()
    const always = { decision: 'allow', always: true }
    const { executor, asked } = await asking(root, [
      always,
      { decision: 'deny' },
      { decision: 'deny' },
      { decision: 'allow' },
    ])
    const path = join(outside, 'secret.txt')
    const call = (name: string, args: object, session = 's'): Promise<ToolResult> =>
      executor.execute({ name, args }, { session })
    for (let count = 0; count < 3; count++) expect(words(await call('fs_read', { path }))).toBe(canary)
    expect(asked).toHaveLength(1)
    expect(await call('fs_read', { path }, 'another')).toMatchObject({ status: 'denied' })
    const edits = [{ old: 'canary', new: 'bird' }]
    expect(await call('fs_edit', { path, edits })).toMatchObject({ status: 'denied' })
    expect(await call('fs_edit', { path, edits })).toMatchObject({ status: 'ok' })
    expect(words(await call('fs_read', { path }))).toContain('bird')
    expect(asked).toHaveLength(4)
  })

  test('gives a directory with all below it, and nothing beside it', async () => {
    const { root, outside } = workspace()
    const { executor } = await asking(root, [{ decision: 'allow', always: true }])
    expect(
      words(await executor.execute({ name: 'fs_glob', args: { pattern: '**', path: outside } }, { session: 's' })),
    ).toBe('secret.txt')
    const path = join(outside, 'secret.txt')
    expect(words(await executor.execute({ name: 'fs_read', args: { path } }, { session: 's' }))).toBe(canary)
    for (const away of [join(outside, '..', 'root'), join(outside, '../outsider'), '/etc/passwd']) {
      expect(await executor.execute({ name: 'fs_read', args: { path: away } }, { session: 's' })).not.toMatchObject({
        status: 'ok',
      })
    }
  })

  test('that leads elsewhere by the time of the answer is refused', async () => {
    const { renameSync, symlinkSync } = await import('node:fs')
    const { root, outside } = workspace({ link: '-> ../outside/secret.txt' })
    const executor = createExecutor({ use: [workspaceTools(await local(root), { outside: 'ask' })] })
    const asked = await executor.execute({ name: 'fs_read', args: { path: 'link' } })
    expect(asked.status).toBe('waiting')
    symlinkSync('/etc/passwd', join(root, 'other'))
    renameSync(join(root, 'other'), join(root, 'link'))
    const result = await executor.calls.decide(asked.token ?? '', 'allow')
    expect(result.status).toBe('denied')
    expect(words(result)).toContain('leads elsewhere')
    expect(existsSync(join(outside, 'secret.txt'))).toBe(true)
  })

  test('that waited for an answer is read once the token is redeemed', async () => {
    const { root } = workspace({ link: '-> ../outside/secret.txt' })
    const executor = createExecutor({ use: [workspaceTools(await local(root), { outside: 'ask' })] })
    const asked = await executor.execute({ name: 'fs_read', args: { path: 'link' } })
    expect(words(await executor.calls.decide(asked.token ?? '', 'allow'))).toBe(canary)
  })
})
