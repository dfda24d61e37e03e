import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { globSync } from 'tinyglobby'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundlers, bundleWith, missing, packForNode } from '../portable/_bundlers.ts'
import { application, installation, unbuilt } from '../portable/_packed.ts'

const reason = unbuilt ?? missing
if (reason !== undefined) console.warn(`The guards of bundlers are skipped: ${reason}.`)

let folder = ''
beforeAll(() => {
  if (reason !== undefined) return
  folder = application()
  mkdirSync(join(folder, 'programs'))
  for (const [name, code] of Object.entries(programs)) writeFileSync(fileOf(name), code)
})
afterAll(() => {
  if (folder !== '') rmSync(folder, { recursive: true, force: true })
})

function fileOf(program: string): string {
  return join(folder, 'programs', `${program}.js`)
}

const add = `tool({ name: 'add', description: 'Adds', inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }, handler: ({ a }) => ({ sum: a + 1 }) })`
const programs = {
  id: `import { computeCallId } from 'toolwright'
globalThis.outcome = computeCallId('add', { a: 1 })`,
  tool: `import { tool } from 'toolwright'
globalThis.outcome = JSON.stringify(${add}.describe())`,
  app: `import { createExecutor, tool } from 'toolwright'
const executor = createExecutor({ tools: [${add}] })
globalThis.outcome = executor.executeToolCalls([{ name: 'add', args: '{"a":1}' }, { name: 'add', args: { a: 'x' } }]).then((results) => results.map(({ status, callId }) => status + ' ' + callId).join())`,
  full: `import { createExecutor, tool } from 'toolwright'
import { anthropic } from 'toolwright/formats/anthropic'
import { artifactTools } from 'toolwright/artifacts/tools'
const executor = createExecutor({ tools: [${add}], use: [artifactTools()] })
const format = anthropic()
globalThis.outcome = executor.executeToolCalls(format.calls({ role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'add', input: { a: 1 } }] })).then((results) => JSON.stringify(format.results(results)) + format.definitions(executor.tools()).length)`,
}

/** The most that each program may load at once, in bytes, compressed. Lower them with what there is. */
const limits = { id: 4_150, tool: 8_100, app: 48_730, full: 77_670 }
/** What some bundlers load beyond that. bun keeps functions of a chunk that only its other users need. */
const larger: Readonly<Record<string, Partial<typeof limits>>> = {
  esbuild: { full: 78_700 },
  bun: { app: 51_050, full: 81_540 },
  webpack: { tool: 8_380, app: 50_220 },
  rspack: { tool: 8_510, app: 50_170, full: 77_730 },
}

describe('programs that use the packed package are small in', () => {
  for (const name of Object.keys(bundlers)) {
    // webpack takes 5 s for each.
    const tried = name === 'webpack' ? (['tool', 'app'] as const) : (['id', 'tool', 'app', 'full'] as const)
    const bundled = async (): Promise<void> => {
      for (const program of tried) {
        const { eager, lazy, code } = await bundleWith(name, fileOf(program), join(folder, 'out', name, program))
        console.log(`${name} ${program}: ${(eager / 1e3).toFixed(1)} kB`)
        expect(eager, `${program} at once`).toBeLessThanOrEqual(larger[name]?.[program] ?? limits[program])
        // A method may be called `eval`.
        const foreign = code.match(/["'`]node:[a-z/]+["'`]|(?<![\w$.])(?:eval|new Function)\((?![^()]*\)\s*\{).{20}/g)
        expect(foreign ?? []).toEqual([])
        if (program === 'id' || program === 'tool') continue
        const engine = lazy.filter((chunk) => chunk.code.includes('unevaluatedProperties'))
        expect(
          engine.map(({ bytes }) => bytes <= 8_600),
          'the engine in a chunk of its own',
        ).toEqual([true])
      }
    }
    it.skipIf(reason !== undefined)(name, bundled, 300_000)
  }
})

describe('what bundlers make of the packed package runs:', () => {
  const run = (file: string): string => {
    const program = `await import(${JSON.stringify(file)}); console.log(await globalThis.outcome)`
    return execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }).trim()
  }

  it.skipIf(reason !== undefined).each(['esbuild', 'rollup', 'rolldown', 'vite', 'bun'])('%s', async (name) => {
    for (const program of ['id', 'app'] as const) {
      const out = join(folder, 'run', name, program)
      await bundleWith(name, fileOf(program), out)
      expect(run(join(out, 'main.js')), program).toBe(run(fileOf(program)))
    }
  })

  it.skipIf(reason !== undefined)('esbuild, as CommonJS for Node', async () => {
    const outfile = join(folder, 'run', 'app.cjs')
    const shape = { bundle: true, format: 'cjs', platform: 'node', minify: true } as const
    await build({ entryPoints: [fileOf('app')], outfile, ...shape, logLevel: 'error' })
    expect(run(outfile)).toBe(run(fileOf('app')))
  })
})

describe('a server is built without the packages that its program does not need, by', () => {
  const program = `import { createExecutor, tool } from 'toolwright'
import { EcmaScriptArtifact } from 'toolwright/artifacts/ecmascript'
import { Json5Artifact } from 'toolwright/artifacts/json'
import { ToonArtifact } from 'toolwright/artifacts/toon'
import { XmlArtifact } from 'toolwright/artifacts/xml'
import { YamlArtifact } from 'toolwright/artifacts/yaml'
import { openapiTools } from 'toolwright/imports/openapi'
import { postgresJournal } from 'toolwright/journals/postgres'
import { postgresStore } from 'toolwright/stores/postgres'
const address = 'postgres://nobody@localhost:1/none'
const executor = createExecutor({ tools: [tool('now', () => '12:00')], use: [postgresJournal(address)] })
console.log((await executor.execute({ name: 'now' })).error.message)
await executor.close()
console.log(typeof postgresStore(address))
console.log(await openapiTools('openapi: 3.1.0').catch(({ message }) => message))
for (const artifact of [EcmaScriptArtifact, Json5Artifact, ToonArtifact, XmlArtifact, YamlArtifact]) console.log(artifact.kind)`

  it.skipIf(reason !== undefined).each(['webpack', 'rspack'] as const)('%s', async (name) => {
    const bare = installation([])
    try {
      const entry = join(bare, 'program.js')
      writeFileSync(entry, program)
      await packForNode(name, entry, join(bare, 'out'))
      const printed = execFileSync(process.execPath, [join(bare, 'out', 'main.js')], { encoding: 'utf8' })
      expect(printed).toContain(
        'needs the package pg, which could not be loaded: install it, or give postgresJournal a pool',
      )
      expect(printed).toContain('YAML needs the package yaml')
    } finally {
      rmSync(bare, { recursive: true, force: true })
    }
  })
})

describe('every leaf is bundled for browsers, but for those of Node', () => {
  const ofNode = [
    'builtins/bubblewrap',
    'builtins/local',
    'builtins/sandbox-runtime',
    'builtins/tools',
    'client/node',
    'devtools/inspector',
    'distributed/bullmq',
    'journals/sqlite',
    'observers/tracing-channel',
    'stores/file',
  ]
  const root = join(import.meta.dirname, '..', '..')
  const families =
    'artifacts,builtins,client,devtools,distributed,formats,frameworks,journals,mcp,middleware,observers,policies,react,stores'
  const leaves = globSync([`src/{${families}}/*.{ts,tsx}`, 'validators/*.ts', 'src/{records,formats/kit}/index.ts'], {
    cwd: root,
    ignore: '**/_*',
  }).map((file) => file.replace(/^src\/|(?:\/index)?\.tsx?$/g, ''))

  it.skipIf(reason !== undefined).each(leaves.toSorted())('%s', async (leaf) => {
    const bundling = build({
      stdin: { contents: `export * from 'toolwright/${leaf}'`, resolveDir: folder },
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'esm',
      splitting: true,
      outdir: join(folder, 'none'),
      logLevel: 'silent',
    })
    const isBundled = await bundling.then(
      () => true,
      () => false,
    )
    expect(isBundled).toBe(!ofNode.includes(leaf))
  })
})
