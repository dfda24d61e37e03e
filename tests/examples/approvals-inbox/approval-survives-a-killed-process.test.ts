// A process asks for approval and is killed. Another one opens its journal, is given the answer, and does what was asked
// for, once.
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, expect, test } from 'vitest'

const directory = mkdtempSync(join(tmpdir(), 'toolwright-'))
const journal = join(directory, 'calls.db')
const traces = join(directory, 'traces')

afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Running {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  /** The first line that it says. */
  readonly said: Promise<Record<string, unknown>>
  readonly log: () => string
  readonly ended: Promise<string | number | null>
}

function start(...step: readonly string[]): Running {
  const file = join(import.meta.dirname, 'approval.ts')
  const child = spawn(process.execPath, ['-C', '@toolwright/source', file, ...step], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let log = ''
  child.stderr.on('data', (piece: Buffer) => void (log += piece.toString()))
  const ended = new Promise<string | number | null>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code)),
  )
  const said = new Promise<Record<string, unknown>>((resolve, reject) => {
    child.stdout.on('data', (piece: Buffer) => {
      output += piece.toString()
      const end = output.indexOf('\n')
      if (end >= 0) resolve(JSON.parse(output.slice(0, end)) as Record<string, unknown>)
    })
    child.once('close', () => reject(new Error(`it ended without a word: ${log}`)))
  })
  said.catch(() => {}) // whoever waits for it hears of it
  return { child, said, ended, log: () => log }
}

function transfers(): string[] {
  try {
    return readFileSync(traces, 'utf8').trim().split('\n')
  } catch {
    return []
  }
}

test('an approval outlives the process that asked for it, and is of use once', async () => {
  const asking = start('ask', journal, traces)
  const { status, token } = await asking.said
  expect(status).toBe('waiting')
  asking.child.kill('SIGKILL')
  expect(await asking.ended).toBe('SIGKILL')
  expect(transfers()).toEqual([])
  expect(asking.log()).toContain('call:waiting')
  expect(asking.log()).not.toContain(String(token))

  const answering = start('answer', journal, traces, String(token))
  expect(await answering.said).toEqual({
    status: 'ok',
    id: 'toolu_1',
    invocationId: 'transfer 1',
    content: [{ type: 'text', text: 'Transferred $500 to eve' }],
    sealed: 0,
    kept: 1,
  })
  expect(await answering.ended).toBe(0)
  expect(transfers()).toEqual(['$500 to eve'])

  const replaying = start('answer', journal, traces, String(token))
  expect(await replaying.said).toEqual({ code: 'E_APPROVAL_INVALID' })
  expect(await replaying.ended).toBe(0)
  expect(transfers()).toEqual(['$500 to eve'])
}, 60_000)
