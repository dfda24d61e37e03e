import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutor, type ToolExecutor } from 'toolwright'
import type { FileAccess, Sandbox } from 'toolwright/builtins/sandbox'
import { workspaceTools } from 'toolwright/builtins/tools'
import { describe, expect, test } from 'vitest'
import { local, workspace } from './_workspace.ts'

const agents = Array.from({ length: 6 }, (_, index) => index)
const rounds = Array.from({ length: 20 }, (_, index) => index)
const mark = (round: number, agent: number): string => `<${round}:${agent}>`
const made = (round: number, agent: number): string => `[${round}:${agent}]`
const marked = rounds.flatMap((round) => agents.map((agent) => mark(round, agent))).join('\n')

/** An executor with a tool set of its own. */
function agentOf(sandbox: Sandbox): ToolExecutor {
  return createExecutor({ use: [workspaceTools(sandbox)] })
}

function edit(path: string, old: string, fresh: string): { readonly name: string; readonly args: object } {
  return { name: 'fs_edit', args: { path, edits: [{ old, new: fresh }] } }
}

/** Resolves when others have had the turn of the event loop several times. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}

/** A sandbox that, as a service may, does not answer a write of `slow`: only `release` ends it. */
function hanging(sandbox: Sandbox): {
  readonly sandbox: Sandbox
  readonly begun: Promise<void>
  readonly release: () => void
} {
  const begun = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const writeFile: FileAccess['writeFile'] = async (path, content, options) => {
    if (new TextDecoder().decode(content) !== 'hangs') return sandbox.writeFile(path, content, options)
    begun.resolve()
    await held.promise
    return sandbox.writeFile(path, content, options)
  }
  return { sandbox: { ...sandbox, writeFile }, begun: begun.promise, release: held.resolve }
}

describe('agents with tool sets of their own', () => {
  test.each([
    ['one sandbox', (root: string, first: Sandbox) => Promise.resolve(first), 'f'],
    ['sandboxes of their own over one directory', (root: string) => local(root), 'f'],
    ['a sandbox of a directory above, through links', (root: string) => local(join(root, '..')), 'root/link/../alias'],
  ])('lose no edit that was told to be made, on %s', async (_, another, path) => {
    const { root } = workspace({ f: marked, 'sub/x': '', link: '-> sub', alias: '-> f' })
    const first = await local(root)
    const executors = await Promise.all(
      agents.map(async (agent) => agentOf(agent % 2 === 0 ? first : await another(root, first))),
    )
    const done: string[] = []
    for (const round of rounds) {
      await Promise.all(
        executors.map(async (executor, agent) => {
          const name = agent % 2 === 0 ? 'f' : path
          await executor.execute({ name: 'fs_read', args: { path: name } })
          const change = edit(name, mark(round, agent), made(round, agent))
          if (!(await executor.execute(change)).isError) done.push(made(round, agent))
        }),
      )
    }
    const text = readFileSync(join(root, 'f'), 'utf8')
    expect(done.filter((each) => !text.includes(each))).toEqual([])
    expect(done.length).toBeGreaterThanOrEqual(rounds.length)
  })

  test('wait for each other, so that edits of a file that none of them read are all made', async () => {
    const { root } = workspace({ f: marked })
    const sandboxes = await Promise.all(agents.map(() => local(root)))
    const results = await Promise.all(
      sandboxes.map((sandbox, agent) => agentOf(sandbox).execute(edit('f', mark(0, agent), made(0, agent)))),
    )
    expect(results.map(({ error }) => error?.message)).toEqual(agents.map(() => undefined))
    for (const agent of agents) expect(readFileSync(join(root, 'f'), 'utf8')).toContain(made(0, agent))
  })
})

describe('a write that hangs', () => {
  test('keeps only writes of its own file waiting, and those until its call is aborted', async () => {
    const { root } = workspace({ slow: 'a', other: 'a' })
    const { sandbox, begun, release } = hanging(await local(root))
    const executor = agentOf(sandbox)
    const stop = new AbortController()
    const first = executor.execute(edit('slow', 'a', 'hangs'), { signal: stop.signal, session: 'one' })
    await begun
    expect((await executor.execute(edit('other', 'a', 'b'), { session: 'another' })).isError).toBe(false)
    let isOver = false
    const second = executor.execute(edit('slow', 'a', 'b'), { session: 'another' }).finally(() => (isOver = true))
    await idle()
    expect(isOver).toBe(false)
    stop.abort()
    expect((await first).status).toBe('cancelled')
    expect((await second).isError).toBe(false)
    release()
    await idle()
    expect(readFileSync(join(root, 'slow'), 'utf8')).toBe('b')
  })

  test('does not keep a call waiting that is aborted meanwhile, and lets the next in its turn', async () => {
    const { root } = workspace({ slow: 'a' })
    const { sandbox, begun, release } = hanging(await local(root))
    const executor = agentOf(sandbox)
    const first = executor.execute(edit('slow', 'a', 'hangs'))
    await begun
    const stop = new AbortController()
    const second = executor.execute(edit('slow', 'hangs', 'never'), { signal: stop.signal })
    const third = executor.execute(edit('slow', 'hangs', 'c'))
    await idle()
    stop.abort()
    expect((await second).status).toBe('cancelled')
    release()
    expect([(await first).isError, (await third).isError]).toEqual([false, false])
    expect(readFileSync(join(root, 'slow'), 'utf8')).toBe('c')
  })
})

test('edits of several files at once, in any order, wait for each other and never for good', async () => {
  const { root } = workspace({ a: '0', b: '0', c: '0' })
  const executors = await Promise.all(agents.map(async () => agentOf(await local(root))))
  const orders = ['abc', 'bca', 'cab', 'cba', 'acb', 'bac']
  const results = await Promise.all(
    executors.map((executor, agent) => {
      const edits = Array.from(orders[agent] ?? '', (path) => ({ path, old: '0', new: `0${'uvwxyz'[agent]}` }))
      return executor.execute({ name: 'fs_multi_edit', args: { edits } })
    }),
  )
  expect(results.map(({ error }) => error?.message)).toEqual(agents.map(() => undefined))
  const texts = ['a', 'b', 'c'].map((name) => readFileSync(join(root, name), 'utf8'))
  expect(new Set(texts).size).toBe(1)
  expect(Array.from(texts[0] ?? '').sort()).toEqual(Array.from('0uvwxyz'))
})

test('paths that lead to one file, by links too, are one file for edits of several', async () => {
  const { root } = workspace({ 'sub/f': '1', link: '-> sub', alias: '-> sub/f' })
  const edits = ['alias', 'link/f', 'sub/f'].map((path, index) => ({ path, old: `${index + 1}`, new: `${index + 2}` }))
  const { error } = await agentOf(await local(root)).execute({ name: 'fs_multi_edit', args: { edits } })
  expect(error?.message).toBeUndefined()
  expect(readFileSync(join(root, 'sub/f'), 'utf8')).toBe('4')
})
