// The snippets of the pages run, each in a process of its own.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { transformWithOxc } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pages, snippetsOf, textOf } from './_pages.ts'
import { buildPage } from './devtools/_page.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
// Within the package, so that the snippets find `toolwright` by its own name.
const folder = join(root, 'tests', `.snippets-${process.pid}`)
/** What the snippets write, which a reader would find in `/tmp`. */
let temporary = ''

beforeAll(async () => {
  mkdirSync(folder, { recursive: true })
  temporary = realpathSync(mkdtempSync(join(tmpdir(), 'snippets-')))
  await buildPage() // which a snippet serves
})
afterAll(() => {
  for (const one of [folder, temporary]) if (one !== '') rmSync(one, { recursive: true, force: true })
})

const snippetsIn = (language: string): (readonly [index: number, page: string, code: string])[] =>
  pages.flatMap((page) => snippetsOf(textOf(page), language).map((code, index) => [index + 1, page, code] as const))

async function expectToPrint(file: string): Promise<void> {
  const env = { ...process.env, TMPDIR: temporary }
  const { stdout } = await run(process.execPath, ['-C', '@toolwright/source', file], { cwd: root, env })
  expect(stdout).not.toBe('')
}

describe('the pages', () => {
  it.concurrent.each(snippetsIn('ts'))('have a snippet %i in %s that runs', async (index, page, code) => {
    const file = join(folder, `${page.replaceAll('/', '-')}-${index}.ts`)
    writeFileSync(file, code.replaceAll(/(?<=['"`])\/tmp(?=\/)/g, temporary))
    await expectToPrint(file)
  })
})

describe('the pages of components', () => {
  it.each(snippetsIn('tsx'))('have a snippet %i in %s that runs', async (index, page, code) => {
    const file = join(folder, `${page.replaceAll('/', '-')}-${index}.mjs`)
    const jsx = { runtime: 'automatic', development: false } as const
    writeFileSync(file, (await transformWithOxc(code, file.replace(/mjs$/, 'tsx'), { jsx })).code)
    await expectToPrint(file)
  })
})
