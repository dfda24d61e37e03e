// A process asks for approval and is killed. Another one opens its journal, is given the answer, and does what was asked
// for, once.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startProgram, type RunningProgram } from './_process.ts'

const directory = mkdtempSync(join(tmpdir(), 'toolwright-'))
const journal = join(directory, 'calls.db')
const traces = join(directory, 'traces')

afterAll(() => rmSync(directory, { recursive: true, force: true }))

const start = (...step: readonly string[]): RunningProgram<Record<string, unknown>> =>
  startProgram('approval.ts', ...step)

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
