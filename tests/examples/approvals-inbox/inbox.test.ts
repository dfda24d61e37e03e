// A process waits with two calls and is killed. Another one, which knows no token, finds them in its inbox and answers one,
// which runs once. A third finds only the other one.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startProgram, type RunningProgram } from './_process.ts'

const directory = mkdtempSync(join(tmpdir(), 'toolwright-'))
const journal = join(directory, 'calls.db')
const traces = join(directory, 'traces')

afterAll(() => rmSync(directory, { recursive: true, force: true }))

const start = (step: string): RunningProgram<unknown> => startProgram('inbox.ts', step, journal, traces)

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
