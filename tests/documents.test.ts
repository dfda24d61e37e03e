import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { globSync } from 'tinyglobby'
import * as door from 'toolwright'
import { createExecutor, type CallStatus } from 'toolwright'
import * as errorsDoor from 'toolwright/errors'
import * as extensionDoor from 'toolwright/extension'
import * as recordsDoor from 'toolwright/records'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fieldNames } from '../src/kernel/tool/checks.ts'
import { everyPage, pages, snippetsOf, textOf } from './_pages.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
// Within the package, so that the snippets find `toolwright` by its own name.
const folder = join(root, 'tests', `.snippets-${process.pid}`)

/** The examples of the documentation comments of a file in one language, with what stands before each line taken away. */
function examplesOf(file: string, language: string): string[] {
  const comments = textOf(file).matchAll(/@example[ \n]([^]*?)(?=\n\s*\* @|\n?\s*\*\/)/g)
  return [...comments].flatMap(([, lines = '']) => {
    const text = lines.replace(/^\s*\* ?/gm, '') + '\n'
    if (text.includes('```')) return snippetsOf(text, language)
    return language === 'ts' ? [`${surroundings}${text}}}\n`] : []
  })
}

/** What an example without imports finds around it: the names of the doors, and what a program has at that place. */
const surroundings = `
import { ${Object.keys(door).join(', ')} } from 'toolwright'
import { ${Object.keys(extensionDoor).join(', ')} } from 'toolwright/extension'
import { ${Object.keys(recordsDoor).join(', ')}, type Fence, type Journal, type OpenJournaled } from 'toolwright/records'
import { memoryJournal } from 'toolwright/journals/memory'
import type { ToolEvent, ToolExecutor } from 'toolwright'
import type { ToolCallRecord } from 'toolwright/extension'
async function example(
  executor: ToolExecutor, error: unknown, artifact: unknown, events: readonly ToolEvent[], record: ToolCallRecord, digest: string,
  fence: Fence, idle: number, journal: OpenJournaled, settlement: Parameters<typeof settlementFields>[0],
) {{
`

beforeAll(() => mkdirSync(folder, { recursive: true }))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Pages of words, figures and files, and not of what one does.
const withoutRecipe = ['src/README.md', 'src/kernel/ARCHITECTURE.md', 'bench/README.md']

describe('the snippets of the pages and the examples in the documentation comments', () => {
  const isAlone = (code: string): boolean => code.includes('declare module')
  const snippets = pages.flatMap((page) =>
    ['ts', 'tsx'].flatMap((language) =>
      snippetsOf(textOf(page), language).map((code, index) => ({
        name: `${page.replaceAll(/[/.]/g, '-')}-${index + 1}.${language}`,
        code: `${code}\nexport {}\n`,
      })),
    ),
  )

  // Together, since the compiler reads the sources for them only once then.
  it('compile, every one of them', async () => {
    const files = globSync(['src/**/*.ts', 'validators/**/*.ts'], { cwd: root })
    const examples = ['ts', 'tsx'].flatMap((language) =>
      files.flatMap((file) => examplesOf(file, language).map((code) => ({ file, language, code }))),
    )
    expect(examples.length).toBeGreaterThan(200)
    const named = examples.map(({ file, language, code }, index) => ({
      name: `example-${index}.${language}`,
      code: `// ${file}\n${code}\nexport {}\n`,
    }))
    await expectToCompile('compiled', [...snippets.filter(({ code }) => !isAlone(code)), ...named])
  }, 240_000)

  // The others would have its types too.
  it('compile, one that merges types of its own into the package', async () => {
    const alone = snippets.filter(({ code }) => isAlone(code))
    expect(alone).toHaveLength(1)
    await expectToCompile('compiled-alone', alone)
  }, 240_000)

  async function expectToCompile(name: string, sources: readonly { name: string; code: string }[]): Promise<void> {
    const target = join(folder, name)
    mkdirSync(target)
    for (const source of sources) writeFileSync(join(target, source.name), source.code)
    // An underscore in front of a name that is only shown would make an example harder to read.
    const compilerOptions = { isolatedDeclarations: false, noUnusedLocals: false, jsx: 'react-jsx' }
    const config = { extends: '../../../tsconfig.json', compilerOptions, include: ['*.ts', '*.tsx'] }
    writeFileSync(join(target, 'tsconfig.json'), JSON.stringify(config))
    const compiler = join(root, 'node_modules', 'typescript7', 'bin', 'tsc')
    const { stdout } = await run(process.execPath, [compiler, '-p', target]).catch((error: { stdout: string }) => error)
    expect(stdout).toBe('')
  }
})

describe('the page of each family', () => {
  const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly peerDependencies: Readonly<Record<string, string>>
  }
  const families = pages
    .filter((page) => /^(?:src\/\w+|validators)\/README/.test(page))
    .map((page) => page.replace('/README.md', ''))
  const importing = /^(?:import|export) (?!type )[^']*? from '([^'.][^']*)'|\bimport\('([^'.][^']*)'\)/gm

  it.each(families)('names the packages that the leaves of %s need', (family) => {
    const files = globSync(`${family}/**/*.{ts,tsx}`, { cwd: root, ignore: '**/page/**' })
    const imported = files
      .flatMap((file) => [...readFileSync(join(root, file), 'utf8').matchAll(importing)])
      .map(([, still = '', late = still]) => (late === '#pg' ? 'pg' : late))
    const needed = Object.keys(peerDependencies).filter((name) =>
      imported.some((each) => each === name || each.startsWith(`${name}/`)),
    )
    const code = [...readFileSync(join(root, family, 'README.md'), 'utf8').matchAll(/`([^`\n]+)`/g)]
    const named = new Set(code.flatMap(([, words = '']) => words.replace(/^npm install /, '').split(' ')))
    expect(needed.filter((name) => !named.has(name))).toEqual([])
  })
})

describe('the README', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')

  it('has at most 120 lines, 800 words, and 16 rows of tables, none wider than 120 characters', () => {
    const lines = readme.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(120)
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(800)
    const rows = lines.filter((line) => line.startsWith('|'))
    expect(rows.length).toBeLessThanOrEqual(16)
    expect(rows.filter((row) => row.length > 120)).toEqual([])
  })

  it('says how to install the package', () => {
    expect(readme).toMatch(/^npm install toolwright zod$/m)
  })

  it('shows twelve lines, and what they print', async () => {
    const [first = ''] = snippetsOf(readme)
    const [, printed] = /\n\/\/ (.*)\n$/.exec(first) ?? []
    expect(first.trimEnd().split('\n').length).toBeLessThanOrEqual(13)
    const flags = ['-C', '@toolwright/source', '--input-type=module-typescript', '-e']
    const { stdout } = await run(process.execPath, [...flags, first], { cwd: root })
    expect(stdout.trimEnd()).toBe(printed)
  })

  it('names the two commands that a fresh clone needs', () => {
    expect(readme).toContain('npm ci && npm start')
    expect(readme).toContain('npm ci && npm test')
  })

  it('tells of every status of a call', () => {
    const statuses: Record<CallStatus, true> = {
      ok: true,
      error: true,
      denied: true,
      timed_out: true,
      cancelled: true,
      waiting: true,
    }
    expect(rowsOf(readme, '`status`').map(([status = '']) => status.replaceAll('`', ''))).toEqual(Object.keys(statuses))
  })
})

describe('the page of the errors', () => {
  const page = textOf('src/kernel/ERRORS.md')

  it('tells of every error code of the kernel, and which errors are retryable', () => {
    const codeRows = rowsOf(page, 'Code').flatMap(([codes = '', retryable = '']) =>
      codes.split(' ').map((code) => [code.replaceAll('`', ''), /^yes\b/.test(retryable)] as const),
    )
    const classes = Object.values(errorsDoor).filter((value) => isErrorClass(value))
    const known = classes.map((Class) => [Class.code, new Class('').retryable] as const)
    expect(codeRows).toHaveLength(known.length)
    expect(Object.fromEntries(codeRows)).toEqual(Object.fromEntries(known))
    const table = readFileSync(join(root, 'src', 'kernel', 'errors.ts'), 'utf8').matchAll(/^ {2}(E_\w+): \[/gm)
    expect(new Set(codeRows.map(([code]) => code))).toEqual(new Set(Array.from(table, ([, code]) => code)))
  })

  function isErrorClass(value: unknown): value is typeof errorsDoor.InternalError {
    return (
      typeof value === 'function' &&
      value !== errorsDoor.ToolError &&
      value.prototype instanceof Error &&
      'code' in value
    )
  }
})

describe('the page of tools and calls', () => {
  const page = textOf('src/kernel/README.md')
  const names = [...page.matchAll(/^\| `(\w+)`(?:, `(\w+)`)* +\|/gm)].map(([, name]) => name)

  it('has every option of `tool()` in a table, with an example', () => {
    expect(fieldNames.length).toBeGreaterThan(30)
    expect(fieldNames.filter((name) => !new RegExp(`^\\| \`${name}\` +\\| \`[^\`]+\` +\\|`, 'm').test(page))).toEqual(
      [],
    )
  })

  it('has every option of `createExecutor` in a table, with an example', () => {
    let words = ''
    try {
      createExecutor({ none: 1 } as never)
    } catch (error) {
      words = (error as Error).message
    }
    const [, list = ''] = /its options are ([^.]+)\./.exec(words) ?? []
    const options = list.split(', ')
    expect(options.length).toBeGreaterThan(8)
    expect(options.filter((name) => !names.includes(name))).toEqual([])
  })
})

describe('the page of the events', () => {
  it('has every event in a table', () => {
    const rows = rowsOf(textOf('src/kernel/EVENTS.md'), 'Event').map(([name = '']) => name.replaceAll('`', ''))
    let words = ''
    try {
      createExecutor().on('none' as never, () => {})
    } catch (error) {
      words = (error as Error).message
    }
    const known = words.match(/\b(?:call|tool):\w+/g) ?? []
    expect(known).toHaveLength(9)
    expect(rows.toSorted()).toEqual(known.toSorted())
  })
})

describe('the sections of the pages', () => {
  const withoutCode = (text: string): string => text.replace(/^```[^]*?^```$/gm, '')

  /** The places of a page that a link may name, as those who show pages make them of its headings. */
  function placesIn(page: string): Set<string> {
    const headings = [...withoutCode(textOf(page)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
    return new Set(
      headings.map((heading) =>
        heading
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      ),
    )
  }

  it.each(everyPage)('are where %s says', (page) => {
    const links = [...textOf(page).matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)]
    const lost = links.filter(([, file = '', place = '']) => {
      if (/^L\d+$/.test(place)) return false
      return !placesIn(file === '' ? page : join(page, '..', file)).has(place)
    })
    expect(lost.map(([link]) => link)).toEqual([])
  })

  // A script writes the page of the benches, and the front page links to others.
  const read = everyPage.filter((page) => !/^(?:bench\/)?README/.test(page))

  it.each(read.filter((page) => textOf(page).split('\n').length > 160))(
    'are listed at the beginning of %s, which is long',
    (page) => {
      const [list = ''] = /^On this page: [^]*?\.$/m.exec(textOf(page).split('\n').slice(0, 60).join('\n')) ?? []
      const sections = [...withoutCode(textOf(page)).matchAll(/^## (.+)$/gm)].length
      expect([...list.matchAll(/\]\(#/g)].length).toBeGreaterThanOrEqual(sections)
    },
  )
})

describe('the pages of tasks', () => {
  it.each(everyPage.filter((page) => !withoutRecipe.includes(page)))(
    '%s has a recipe within its first 25 lines',
    (page) => {
      const screen = textOf(page).split('\n').slice(0, 25).join('\n')
      expect(screen).toMatch(/^```(?:tsx?|js|sh|console)\n[^]+?\n```$/m)
    },
  )
})

describe('the public names', () => {
  const entries = globSync(
    [
      'src/{index,errors,extension}.ts',
      'src/records/index.ts',
      'src/formats/kit/index.ts',
      'src/{artifacts,builtins,client,conformance,devtools,discovery,distributed,formats,frameworks,gates,imports,journals,mcp,middleware,observers,policies,react,repairs,stores,testing}/*.ts',
      'validators/*.ts',
    ],
    { cwd: root, ignore: '**/_*' },
  )
  const code = everyPage.flatMap((page) =>
    ['ts', 'tsx', 'js'].flatMap((language) => snippetsOf(textOf(page), language)),
  )

  // Functions, classes and constants. Types have the comments that an editor shows.
  it('are in a snippet of a page, all but 15: lower the number if you show one', async () => {
    const exported = await Promise.all(
      entries.map(async (file) => Object.keys((await import(join(root, file))) as object)),
    )
    const names = [...new Set(exported.flat())]
    expect(names.length).toBeGreaterThan(200)
    const shown = new Set(code.join('\n').match(/[\w$]+/g))
    const hidden = names.filter((name) => !shown.has(name))
    expect(hidden.length, hidden.join(', ')).toBeLessThanOrEqual(15)
  })
})

/** The cells of the table of a page whose first column has this head. */
function rowsOf(page: string, head: string): string[][] {
  const lines = page.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`| ${head} `))
  const rows = lines.slice(start + 2, lines.indexOf('', start))
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
