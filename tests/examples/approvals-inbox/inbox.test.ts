// A process waits with two calls and is killed. Another one, which knows no token, finds them in its inbox and answers one,
// which runs once. A third finds only the other one.
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
  /** The first line on its stdout. */
  readonly said: Promise<unknown>
  readonly ended: Promise<string | number | null>
}

function start(step: string): Running {
  const file = join(import.meta.dirname, 'inbox.ts')
  const child = spawn(process.execPath, ['-C', '@toolwright/source', file, step, journal, traces], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let log = ''
  child.stderr.on('data', (piece: Buffer) => void (log += piece.toString()))
  const said = new Promise<unknown>((resolve, reject) => {
    child.stdout.on('data', (piece: Buffer) => {
      output += piece.toString()
      const end = output.indexOf('\n')
      if (end >= 0) resolve(JSON.parse(output.slice(0, end)))
    })
    child.once('close', () => reject(new Error(`it ended without a word: ${log}`)))
  })
  said.catch(() => {}) // the test may wait for its end alone
  const ended = new Promise<string | number | null>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code)),
  )
  return { child, said, ended }
}

test('an inbox outlives the process that asked: another lists and answers without a token, and the call runs once', async () => {
  const asking = start('ask')
  expect(await asking.said).toEqual(['waiting', 'waiting'])
  asking.child.kill('SIGKILL')
  expect(await asking.ended).toBe('SIGKILL')

  const question = (order: number): object => ({
    invocationId: `refund toolu_${order}`,
    prompt: `Refund order ${order}?`,
    args: { order, card: '[secret]' },
  })
  const answering = start('answer')
  expect(await answering.said).toMatchObject({
    waiting: expect.arrayContaining([question(7), question(8)]),
    copied: 'E_APPROVAL_INVALID',
    first: { status: 'ok', id: 'toolu_7', content: [{ type: 'text', text: 'Refunded order 7' }] },
    second: 'E_APPROVAL_INVALID',
    left: ['refund toolu_8'],
    record: { state: 'COMPLETED', decidedBy: 'ada' },
  })
  expect(await answering.ended).toBe(0)

  const late = start('answer')
  expect(await late.said).toMatchObject({
    waiting: [question(8)],
    first: 'E_APPROVAL_INVALID',
    second: 'E_APPROVAL_INVALID',
    left: ['refund toolu_8'],
    record: { state: 'COMPLETED', decidedBy: 'ada' },
  })
  expect(await late.ended).toBe(0)
  expect(readFileSync(traces, 'utf8')).toBe('7 to 4111\n')
}, 60_000)
