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

const skills = globSync('skills/{inside-a-framework,migrate-from-*}/SKILL.md', { cwd: join(root, 'src') }).toSorted()

describe.skipIf(missing !== undefined)('the skills of frameworks', () => {
  const snippets = skills.flatMap((skill) => snippetsOf(skill).map(([index, code]) => [index, skill, code] as const))

  test.each(snippets)('have a snippet %i in %s that runs', async (index, skill, code) => {
    expect(await run(`${skill.replaceAll('/', '-')}-${index}`, code)).not.toBe('')
  })
})

test.skipIf(missing !== undefined)(
  'the snippets of all these pages compile against the types of the frameworks',
  async () => {
    const target = join(folder, 'types')
    mkdirSync(target)
    for (const page of ['frameworks/README.md', 'MIGRATING.md', ...skills]) {
      for (const [index, code] of snippetsOf(page)) {
        // The compiler takes what a link leads to for another file, whose own imports it does not find.
        const linked = code.replaceAll("'./models/", "'../../models/")
        writeFileSync(join(target, `${page.replaceAll(/[/.]/g, '-')}-${index}.ts`), `${linked}\nexport {}\n`)
      }
    }
    const compilerOptions = { isolatedDeclarations: false, noUnusedLocals: false }
    const config = { extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'], exclude: [] }
    writeFileSync(join(target, 'tsconfig.json'), JSON.stringify(config))
    const compiler = join(root, 'node_modules', 'typescript7', 'bin', 'tsc')
    const checked = promisify(execFile)(process.execPath, [compiler, '-p', target])
    expect(await checked.catch((error: { stdout: string }) => error.stdout)).toMatchObject({ stdout: '' })
  },
)
