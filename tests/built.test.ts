import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { globSync } from 'tinyglobby'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const leaves = globSync(
  ['src/{artifacts,formats,journals,mcp,middleware,observers,policies,stores}/*.ts', 'validators/*.ts'],
  {
    cwd: root,
    ignore: '**/_*',
  },
).map((file) => file.replace(/^src\//, '').replace(/\.ts$/, ''))

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

// `npm ci` builds; a checkout that was edited since is built anew by `npm run build`.
describe.runIf(existsSync(join(root, 'dist', 'index.js')))('the built package', () => {
  const isNamedAfterItsFactory = (leaf: string): boolean => !/^(artifacts|mcp)\//.test(leaf)

  it.each(leaves)('has %s under its public path', async (leaf) => {
    const path = join(root, 'dist', `${leaf}.js`)
    const module = (await import(path)) as Record<string, unknown>
    expect(Object.values(module).filter((each) => typeof each === 'function')).not.toEqual([])
  })

  it.each(leaves.filter(isNamedAfterItsFactory))('has %s with the factory that bears its name', async (leaf) => {
    const path = join(root, 'dist', `${leaf}.js`)
    const module = (await import(path)) as Record<string, unknown>
    const name = camelCase(leaf.split('/').at(-1) ?? '')
    // `stores/file` gives `fileStore`: the family's word follows where the name alone would say too little.
    const factories = Object.keys(module).filter((key) => key.startsWith(name) && typeof module[key] === 'function')
    expect(factories).toHaveLength(1)
  })

  it('has a command that begins with the line that a shell needs', () => {
    expect(readFileSync(join(root, 'dist/cli/bin.js'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  })

  it('runs in a browser bundle, where code is never made from strings', async () => {
    const bundle = await build({
      stdin: {
        contents: `
          import { createExecutor, tool } from './dist/index.js'
          const add = tool({
            name: 'add', description: 'Adds',
            inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
            handler: ({ a }) => ({ sum: a + 1 }),
          })
          globalThis.outcome = createExecutor({ tools: [add] }).executeToolCalls([
            { name: 'add', args: '{"a":1}' }, { name: 'add', args: { a: 'one' } },
          ])`,
        resolveDir: root,
      },
      bundle: true,
      write: false,
      format: 'iife',
      platform: 'browser',
    })
    const code = bundle.outputFiles[0]?.text ?? ''
    expect(code).not.toMatch(/require\(|node:/)
    const { crypto, TextEncoder, TextDecoder, performance, AbortController, setTimeout, clearTimeout, URL } = globalThis
    const sandbox: { outcome?: Promise<{ status: string; callId: string; content: unknown[] }[]> } = createContext(
      { crypto, TextEncoder, TextDecoder, performance, AbortController, setTimeout, clearTimeout, URL },
      { codeGeneration: { strings: false, wasm: false } },
    )
    runInContext(code, sandbox)
    const [sum, refused] = (await sandbox.outcome) ?? []
    expect(sum).toMatchObject({ status: 'ok', content: [{ type: 'json', text: '{"sum":2}' }] })
    expect(refused).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
  })
})
