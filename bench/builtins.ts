// How much the sandbox costs: a command in bubblewrap against one without, fs_read against readFile, and searches against
// ripgrep. Needs bubblewrap and ripgrep.
import { execFile } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createExecutor } from 'toolwright'
import { bubblewrap } from 'toolwright/builtins/bubblewrap'
import { localSandbox } from 'toolwright/builtins/local'
import { workspaceTools } from 'toolwright/builtins/tools'

const root = mkdtempSync(join(tmpdir(), 'toolwright-bench-'))
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined
if (user !== undefined) chownSync(root, user.uid, user.gid)
for (let index = 0; index < 200; index++) {
  const directory = join(root, `a${index % 5}/b${index % 3}/c`)
  mkdirSync(directory, { recursive: true })
  const lines = Array.from(
    { length: 120 },
    (_, line) => `export const value${line} = compute(${index}, ${line * 7}) // note`,
  )
  writeFileSync(join(directory, `file${index}.ts`), `${lines.join('\n')}\n${index % 20 === 0 ? 'needle here\n' : ''}`)
}
const local = await localSandbox({ root, report: () => {} })
const walled = await bubblewrap({ root, ...(user && { user }) })

/** The median of many runs, in milliseconds. */
async function median(work: () => Promise<unknown>, runs: number): Promise<number> {
  for (let index = 0; index < 3; index++) await work()
  const times: number[] = []
  for (let index = 0; index < runs; index++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times.toSorted((one, other) => one - other)[runs >> 1] ?? 0
}

async function compare(
  what: string,
  ours: () => Promise<unknown>,
  theirs: () => Promise<unknown>,
  runs: number,
): Promise<void> {
  const [us, them] = [await median(ours, runs), await median(theirs, runs)]
  process.stdout.write(
    `${what.padEnd(48)} ${us.toFixed(2).padStart(8)} ms ${them.toFixed(2).padStart(8)} ms ${(us / them).toFixed(1)}x\n`,
  )
}

const path = 'a0/b0/c/file0.ts'
const grep = (sandbox: typeof local): (() => Promise<unknown>) => {
  const executor = createExecutor({ use: [workspaceTools(sandbox)] })
  return () => executor.execute({ name: 'fs_grep', args: { pattern: 'need[l]e h.re' } })
}
const rg = (): Promise<unknown> => promisify(execFile)('rg', ['--no-config', '-e', 'need[l]e h.re', '.'], { cwd: root })

await compare(
  'exec true: bubblewrap, local',
  () => walled.exec('true'),
  () => local.exec('true'),
  15,
)
await compare(
  'readFile four levels deep: sandbox, node:fs',
  () => local.readFile(path),
  () => readFile(join(root, path)),
  200,
)
await compare('fs_grep of 200 files: own walk, rg', grep(local), rg, 7)
await compare('fs_grep of 200 files: rg in bubblewrap, rg', grep(walled), rg, 7)
await walled.close()
await local.close()
rmSync(root, { recursive: true })
