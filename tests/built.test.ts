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

/** Makes the folder of a consumer that has this package and vitest. It is gone after the test. */
function consumerFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-consumer-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/toolwright'))
  symlinkSync(join(root, 'node_modules/vitest'), join(folder, 'node_modules/vitest'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}

interface FileResult {
  readonly message: string
  readonly assertionResults: readonly {
    readonly fullName: string
    readonly status: string
    readonly failureMessages: readonly string[]
  }[]
}

/** Runs the tests of a consumer, and returns what its vitest says of each file. */
async function resultsIn(folder: string, ...options: readonly string[]): Promise<readonly FileResult[]> {
  const answer = join(folder, 'answer.json')
  const command = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--reporter', 'json']
  await run(process.execPath, [...command, '--outputFile', answer, ...options], { cwd: folder }).catch(() => {
    // What is broken fails, as it should.
  })
  return (JSON.parse(readFileSync(answer, 'utf8')) as { readonly testResults: readonly FileResult[] }).testResults
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
    const folder = consumerFolder()
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
      import { describeSandbox } from 'toolwright/conformance/sandboxes'
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
      describeSandbox('no sandbox', async () => undefined)
      describePolicy('no policy', { allowing: () => ({ name: 'mine', decide: () => undefined }) })
      describePolicy('absent policy', { refusing: () => undefined })
      describePolicy('odd policy', { allowing: () => ({ policies: [{ name: 'odd', decide: () => true }] }) })
      describeMiddleware('no middleware', () => ({ middleware: [] }))
      describeMiddleware('absent middleware', () => undefined)
      describeMiddleware('short middleware', () => ({ middleware: [async (context, next) => await next()] }))
      describeObserver('absent observer', () => undefined)
      describeObserver('no observer', () => () => {})
      describeStore('no store', () => memoryStore())`,
    )
    writeFileSync(
      join(folder, 'formats.test.js'),
      `import { describeFormat } from 'toolwright/conformance/formats'
      import * as kit from 'toolwright/formats/kit'
      const acme = (options = {}, format = 'acme') => {
        const optionsOf = ({ providerOptions }) => providerOptions.acme
        const schemas = kit.schemasOf({ dialect: { keywords: ['minimum', 'maximum', 'maxItems'] }, optionsOf, replaces: () => false }, {})
        const accept = (own, isHosted) => (isHosted ? { fault: 'Acme runs no tools' } : { options: own })
        const define = ({ name, description, inputSchema }) => ({ name, about: description, takes: inputSchema })
        const callsIn = (message) => kit.list(kit.read(message, 'asks'))
          .map((ask) => kit.toolCall(kit.read(ask, 'ref'), kit.read(ask, 'tool'), kit.read(ask, 'args')))
        const detect = (message) => kit.read(message, 'speaker') === 'acme'
        return {
          name: format,
          report: schemas.report,
          definitions: kit.definer({ optionsOf, accept, define }, options, schemas.plansOf),
          detect,
          calls(message, tools) {
            const calls = callsIn(message)
            if (calls.length === 0) kit.requireOwn(message, format, detect(message), 'a message of Acme')
            return schemas.lift(calls, tools)
          },
          results: (results, message, budget) => kit.answers(results, options, callsIn(message), budget)
            .map(({ result }) => ({ ref: kit.answerId(result), words: kit.renderText(result, options), failed: result.isError })),
        }
      }
      const calls = [{ id: 'r1', name: 'add', args: { a: 1 } }, { id: 'r2', name: 'add', args: {} }]
      const asking = (calls) => ({ speaker: 'acme', asks: calls.map(({ id, name, args }) => ({ ref: id, tool: name, args })) })
      const fixtures = {
        own: [{ title: 'two calls', message: asking(calls), calls }],
        foreign: [{ title: 'nothing', message: { role: 'user' }, calls: [] }],
        answersIn: (reply) => reply.map(({ ref, words, failed }) => ({ id: ref, text: words, failed })),
        asking,
        refused: { providerOptions: { acme: { hosted: true } } },
      }
      const suite = (name, change) =>
        describeFormat(name, (options) => ({ ...acme(options, name), ...change(acme(options, name)) }), fixtures)
      const changed = (change) => (format) => ({ results: (...given) => format.results(...given).map(change) })
      suite('right', () => ({}))
      suite('spendthrift', (format) => ({ results: (results, message) => format.results(results, message) }))
      suite('wordless', ({ definitions }) => ({ definitions: (tools) => definitions(tools).map(({ about, ...rest }) => rest) }))
      suite('backward', ({ definitions }) => ({ definitions: (tools) => definitions(tools).toReversed() }))
      suite('listless', ({ definitions }) => ({ definitions: (tools) => (tools.length ? definitions(tools) : undefined) }))
      suite('trimming', changed((one) => ({ ...one, words: one.words.trim() })))
      suite('cutting', changed((one) => ({ ...one, words: one.words.slice(0, 1_000) })))
      suite('small', (format) => ({ calls: (...given) => format.calls(...given).map((one) => ({ ...one, name: one.name.toLowerCase() })) }))
      suite('first', ({ results }) => ({
        results: (given, ...rest) => results(given.map((one) => ({ ...one, content: one.content.slice(0, 1) })), ...rest),
      }))`,
    )
    writeFileSync(
      join(folder, 'late-format.test.js'),
      `import { describeFormat } from 'toolwright/conformance/formats'
      describeFormat('late', async () => ({}), { own: [], foreign: [] })`,
    )
    const testResults = await resultsIn(folder)
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
    expect(statusesOf('right').length).toBeGreaterThan(20)
    expect(statusesOf('right')).not.toContain('failed')
    for (const [name, promise] of [
      ['spendthrift', 'all results of a turn are held to the budget, and each is still answered'],
      ['wordless', 'every tool is defined by its name and its description, in their order, and none by an empty list'],
      ['backward', 'every tool is defined by its name and its description, in their order, and none by an empty list'],
      ['listless', 'every tool is defined by its name and its description, in their order, and none by an empty list'],
      ['trimming', 'text goes out whole: its beginning, its end, each of its parts and all between'],
      ['cutting', 'text goes out whole: its beginning, its end, each of its parts and all between'],
      ['first', 'text goes out whole: its beginning, its end, each of its parts and all between'],
      ['small', 'results are matched to their calls by id, whatever order they come in'],
    ] as const)
      expect(failures).toContain(`${name} keeps to the port ${promise}`)
    expect(testResults.map(({ message }) => message).join()).toContain('A format is `{ name, definitions, detect')
    const messagesOf = (name: string): string =>
      outcomes
        .filter(({ fullName }) => fullName.startsWith(name))
        .flatMap(({ failureMessages }) => failureMessages)
        .join('\n')
    expect(messagesOf('odd policy')).toContain('let it return { decision: "ask" or "deny" }')
    expect(messagesOf('short middleware')).toContain('next is not a function')
    for (const [name, words] of [
      ['no policy', 'has no `policies`'],
      ['absent policy', 'has no `policies`'],
      ['no sandbox', 'resolves to a sandbox. There is none'],
      ['no middleware', 'has no `middleware`'],
      ['absent middleware', 'has no `middleware`'],
      ['absent observer', 'is not `{ extension, said }`'],
      ['no observer', 'is not `{ extension, said }`'],
      ['no store', '`make` gives `{ store }`'],
    ] as const) {
      const wrong = outcomes.filter(({ fullName, status }) => fullName.startsWith(name) && status !== 'skipped')
      expect(wrong.length).toBeGreaterThan(4)
      for (const { failureMessages } of wrong) expect(failureMessages.join()).toContain(words)
    }
  }, 120_000)

  it('has a suite that finds what a journal of a consumer loses or does twice', async () => {
    const folder = consumerFolder()
    writeFileSync(
      join(folder, 'lossy.test.js'),
      `import { describeJournal } from 'toolwright/conformance/journals'
      import { memoryJournal } from 'toolwright/journals/memory'
      const local = (change) => () => ({ open: () => {
        const { journal } = memoryJournal()
        return { journal: { ...journal, ...change(journal) } }
      } })
      const missing = new Set()
      const all = async function* (list) { yield* list }
      const isJson = (record) => { try { return JSON.stringify(record) !== undefined } catch { return false } }
      const changes = {
        right: () => ({}),
        columnar: ({ write }) => ({ write: ({ via, ...record }, fence) => write(record, fence) }),
        'a thousand': ({ list }) => ({ list: (query) => list({ ...query, limit: Math.min(query.limit ?? 1_000, 1_000) }) }),
        searching: ({ list, read }) => ({
          list: (query) => all(query.before && read(query.before.id) === null ? [] : list(query)),
        }),
        'two statements': ({ read, write }) => ({
          read: (id) => (missing.has(id) ? null : read(id)),
          async write(record, fence) {
            missing.add(record.id)
            await new Promise(setImmediate)
            missing.delete(record.id)
            return write(record, fence)
          },
        }),
        seconds: ({ list }) => ({
          list: ({ settledBefore, ...query }) =>
            list({ ...query, ...(settledBefore && { settledBefore: Math.floor(settledBefore / 1_000) * 1_000 }) }),
        }),
        careless: ({ write }) => ({ write: (record, fence) => !isJson(record) || write(record, fence) }),
      }
      for (const [name, change] of Object.entries(changes)) describeJournal(name, local(change))
      const { journal } = memoryJournal()
      const doers = () => {
        const doers = new Map()
        return async (scope, key, id) => doers.get(scope + key) ?? (doers.set(scope + key, id), id)
      }
      describeJournal('alone', () => ({ open: () => ({ journal: { ...journal, claimEffect: doers() } }) }), { isShared: true })`,
    )
    const titles =
      'every field|each for its owner|that it has deleted|there at every moment|times of today|and refuses what|who does what'
    const outcomes = (await resultsIn(folder, '-t', titles)).flatMap((file) => file.assertionResults)
    const failures = outcomes.filter(({ status }) => status === 'failed')
    const wordsOf = (name: string): string =>
      failures
        .filter(({ fullName }) => fullName.startsWith(name))
        .map(({ failureMessages }) => failureMessages.join())
        .join()
    expect(outcomes.filter(({ fullName, status }) => fullName.startsWith('right') && status === 'passed')).toHaveLength(
      8,
    )
    expect(wordsOf('right')).toBe('')
    for (const [name, words] of [
      ['columnar', "the fields that came back otherwise than they were written: expected [ 'via' ]"],
      ['a thousand', 'how many of 1,200 records it lists without a limit, and with one of 1,100'],
      ['searching', 'the page after the record that was deleted'],
      ['two statements', 'whether it was missing, and the fence of another owner'],
      ['seconds', "to deeply equal [ 'early' ]"],
      ['careless', 'promise resolved "true" instead of rejecting'],
      ['alone', 'how many processes may do the same thing'],
    ] as const)
      expect(wordsOf(name)).toContain(words)
  }, 120_000)

  it('has a suite that says what a dispatcher of a consumer lacks, before the time of a test is over', async () => {
    const folder = consumerFolder()
    writeFileSync(
      join(folder, 'dispatchers.test.js'),
      `import { describeDispatcher } from 'toolwright/conformance/dispatchers'
      import { memoryDispatcher } from 'toolwright/distributed/memory'
      const local = (change) => () => {
        const dispatcher = memoryDispatcher()
        const { send, work, bus, depth } = dispatcher
        const changed = { send, work, bus, depth, close: async () => {}, ...change(dispatcher) }
        return { open: () => changed }
      }
      describeDispatcher('right dispatcher', local(() => ({})))
      describeDispatcher('lossy dispatcher', local(({ send }) => ({ send: (calls) => send(calls.slice(0, 3)) })))
      describeDispatcher('idle dispatcher', local(({ work }) => ({
        work: async (...given) => ({ pause: async () => {}, close: (await work(...given)).close }),
      })))
      describeDispatcher('careless dispatcher', local(({ send }) => ({ send: (calls) => void send(calls) })))
      describeDispatcher('miscounting dispatcher', local(() => ({ depth: async () => 0 })))
      describeDispatcher('late dispatcher', () => ({ open: async () => memoryDispatcher() }))`,
    )
    const promises = 'whatever its id|sent after its pause|how many calls it holds'
    const testResults = await resultsIn(folder, '-t', promises)
    const failed = testResults.flatMap((file) => file.assertionResults).filter(({ status }) => status === 'failed')
    const wordsOf = (name: string): string =>
      failed
        .filter(({ fullName }) => fullName.startsWith(name))
        .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join()}`)
        .join()
    expect(wordsOf('lossy dispatcher')).toMatch(/whatever its id[^]*: AssertionError: expected \[[^]*to deeply equal/)
    expect(wordsOf('idle dispatcher')).toMatch(/^idle dispatcher delivers nothing that is sent after its pause/)
    expect(wordsOf('careless dispatcher')).toContain('`send` gives a promise')
    expect(wordsOf('miscounting dispatcher')).toMatch(
      /^miscounting dispatcher says how many calls it holds for a queue/,
    )
    expect(wordsOf('late dispatcher')).toContain('`open` gives a dispatcher at once')
    expect(wordsOf('right dispatcher')).toBe('')
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
