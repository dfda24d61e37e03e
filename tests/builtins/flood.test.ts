import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporary } from './_workspace.ts'

const run = promisify(execFile)

test('1 GB of output is kept whole, and takes 64 MB more at most', async () => {
  const length = 1_000_000_000
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning', '-C', '@toolwright/source']
  const args = [...flags, join(import.meta.dirname, '_flood.ts'), temporary(), temporary(), String(length)]
  const { stdout } = await run(process.execPath, args, { timeout: 280_000 })
  console.log(stdout.trim())
  const report = JSON.parse(stdout) as { readonly growth: number }
  expect(report).toMatchObject({ exitCode: 0, stdoutBytes: length, kept: length })
  expect(report.growth).toBeLessThanOrEqual(64_000_000)
}, 300_000)
