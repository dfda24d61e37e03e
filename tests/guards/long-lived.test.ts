import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')

/** Runs a program of this folder on the sources, in a process where nothing else has run. */
async function printed(program: string, call: string, ...flags: readonly string[]): Promise<string> {
  const source = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning', '--expose-gc']
  const words = [...source, ...flags, join(import.meta.dirname, program), call]
  const { stdout } = await run(process.execPath, words, { cwd: root, maxBuffer: 2 ** 28 })
  return stdout
}

// Each process that lives for long collects all garbage now and then. If the compiled code went with it, thousands of calls after
// each collection would take twice the time. The `shapes.ts` of the kernel and of the records keep it.
describe('between two calls', () => {
  it.each(['plain', 'watched', 'recorded'])(
    'an object is alive of each hidden class that the objects of a call have: %s',
    async (call) => {
      expect(JSON.parse(await printed('_shapes.ts', call))).toEqual([])
    },
    60_000,
  )

  it.each(['bare', 'bare, compiled', 'an async handler', 'a large result', 'journaled', 'direct'])(
    'a full collection throws no compiled code away: %s',
    async (call) => {
      const [, after = ''] = (await printed('_long-lived.ts', call, '--trace-deopt')).split('-- full collection')
      const lost = after.matchAll(/<SharedFunctionInfo ([^>]*)>\) .*reason: embedded weak objects cleared/g)
      expect(Array.from(lost, ([, name]) => name)).toEqual([])
    },
    60_000,
  )
})
