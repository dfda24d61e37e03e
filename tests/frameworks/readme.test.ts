import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missing } from './_installed.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = join(import.meta.dirname, `.snippets-${process.pid}`)
const page = readFileSync(join(root, 'src', 'frameworks', 'README.md'), 'utf8')
const snippets = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ''], index) => [index + 1, code] as const)

beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(import.meta.dirname, 'models'), join(folder, 'models'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.skipIf(missing !== undefined)('the page of the frameworks', () => {
  test.each(snippets)('has a snippet %i of at most 12 lines beside its imports that runs', async (index, code) => {
    const file = join(folder, `${index}.ts`)
    writeFileSync(file, code)
    const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, file], { cwd: root })
    expect(stdout).not.toBe('')
    const lines = code.split('\n').filter((line) => line !== '' && !line.startsWith('import '))
    expect(lines.length).toBeLessThanOrEqual(12)
  })
})
