import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')

/** Runs a program of this folder on the sources, in a process where nothing else has run. */
async function printed(program: string, call: string, flags: readonly string[] = []): Promise<string> {
  const source = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
  const { stdout } = await run(process.execPath, [...source, ...flags, join(import.meta.dirname, program), call], {
    cwd: root,
  })
  return stdout
}

// Counted, not timed: the same on a busy machine. The limits are a twentieth above what is needed; lower them with it.
const kilobytes = { direct: 3.6, bare: 6.6, 'bare, compiled': 5.35, 'an async handler': 7.7, journaled: 11 }

describe('the heap', () => {
  // With a new space that holds all of it, nothing is collected between the two readings. What V8 compiles beside the calls is
  // ready later on a busy machine, and the calls until then take more bytes: so they wait for it.
  const space = ['--min-semi-space-size=128', '--max-semi-space-size=128']
  const flags = ['--expose-gc', '--no-concurrent-recompilation', ...space]

  it.concurrent.each(Object.entries(kilobytes))(
    'takes no more for a call than it has to: %s, %d kB',
    async (call, limit) => {
      expect(Number(await printed('_count-bytes.ts', call, flags)) / 1e3).toBeLessThanOrEqual(limit)
    },
    60_000,
  )
})

describe('a call', () => {
  const makings: Record<keyof typeof kilobytes, Record<string, number>> = {
    direct: {},
    bare: {},
    'bare, compiled': {},
    // The timer that releases a caller is set a turn later, for what is not done by then.
    'an async handler': {},
    journaled: {},
  }

  it.concurrent.each(Object.entries(makings))(
    'makes no timer, controller, error or random value that it does not need: %s',
    async (call, needed) => {
      expect(JSON.parse(await printed('_count-makings.ts', call))).toEqual(needed)
    },
    60_000,
  )
})

describe('the reader of JSON text', () => {
  it.concurrent.each(['rows', 'escaped rows', 'colons before an escape'])(
    'takes time in proportion to the text after it has been used often: %s',
    async (text) => {
      expect(Number(await printed('_read-warm.ts', text))).toBeLessThanOrEqual(20)
    },
    60_000,
  )
})
