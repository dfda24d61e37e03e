// What a reader copies from a page has to run where nothing is installed but what the page tells to install.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { globSync } from 'tinyglobby'
import { transformWithOxc } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installation, unbuilt } from './_packed.ts'

const root = join(import.meta.dirname, '..', '..')
if (unbuilt !== undefined) console.warn(`The blocks of the pages are not run as a reader runs them: ${unbuilt}.`)

interface Page {
  readonly path: string
  readonly blocks: readonly { readonly language: string; readonly code: string }[]
  /** The packages that the page tells to install, beside this one. */
  readonly packages: readonly string[]
}

function pageAt(path: string): Page {
  const text = readFileSync(join(root, path), 'utf8')
  const blocks = [...text.matchAll(/^```(tsx?)\n([^]*?)^```$/gm)].map(([, language = '', code = '']) => ({
    language,
    code,
  }))
  const commands = [...text.matchAll(/npm install ([^`\n]+)/g)].flatMap(([, names = '']) => names.trim().split(/\s+/))
  const packages = new Set(commands.filter((name) => name !== 'toolwright'))
  return { path, blocks: path === 'README.md' ? blocks : blocks.slice(0, 1), packages: [...packages] }
}

// The other pages need the frameworks: tests/frameworks/readme.test.ts runs their blocks.
const pages = [
  'README.md',
  ...globSync(['src/**/*.md', 'validators/README.md'], {
    cwd: root,
    ignore: ['src/frameworks/**', 'src/MIGRATING.md', 'src/skills/{inside-a-framework,migrate-from-*}/**'],
  }),
]
  .toSorted()
  .map((path) => pageAt(path))
  .filter(({ blocks }) => blocks.length > 0)

describe.skipIf(unbuilt !== undefined)('with only what the page tells to install', () => {
  let folder = ''
  beforeAll(() => {
    folder = installation([])
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Installs the packages of a page, and no others, beside the packed package. */
  function install(names: readonly string[]): void {
    const modules = join(folder, 'node_modules')
    for (const entry of readdirSync(modules)) {
      if (entry !== 'toolwright') rmSync(join(modules, entry), { recursive: true, force: true })
    }
    for (const name of names) {
      const target = join(root, 'node_modules', name)
      if (!existsSync(target)) throw new Error(`${name} is not a package that the tests have.`)
      mkdirSync(join(modules, name, '..'), { recursive: true })
      symlinkSync(target, join(modules, name))
    }
  }

  for (const { path, blocks, packages } of pages) {
    it(`${path} has blocks that run`, async () => {
      install(packages)
      const run = blocks.map(async ({ language, code }, index) => {
        const isComponent = language === 'tsx'
        const file = join(folder, `${path.replaceAll('/', '-')}-${index + 1}.${isComponent ? 'mjs' : 'ts'}`)
        const jsx = { runtime: 'automatic', development: false } as const
        writeFileSync(file, isComponent ? (await transformWithOxc(code, `${file}.tsx`, { jsx })).code : code)
        const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder })
        expect(stdout, `block ${index + 1}`).not.toBe('')
        return stdout
      })
      const outputs = await Promise.all(run)
      if (path === 'src/artifacts/README.md')
        expect(outputs.some((output) => output.includes('orders/4321 503'))).toBe(true)
    })
  }

  it('artifact_grep promises the model plain text, and finds it, if re2js is not installed', async () => {
    const program = `import { createExecutor, tool } from 'toolwright'
import { artifactTools } from 'toolwright/artifacts/tools'
const executor = createExecutor({ tools: [tool('log', () => 'a.b\\nacb\\n'.repeat(9_999))], use: [artifactTools()] })
const { handle } = await executor.execute({ name: 'log' })
const grep = executor.tools().find(({ name }) => name === 'artifact_grep').describe()
const ask = async (pattern) => (await executor.execute({ name: 'artifact_grep', args: { artifact: handle, pattern, limit: 2 } })).content[0].text
console.log(JSON.stringify({ grep, found: await ask('a.b'), none: await ask('^a') }))`
    const run = async (packages: readonly string[]): Promise<Record<'grep' | 'found' | 'none', unknown>> => {
      install(packages)
      const parameters = ['--input-type=module', '-e', program]
      const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: folder })
      return JSON.parse(stdout) as Record<'grep' | 'found' | 'none', unknown>
    }
    const [without, having] = [await run([]), await run(['re2js'])]
    expect(JSON.stringify(without.grep)).toContain('Plain text, not a regular expression')
    expect(JSON.stringify(without.grep)).not.toMatch(/RE2|literal|match a pattern/)
    expect(without.found).toMatch(/^0: a\.b\n2: a\.b\n/)
    expect(without.none).toMatch(/^\(No line contains this text/)
    expect(JSON.stringify(having.grep)).toContain('A regular expression (RE2 syntax')
    expect(having.found).toMatch(/^0: a\.b\n1: acb\n/)
    expect(having.none).toMatch(/^0: a\.b\n1: acb\n/)
  })
})
