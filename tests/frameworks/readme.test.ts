import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { globSync } from 'tinyglobby'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missing } from './_installed.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = join(import.meta.dirname, `.snippets-${process.pid}`)
/** The blocks of a page, each with its number. */
function snippetsOf(page: string): (readonly [number: number, code: string])[] {
  const text = readFileSync(join(root, 'src', page), 'utf8')
  return [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ''], index) => [index + 1, code] as const)
}

async function run(name: string, code: string): Promise<string> {
  const file = join(folder, `${name}.ts`)
  writeFileSync(file, code)
  const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
  return (await promisify(execFile)(process.execPath, [...flags, file], { cwd: root })).stdout
}

beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(import.meta.dirname, 'models'), join(folder, 'models'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.skipIf(missing !== undefined)('the page of the frameworks', () => {
  test.each(snippetsOf('frameworks/README.md'))(
    'has a snippet %i of at most 12 lines beside its imports that runs',
    async (index, code) => {
      expect(await run(`frameworks-${index}`, code)).not.toBe('')
      const lines = code.split('\n').filter((line) => line !== '' && !line.startsWith('import '))
      expect(lines.length).toBeLessThanOrEqual(12)
    },
  )
})

describe.skipIf(missing !== undefined)('the page of moving from another library', () => {
  test.each(snippetsOf('MIGRATING.md'))('has a snippet %i that runs', async (index, code) => {
    expect(await run(`moving-${index}`, code)).not.toBe('')
  })
})

describe.skipIf(missing !== undefined)('the skills of frameworks', () => {
  const skills = globSync('skills/{inside-a-framework,migrate-from-*}/SKILL.md', { cwd: join(root, 'src') }).toSorted()
  const snippets = skills.flatMap((skill) => snippetsOf(skill).map(([index, code]) => [index, skill, code] as const))

  test.each(snippets)('have a snippet %i in %s that runs', async (index, skill, code) => {
    expect(await run(`${skill.replaceAll('/', '-')}-${index}`, code)).not.toBe('')
  })
})
