// How much the sandbox costs: a command in bubblewrap against one without, a file against readFile, and searches against ripgrep.
// Needs bubblewrap and ripgrep. The longest hold of the event loop is in time of the processor, since other programs run beside this. Output is kept in files.
import { execFile } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createExecutor, type ToolExecutor } from 'toolwright'
import { bubblewrap } from 'toolwright/builtins/bubblewrap'
import { localSandbox } from 'toolwright/builtins/local'
import type { Sandbox } from 'toolwright/builtins/sandbox'
import { shellTools, workspaceTools } from 'toolwright/builtins/tools'
import { fileStore } from 'toolwright/stores/file'
import { printTable, rowsOf } from './_results.ts'

const root = mkdtempSync(join(tmpdir(), 'toolwright-bench-'))
const kept = mkdtempSync(join(tmpdir(), 'toolwright-bench-store-'))
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined
if (user !== undefined) chownSync(root, user.uid, user.gid)
function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
for (let index = 0; index < 200; index++) {
  const lines = Array.from({ length: 120 }, (_, line) => `export const value${line} = compute(${index}, ${line * 7})`)
  const last = index % 20 === 0 ? 'needle here\n' : ''
  put(`src/a${index % 5}/b${index % 3}/file${index}.ts`, `${lines.join('\n')}\n${last}`)
}
for (let index = 0; index < 5_000; index++) put(`many/${index % 50}/file${index}.txt`, `text ${index}\n`)
put('large.txt', 'a line of a large file\n'.repeat(45_000))
put('edited.txt', `${'a line of a file that is edited\n'.repeat(240_000)}the last 0\n`)

const local = await localSandbox({ root, report: () => {} })
const walled = await bubblewrap({ root, ...(user && { user }) })
const executorOf = (sandbox: Sandbox): ToolExecutor =>
  createExecutor({
    use: [workspaceTools(sandbox), shellTools(sandbox, { requiresConfirmation: false }), fileStore(kept)],
  })
const [ofLocal, ofWalled] = [executorOf(local), executorOf(walled)]
const rg = (): Promise<unknown> =>
  promisify(execFile)('rg', ['--no-config', '-e', 'need[l]e h.re', 'src'], { cwd: root })
const grep = (executor: ToolExecutor) => () =>
  executor.execute({ name: 'fs_grep', args: { pattern: 'need[l]e h.re', path: 'src' } })

/** Runs variants in turn, each several times a round. The first is the measure of the others. */
async function compare(
  title: string,
  variants: Readonly<Record<string, () => Promise<unknown>>>,
  rounds: number,
  times = 1,
): Promise<void> {
  const samples = Object.fromEntries(Object.keys(variants).map((name) => [name, [] as number[]]))
  const entries = Object.entries(variants)
  for (let round = -3; round < rounds; round++) {
    for (const [name, work] of round % 2 === 0 ? entries : entries.toReversed()) {
      const start = performance.now()
      for (let index = 0; index < times; index++) await work()
      if (round >= 0) samples[name]!.push(((performance.now() - start) / times) * 1e6)
    }
  }
  printTable(rowsOf(title, samples))
}

await compare(
  'a command that does nothing',
  { local: () => local.exec('true'), bubblewrap: () => walled.exec('true') },
  21,
)
const path = 'src/a0/b0/file0.ts'
await compare(
  'a file of 6 kB, three levels deep',
  { 'node:fs': () => readFile(join(root, path)), sandbox: () => local.readFile(path) },
  41,
  20,
)
await compare(
  'a search in 200 files, 1.1 MB',
  {
    'ripgrep, by node:child_process': rg,
    'fs_grep, own engine': grep(ofLocal),
    'fs_grep, ripgrep in bubblewrap': grep(ofWalled),
  },
  21,
)

/** The most time of the processor that this thread takes without a turn of others, in nanoseconds. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const now = (): number => {
    const { user: own, system } = process.threadCpuUsage()
    return (own + system) * 1e3
  }
  let longest = 0
  let last = now()
  let next = setImmediate(function turn() {
    const at = now()
    longest = Math.max(longest, at - last)
    last = at
    next = setImmediate(turn)
  })
  await work().finally(() => clearImmediate(next))
  return Math.max(longest, now() - last)
}

const calls: Readonly<Record<string, (round: number) => readonly [tool: string, args: object]>> = {
  'fs_glob of 5,200 files': () => ['fs_glob', { pattern: '**/*.t{xt,s}' }],
  'fs_grep in 5,200 files': () => ['fs_grep', { pattern: 'text .*9$' }],
  'fs_grep with 45,000 matches': () => ['fs_grep', { pattern: '[a-z]', path: 'large.txt', mode: 'count' }],
  'fs_grep by a pattern of 1,000 steps': () => ['fs_grep', { pattern: '([a-z]+ ){1,150}[xyz]{500}', flags: 'i' }],
  'fs_read of 256 KiB': () => ['fs_read', { path: 'large.txt' }],
  'fs_edit of a file of 8 MB': (round) => [
    'fs_edit',
    { path: 'edited.txt', edits: [{ old: `the last ${round}`, new: `the last ${round + 1}` }] },
  ],
  'bash_run with 50 MB of output': () => ['bash_run', { command: 'head -c 50000000 /dev/zero | tr "\\0" x' }],
}
const turns: Record<string, number[]> = {}
for (let round = 0; round < 5; round++) {
  for (const [name, callOf] of Object.entries(calls)) {
    const [tool, args] = callOf(round)
    const taken = await longestTurn(async () => {
      const { status, error } = await ofLocal.execute({ name: tool, args })
      if (status !== 'ok') throw error ?? new Error(`${tool} ended as ${status}.`)
    })
    ;(turns[name] ??= []).push(taken)
  }
}
printTable(rowsOf('the longest hold of the event loop', turns).map((row) => ({ ...row, ratio: NaN })))

await ofLocal.close()
await ofWalled.close()
await walled.close()
await local.close()
for (const directory of [root, kept]) rmSync(directory, { recursive: true })
