import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

test('the assertions are those of node:test too, which counts what fails', async () => {
  const code = `
    import test from 'node:test'
    import { createExecutor, tool } from 'toolwright'
    import { expectCalls, observe } from 'toolwright/testing'
    const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
    observe(executor)
    await executor.execute({ name: 'now', args: { zone: 'utc' } })
    test('passes', () => expectCalls(executor).toHaveCalled('now', { args: { zone: 'utc' }, times: 1 }))
    test('fails', () => expectCalls(executor).toHaveCalled('now', { args: { zone: 'cet' } }))
  `
  const flags = ['-C', '@toolwright/source', '--input-type=module-typescript', '-e', code]
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined }
  const root = join(import.meta.dirname, '..', '..')
  const { stdout } = await run(process.execPath, flags, { cwd: root, env }).catch((error: { stdout: string }) => error)
  expect(stdout).toMatch(/ERR_ASSERTION/)
  expect(stdout).toMatch(/The nearest of 1: now/)
  expect(stdout).toMatch(/pass 1\b/)
  expect(stdout).toMatch(/fail 1\b/)
})
