import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
  [
    'src/{artifacts,client,distributed,formats,frameworks,middleware,observers,policies}/*.ts',
    'src/journals/{memory,sql}.ts',
    'src/formats/kit/index.ts',
  ],
  {
    cwd: root,
    ignore: [
      '**/_*',
      'src/client/node.ts',
      'src/distributed/bullmq.ts',
      'src/frameworks/claude-agent.ts',
      'src/observers/tracing-channel.ts',
    ],
  },
).map((file) => file.replace(/^src\/|(?:\/index)?\.ts$/g, ''))
const ofNode = ['builtins/local', 'builtins/tools', 'client/node', 'journals/sqlite', 'stores/file']
// Their packages have many declarations, which the compilers before 7.0 take long to check.
const large = ['frameworks/claude-agent', 'mcp/client', 'mcp/server', 'validators/zod', 'validators/json-schema']
const program = (names: readonly string[]): string =>
  `${names.map((name, index) => `export * as leaf${index} from 'toolwright/${name}'`).join('\n')}
import { createExecutor, Tool, tool, type ToolExecutor } from 'toolwright'
export const add = tool({
  name: 'add',
  description: 'Adds',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  handler: ({ a }) => a.toFixed(2),
})
export class Forecast extends Tool<{ city: string }, { sky: string }> {
  constructor() {
    const handler = ({ city }: { city: string }) => ({ sky: city })
    const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
    super({ name: 'forecast', description: 'Forecasts', inputSchema, handler })
  }
}
export const tools: Tool[] = [add, add.with({ requiresConfirmation: ({ a }) => a > 9 }), new Forecast(), tool('now', () => 1)]
export const byName: Readonly<Record<string, Tool>> = { hour: tool('hour', ({ zone }: { zone: string }) => zone) }
export const executor: ToolExecutor = createExecutor({ tools })
export const closed: PromiseLike<void> = executor[Symbol.asyncDispose]()
`

/** Exports values whose types are inferred from deep within those of formats: each has to have a name that a program can import. */
const inferred = `import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { aiSdkTools } from 'toolwright/frameworks/ai-sdk'
import { add, executor } from './library.js'
const tools = executor.tools()
const results = await executor.executeToolCalls([])
export const formats = [aiSdk(), anthropic(), gemini(), mcp(), openai(), openaiResponses()] as const
export const [sdkTool, anthropicTool, geminiTool, mcpTool, openaiTool, responsesTool] = [
  ...aiSdk().definitions(tools), ...anthropic().definitions(tools), ...gemini().definitions(tools),
  ...mcp().definitions(tools), ...openai().definitions(tools), ...openaiResponses().definitions(tools),
]
export const sdkSchema = aiSdk().definitions(tools)[0]?.inputSchema
export const anthropicSchema = anthropic().definitions(tools)[0]?.input_schema
export const declarations = gemini().definitions(tools)[0]?.functionDeclarations
export const mcpSchema = mcp().definitions(tools)[0]?.inputSchema
export const openaiSchema = openai().definitions(tools)[0]?.function.parameters
export const responsesSchema = openaiResponses().definitions(tools)[0]?.parameters
export const sdkOutput = aiSdk().results(results).content[0]?.output
export const sdkValue = sdkOutput?.type === 'json' ? sdkOutput.value : undefined
export const anthropicParts = anthropic().results(results).content[0]?.content
export const geminiParts = gemini().results(results).parts[0]?.functionResponse.parts
export const responsesOutput = openaiResponses().results(results)[0]?.output
export const hosted = aiSdkTools({ executor, session: 's' })
export const told = hosted.tools['add']?.toModelOutput({ toolCallId: 'x', output: 1 })
export const typed = aiSdkTools({ executor, session: 's', tools: { add }, output: 'value', errors: 'output-error' })
export const typedAdd = typed.tools.add
`

/** A handler of Strands, with the import of its types and without. */
const strands = `import { tool, type ToolContext } from 'toolwright'
import type { Policy } from 'toolwright/extension'
export const email = tool({
  name: 'send_email',
  description: 'Sends an email',
  handler: (_input, { toolUse, invocationState }) => [toolUse.name, toolUse.toolUseId, invocationState],
})
export const nameOf = (context: ToolContext): string => context.toolUse.name
export const policy: Policy = { name: 'none', decide: (_call, { toolUse }) => ({ decision: 'deny', reason: toolUse.name }) }
`

let folder = ''
beforeAll(() => {
  if (reason !== undefined) return
  folder = application()
  writeFileSync(join(folder, 'pages.ts'), program(leaves))
  writeFileSync(join(folder, 'server.ts'), program([...leaves, ...ofNode]))
  writeFileSync(join(folder, 'all.ts'), program([...leaves, ...ofNode, ...large]))
  writeFileSync(join(folder, 'library.ts'), program([]))
  writeFileSync(join(folder, 'inferred.ts'), inferred)
  writeFileSync(join(folder, 'compat.ts'), `import 'toolwright/compat'\n${strands}`)
  writeFileSync(join(folder, 'no-compat.ts'), strands)
  copyFileSync(join(root, 'tests', 'formats', 'kit', 'acme.ts'), join(folder, 'acme.ts'))
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

  it.skipIf(reason !== undefined).each(['library', 'inferred', 'acme'])(
    'a library that exports what it makes of the package: the declarations of %s name public entries alone',
    (file) => {
      const outDir = join(folder, 'declared', file)
      const options = { module: 'nodenext', types: ['node'], declaration: true, noEmit: false, outDir }
      for (const version of ['5.8', '7.0'] as const) {
        expect(compiled(compilers[version], `${file} ${version}`, `${file}.ts`, options), version).toBe('')
        const declarations = readFileSync(join(outDir, `${file}.d.ts`), 'utf8')
        const named = [...declarations.matchAll(/(?:from |import\()["']([^"']+)["']/g)].map(([, name = '']) => name)
        expect(named.length).toBeGreaterThan(0)
        expect(named.filter((name) => !/^toolwright(?:\/[a-z]|$)/.test(name))).toEqual([])
      }
    },
    60_000,
  )

  it.skipIf(reason !== undefined).each(Object.entries(compilers))(
    'a handler that reads what Strands gives it, with the import of `toolwright/compat` alone: TypeScript %s',
    (version, compiler) => {
      for (const [name, setting] of Object.entries(settings)) {
        const options = { ...setting, skipLibCheck: true } // the tests above check the declarations
        expect(compiled(compiler, `compat ${version} ${name}`, 'compat.ts', options)).toBe('')
        const missing = compiled(compiler, `no-compat ${version} ${name}`, 'no-compat.ts', options)
        expect(missing).toMatch(/no-compat\.ts.*'toolUse' does not exist/)
        expect(missing).toMatch(/no-compat\.ts.*'invocationState' does not exist/)
        expect(missing.split('\n').every((line) => line.startsWith('no-compat.ts'))).toBe(true)
      }
    },
    120_000,
  )
})
