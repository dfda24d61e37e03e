import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { missing } from '../servers/bubblewrap.ts'
import { end, withMark } from './_marks.ts'
import { temporary, workspace } from './_workspace.ts'

// More of them with KILLED_HOSTS=100, the same moments with KILLED_SEED, and another bwrap with KILLED_PROGRAM.
const hosts = Number(process.env['KILLED_HOSTS'] ?? 6)
const seed = Number(process.env['KILLED_SEED'] ?? Date.now() % 1_000_000_007)
const program = process.env['KILLED_PROGRAM']
const starts = 6
/** The latest moment in which a host is killed, in milliseconds after its first start. */
const latest = 80

let state = seed
/** Gives the same row of numbers from 0 up to 1 for the same seed. */
function random(): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
  return (state >>> 8) / (0x7fffffff >>> 8)
}

/** A host that is about to start commands, whose processes have the mark. */
async function hostOf(kind: string, root: string, cache: string): Promise<{ host: ChildProcess; mark: string }> {
  const mark = `mark-${randomUUID()}`
  onTestFinished(() => end(withMark(mark)))
  const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
  const words = [kind, root, mark, `${starts}`, ...(program === undefined || kind === 'local' ? [] : [program])]
  const host = spawn(process.execPath, [...flags, join(import.meta.dirname, '_host.ts'), ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  })
  await said(host)
  return { host, mark }
}

/** Waits until the host says something. */
async function said({ stdout }: ChildProcess): Promise<void> {
  if (stdout !== null) await once(stdout, 'data')
}

/** What ends the commands of a host: its child that is no command. */
function guardsOf({ pid }: ChildProcess): number[] {
  return withMark('held=').filter((each) => {
    try {
      return (
        readFileSync(`/proc/${each}/stat`, 'utf8')
          .replace(/^.*\) /, '')
          .split(' ')[1] === `${pid}`
      )
    } catch {
      return false
    }
  })
}

const patience = { timeout: 20_000 }

for (const kind of ['local', 'bubblewrap']) {
  describe.skipIf(kind === 'bubblewrap' && missing !== undefined)(`the host of ${kind} is killed`, () => {
    test(
      `while it starts commands, and nothing of them is left (seed ${seed})`,
      { timeout: 60_000 + hosts * 10_000 },
      async () => {
        const [{ root }, cache] = [workspace(), temporary()]
        for (let index = 0; index < hosts; index++) {
          const { host, mark } = await hostOf(kind, root, cache)
          const moment = performance.now() + random() * latest
          while (performance.now() < moment) await turn()
          host.kill('SIGKILL')
          await expect.poll(() => withMark(mark), { ...patience, message: `seed ${seed}, host ${index}` }).toEqual([])
        }
      },
    )

    test('while its commands run, and nothing of them is left', async () => {
      const { host, mark } = await hostOf(kind, workspace().root, temporary())
      await expect.poll(() => withMark(mark).length, patience).toBeGreaterThan(starts * 4)
      host.kill('SIGKILL')
      await expect.poll(() => withMark(mark), patience).toEqual([])
    })

    test('after what guards its commands has been killed and replaced, and nothing of them is left', async () => {
      const { host, mark } = await hostOf(kind, workspace().root, temporary())
      await expect.poll(() => withMark(mark).length, patience).toBeGreaterThan(starts * 4)
      const guards = guardsOf(host)
      expect(guards).toHaveLength(1)
      end(guards)
      await expect.poll(() => guardsOf(host).filter((each) => !guards.includes(each)), patience).toHaveLength(1)
      const isTold = said(host)
      host.stdin?.write('again\n')
      await isTold
      host.kill('SIGKILL')
      await expect.poll(() => withMark(mark), patience).toEqual([])
    })
  })
}

test('a host that ends by itself takes its commands in the background along', async () => {
  const { host, mark } = await hostOf('local', workspace().root, temporary())
  await expect.poll(() => withMark(mark).length, patience).toBeGreaterThan(starts * 4)
  host.kill('SIGTERM')
  await expect.poll(() => withMark(mark), patience).toEqual([])
})
