import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { application, unbuilt } from '../portable/_packed.ts'

const root = join(import.meta.dirname, '..', '..')
const installed = join(root, 'tests', 'portable', 'npm', 'node_modules')
const reason =
  unbuilt ?? (existsSync(join(installed, 'typescript5.8')) ? undefined : 'npm ci --prefix tests/portable/npm')
if (reason !== undefined) console.warn(`The guards of declarations are skipped: ${reason}.`)

/** The compilers, from the oldest that the declarations are for. */
const compilers = {
  '5.8': join(installed, 'typescript5.8'),
  '5.9': join(installed, 'typescript5.9'),
  '6.0': join(root, 'node_modules', 'typescript'),
  '7.0': join(root, 'node_modules', 'typescript7'),
}

/** How programs are compiled: on Node, and by bundlers for pages and Workers. */
const settings = {
  'nodenext, with the types of Node': { module: 'nodenext', lib: ['es2022'], types: ['node'] },
  'bundler, for pages': {
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
  },
  'bundler, for Workers': {
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'webworker', 'webworker.iterable', 'webworker.asynciterable'],
    types: [],
  },
}

const leaves = globSync(
  ['src/{artifacts,client,formats,middleware,observers,policies}/*.ts', 'src/journals/memory.ts'],
  {
    cwd: root,
    ignore: ['**/_*', 'src/client/node.ts', 'src/observers/tracing-channel.ts'],
  },
).map((file) => file.replace(/^src\/|\.ts$/g, ''))
const ofNode = ['client/node', 'journals/sqlite', 'stores/file']
// Their packages have many declarations, which the compilers before 7.0 take long to check.
const large = ['mcp/client', 'mcp/server', 'validators/zod', 'validators/json-schema']
const program = (names: readonly string[]): string =>
  `${names.map((name, index) => `export * as leaf${index} from 'toolwright/${name}'`).join('\n')}
import { createExecutor, tool, type ToolExecutor } from 'toolwright'
export const add = tool({
  name: 'add',
  description: 'Adds',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  handler: ({ a }) => a.toFixed(2),
})
export const executor: ToolExecutor = createExecutor({ tools: [add] })
export const closed: PromiseLike<void> = executor[Symbol.asyncDispose]()
`

let folder = ''
beforeAll(() => {
  if (reason !== undefined) return
  folder = application()
  writeFileSync(join(folder, 'pages.ts'), program(leaves))
  writeFileSync(join(folder, 'server.ts'), program([...leaves, ...ofNode]))
  writeFileSync(join(folder, 'all.ts'), program([...leaves, ...ofNode, ...large]))
  writeFileSync(join(folder, 'library.ts'), program([]))
})
afterAll(() => {
  if (folder !== '') rmSync(folder, { recursive: true, force: true })
})

/** Compiles a file, and returns what the compiler says. */
function compiled(compiler: string, name: string, file: string, options: object): string {
  const configuration = join(folder, `tsconfig.${name.replace(/\W+/g, '-')}.json`)
  const strict = {
    strict: true,
    target: 'es2022',
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
  }
  const compilerOptions = { noEmit: true, rootDir: '.', ...strict, ...options }
  writeFileSync(configuration, JSON.stringify({ compilerOptions, files: [file] }))
  const { stdout, stderr } = spawnSync(process.execPath, [join(compiler, 'bin', 'tsc'), '-p', configuration], {
    cwd: folder,
    encoding: 'utf8',
  })
  // What the declarations of other packages get wrong is not ours.
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => /error TS|Error/.test(line))
  return lines.filter((line) => !/^node_modules\/(?!toolwright\/)|^\.\./.test(line)).join('\n')
}

describe('the declarations of the packed package are right for', () => {
  for (const [version, compiler] of Object.entries(compilers)) {
    for (const [name, options] of Object.entries(settings)) {
      it.skipIf(reason !== undefined)(
        `TypeScript ${version}, ${name}`,
        () => {
          const server = version === '7.0' ? 'all.ts' : 'server.ts'
          const file = name.startsWith('nodenext') ? server : 'pages.ts'
          expect(compiled(compiler, `${version} ${name}`, file, options)).toBe('')
        },
        120_000,
      )
    }
  }

  it.skipIf(reason !== undefined)('a library that exports tools: its declarations name the package alone', () => {
    const outDir = join(folder, 'library')
    const options = { module: 'nodenext', types: ['node'], declaration: true, noEmit: false, outDir }
    expect(compiled(compilers['7.0'], 'library', 'library.ts', options)).toBe('')
    const [declarations = ''] = globSync('*.d.ts', { cwd: outDir })
    const { stdout } = spawnSync('cat', [join(outDir, declarations)], { encoding: 'utf8' })
    const named = [...stdout.matchAll(/(?:from |import\()["']([^"']+)["']/g)].map(([, specifier = '']) => specifier)
    expect(named.filter((specifier) => !/^toolwright(?:\/[a-z]|$)/.test(specifier))).toEqual([])
  })
})
