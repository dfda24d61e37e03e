import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { globSync } from 'tinyglobby'
import type * as Toolwright from 'toolwright'
import { describe, expect, it, onTestFinished } from 'vitest'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const leaves = globSync(
  [
    'src/{artifacts,client,devtools,formats,frameworks,journals,mcp,middleware,observers,policies,react,stores}/*.ts',
    'validators/*.ts',
  ],
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
  const isNamedAfterItsFactory = (leaf: string): boolean =>
    !/^(artifacts|client|devtools|frameworks|mcp|react)\//.test(leaf)

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

  it('prints results and registries by the names of their classes', async () => {
    const { createExecutor, tool, ToolRegistry } = (await import(join(root, 'dist', 'index.js'))) as typeof Toolwright
    const registry = new ToolRegistry([tool('now', () => '12:00')])
    const result = await createExecutor({ tools: registry.merge([]) }).execute({ name: 'now' })
    expect([result.constructor.name, registry.constructor.name]).toEqual(['CallResult', 'ToolRegistry'])
  })

  it.each(leaves.filter((leaf) => leaf.startsWith('frameworks/')))('loads no framework with %s', (leaf) => {
    const protocol = /^@modelcontextprotocol\// // what Claude's agent speaks
    const loaded = new Set([join(root, 'dist', `${leaf}.js`)])
    const packages: string[] = []
    for (const file of loaded) {
      for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^'"]*['"]([^'"]+)['"]/gm)) {
        if (name.startsWith('.')) loaded.add(join(file, '..', name))
        else if (!name.startsWith('#') && !protocol.test(name)) packages.push(name)
      }
    }
    expect(loaded.size).toBeGreaterThan(3)
    expect(packages).toEqual([])
  })

  it('has suites that a consumer runs in a vitest of its own', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-consumer-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(root, join(folder, 'node_modules/toolwright'))
    symlinkSync(join(root, 'node_modules/vitest'), join(folder, 'node_modules/vitest'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(
      join(folder, 'journal.test.js'),
      `import { describeJournal } from 'toolwright/conformance/journals'
      import { memoryJournal } from 'toolwright/journals/memory'
      describeJournal('mine', () => ({ open: () => memoryJournal() }))
      describeJournal('broken', () => ({ open: () => {
        const { journal } = memoryJournal()
        return { journal: { ...journal, claim: (record, owner) => journal.claim(record, owner) ?? { owner, number: 0 } } }
      } }))
      describeJournal('pageless', () => ({ open: () => {
        const { journal } = memoryJournal()
        return { journal: { ...journal, list: ({ before, ...query }) => journal.list(query) } }
      } }))`,
    )
    writeFileSync(
      join(folder, 'others.test.js'),
      `import { memoryStore } from 'toolwright'
      import { describeMiddleware } from 'toolwright/conformance/middleware'
      import { describeObserver } from 'toolwright/conformance/observers'
      import { describePolicy } from 'toolwright/conformance/policies'
      import { describeStore } from 'toolwright/conformance/stores'
      import { permissions } from 'toolwright/policies/permissions'
      describeStore('my store', (limits) => ({ store: memoryStore(limits) }))
      describeStore('broken store', (limits) => {
        const store = memoryStore(limits)
        const sessions = new Map()
        const write = async (source, options) => {
          const written = await store.write(source, options)
          sessions.set(written.handle, options.session)
          return written
        }
        return { store: { ...store, write, open: (handle) => store.open(handle, { session: sessions.get(handle) }) } }
      })
      describePolicy('my policy', { allowing: () => permissions({ mode: 'auto' }), asking: () => permissions({ mode: 'ask' }) })
      describePolicy('broken policy', { refusing: () => permissions({ mode: 'auto' }) })
      const decide = ({ input }) => { input.extra = true }
      describePolicy('adding policy', { allowing: () => ({ policies: [{ name: 'adds', decide }] }) })
      describeMiddleware('no middleware', () => ({ middleware: [] }))
      describeObserver('no observer', () => () => {})
      describeStore('no store', () => memoryStore())`,
    )
    const answer = join(folder, 'answer.json')
    const command = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--reporter', 'json']
    await run(process.execPath, [...command, '--outputFile', answer], { cwd: folder }).catch(() => {
      // The broken journal fails, as it should.
    })
    const { testResults } = JSON.parse(readFileSync(answer, 'utf8')) as {
      testResults: { assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[]
    }
    const outcomes = testResults.flatMap((file) => file.assertionResults)
    const statusesOf = (name: string): string[] =>
      outcomes.filter(({ fullName }) => fullName.startsWith(name)).map(({ status }) => status)
    expect(statusesOf('mine').length).toBeGreaterThan(50)
    expect(statusesOf('mine')).not.toContain('failed')
    expect(statusesOf('broken claims')).toContain('failed')
    expect(statusesOf('my store').length).toBeGreaterThan(50)
    expect(statusesOf('my policy').length).toBeGreaterThan(5)
    expect([...statusesOf('my store'), ...statusesOf('my policy')]).not.toContain('failed')
    const failures = outcomes.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
    expect(failures).toContain('broken store guards an artifact of another session is as unknown as one that never was')
    expect(failures).toContain('broken policy is a policy that refuses in one line, and nothing runs')
    expect(failures).toContain('adding policy is a policy that lets the call run')
    expect(failures.some((title) => title.startsWith('pageless lists pages of a few'))).toBe(true)
    for (const [name, words] of [
      ['no middleware', 'has no `middleware`'],
      ['no observer', 'is not `{ extension, said }`'],
      ['no store', '`make` gives `{ store }`'],
    ] as const) {
      const wrong = outcomes.filter(({ fullName, status }) => fullName.startsWith(name) && status !== 'skipped')
      expect(wrong.length).toBeGreaterThan(4)
      for (const { failureMessages } of wrong) expect(failureMessages.join()).toContain(words)
    }
  }, 120_000)

  it('is loaded by Node as one file, which its other entries share', async () => {
    const importsOf = (file: string): string[] =>
      [...readFileSync(join(root, 'dist', file), 'utf8').matchAll(/^(?:import|export)\b[^'"]*['"]([^'"]+)['"]/gm)].map(
        ([, name = '']) => name,
      )
    expect(new Set(importsOf('index.js'))).toEqual(new Set(['./core.js']))
    expect(importsOf('core.js')).toEqual([])
    const program = `const [{ ToolError, Tool }, errors] = await Promise.all(
      ['toolwright', 'toolwright/errors'].map((name) => import(name)))
      console.log(errors.ToolError === ToolError, Object.keys(errors).length > 10, typeof Tool)`
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: root })
    expect(stdout).toBe('true true function\n')
  })

  it('has a command that begins with the line that a shell needs', () => {
    expect(readFileSync(join(root, 'dist/cli/bin.js'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  })

  it('runs in a browser bundle, where code is never made from strings', async () => {
    const bundle = await build({
      stdin: {
        contents: `
          import { createExecutor, tool } from './dist/bundled/index.js'
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
