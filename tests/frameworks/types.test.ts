import { execFile } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { missing } from './_installed.ts'

if (missing !== undefined) console.warn(`The types of the frameworks' tests are not checked: ${missing}`)

// The tests of this folder import packages of its own, so they are no part of the program that the root checks.
test.skipIf(missing !== undefined)(
  'the tests of the frameworks have no error of type, and the frameworks take what they are given',
  async () => {
    const root = join(import.meta.dirname, '..', '..')
    const compiler = join(root, 'node_modules', 'typescript7', 'bin', 'tsc')
    const checked = promisify(execFile)(process.execPath, [compiler, '-p', import.meta.dirname])
    expect(await checked.catch((error: { stdout: string }) => error.stdout)).toMatchObject({ stdout: '' })
  },
  300_000,
)
