import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutor, type ToolEvent, type ToolExecutor, type ToolResult } from 'toolwright'
import type { Sandbox } from 'toolwright/builtins/sandbox'
import { shellTools, workspaceTools } from 'toolwright/builtins/tools'
import { expect, test } from 'vitest'
import { local, workspace } from './_workspace.ts'

/** A sandbox whose reads and writes take a moment, and the most that were under way at once. */
function slow(sandbox: Sandbox): { readonly sandbox: Sandbox; readonly most: { reads: number; writes: number } } {
  const [now, most] = [
    { reads: 0, writes: 0 },
    { reads: 0, writes: 0 },
  ]
  async function counted<Value>(kind: 'reads' | 'writes', work: () => Promise<Value>): Promise<Value> {
    most[kind] = Math.max(most[kind], ++now[kind])
    await new Promise((resolve) => setTimeout(resolve, 5))
    return work().finally(() => now[kind]--)
  }
  const own: Partial<Sandbox> = {
    readFile: (path, options) => counted('reads', () => sandbox.readFile(path, options)),
    writeFile: (path, bytes, options) => counted('writes', () => sandbox.writeFile(path, bytes, options)),
  }
  return { sandbox: Object.assign(Object.create(sandbox) as Sandbox, own), most }
}

const outcomes = (results: readonly ToolResult[]): string[] =>
  results.map(({ status, error }) => error?.message ?? status)

/** The agents\u2019 calls, each in a session of its own. */
function asAgents(executor: ToolExecutor, calls: readonly { name: string; args: object }[]): Promise<ToolResult[]> {
  return Promise.all(calls.map((call, index) => executor.execute(call, { session: `agent ${index}` })))
}

const replacing = (path: string, old: string, fresh: string): { name: string; args: object } => ({
  name: 'fs_edit',
  args: { path, edits: [{ old, new: fresh }] },
})

test('two agents edit one file at the same time, and both edits land', async () => {
  const { root } = workspace({ f: 'one two' })
  const { sandbox, most } = slow(await local(root))
  const executor = createExecutor({ use: [workspaceTools(sandbox)] })
  const blocked: string[] = []
  executor.on('call:blocked', ({ keys = [] }) => void blocked.push(...keys))
  const results = await asAgents(executor, [replacing('f', 'one', '1'), replacing('./f', 'two', '2')])
  expect(outcomes(results)).toEqual(['ok', 'ok'])
  expect(readFileSync(join(root, 'f'), 'utf8')).toBe('1 2')
  expect([most, blocked]).toEqual([{ reads: 1, writes: 1 }, [`file:${join(root, 'f')}`]])
})

test('reads of one file, and changes of two, are side by side', async () => {
  const { root } = workspace({ f: 'one', g: 'two' })
  const { sandbox, most } = slow(await local(root))
  const executor = createExecutor({ use: [workspaceTools(sandbox)] })
  const reads = Array.from({ length: 3 }, () => ({ name: 'fs_read', args: { path: 'f' } }))
  expect(outcomes(await asAgents(executor, reads))).toEqual(['ok', 'ok', 'ok'])
  expect(most.reads).toBe(3)
  const changes = [replacing('f', 'one', '1'), replacing('g', 'two', '2')]
  expect(outcomes(await asAgents(executor, changes))).toEqual(['ok', 'ok'])
  expect(most.writes).toBe(2)
})

test('a command waits for an edit of any file, unless it is in the background, and an edit for it', async () => {
  const { root } = workspace({ 'a/f': 'one' })
  const { sandbox } = slow(await local(root))
  const use = [workspaceTools(sandbox), shellTools(sandbox, { requiresConfirmation: false })]
  const executor = createExecutor({ use })
  const blocked: ToolEvent[] = []
  executor.on('call:blocked', (event) => void blocked.push(event))
  const results = await asAgents(executor, [
    replacing('a/f', 'one', 'two'),
    { name: 'bash_run', args: { command: 'cat a/f; printf three > a/f' } },
    { name: 'bash_run', args: { command: 'true', background: true } },
    replacing('a/f', 'three', 'four'),
  ])
  expect(outcomes(results)).toEqual(['ok', 'ok', 'ok', 'ok'])
  expect(results[1]!.content).toMatchObject([{ data: { stdout: 'two' } }])
  expect(readFileSync(join(root, 'a/f'), 'utf8')).toBe('four')
  expect(blocked.map(({ session }) => session)).toEqual(['agent 1', 'agent 3'])
  await executor.close()
})

test('paths of a sandbox elsewhere are its own, and very long ones are locked by their directory', async () => {
  const roots = [workspace({ f: 'one' }), workspace({ f: 'one' })]
  const elsewhere = await Promise.all(
    roots.map(async ({ root }) => {
      const { sandbox, most } = slow(await local(root))
      return { most, sandbox: Object.assign(sandbox, { root: '/workspace', identify: undefined }) }
    }),
  )
  const keys: string[] = []
  for (const { sandbox } of elsewhere) {
    const executor = createExecutor({ use: [workspaceTools(sandbox, { overwrite: 'any' })] })
    executor.on('call:blocked', (event) => void keys.push(...(event.keys ?? [])))
    const long = `${'d/'.repeat(1_500)}f`
    await asAgents(executor, [replacing('f', 'one', 'two'), replacing('f', 'two', 'three')])
    await asAgents(executor, [
      { name: 'fs_write', args: { path: long, content: '1' } },
      { name: 'fs_write', args: { path: `${long}f`, content: '1' } },
    ])
  }
  expect(new Set(keys).size).toBe(keys.length)
  expect(keys.every((key) => key.length <= 1_000 && /^file:sandbox \d+\/workspace\/[df]/.test(key))).toBe(true)
  expect(keys).toHaveLength(4)
})
