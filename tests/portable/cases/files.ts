import { createExecutor, tool } from 'toolwright'
import { has, same, words } from '../_assert.ts'
import type { Case, Place } from '../run.ts'

const asked = { name: 'asked', description: 'Needs a person', requiresConfirmation: true, handler: () => 'ok' } as const

/** Runs a program with the runtime that runs this, and returns what it writes. */
async function output(program: string, ...args: string[]): Promise<string> {
  const { execFile } = await import('node:child_process')
  const { promisify } = await import('node:util')
  const own = 'Deno' in globalThis ? ['run', '-A'] : []
  const { stdout } = await promisify(execFile)(process.execPath, [...own, program, ...args])
  return stdout
}

/** The command of the package, beside the program that runs. */
async function command(): Promise<string> {
  const path = await import('node:path')
  return path.join(import.meta.dirname, '..', 'node_modules', 'toolwright', 'dist', 'cli', 'bin.js')
}

async function inFolder({ folder }: Place, ...names: string[]): Promise<string> {
  const path = await import('node:path')
  return path.join(folder, ...names)
}

/** Writes a module into the folder. Returns its path. */
async function written(place: Place, name: string, text: string): Promise<string> {
  const { writeFile } = await import('node:fs/promises')
  const file = await inFolder(place, name)
  await writeFile(file, text)
  return file
}

export const files: readonly Case[] = [
  {
    name: 'stores: files',
    needs: ['files'],
    async run(place) {
      const { fileStore } = await import('toolwright/stores/file')
      const { store, collect } = fileStore(await inFolder(place, 'store'))
      const { handle } = await store.write('x'.repeat(100_000), { session: 's', mediaType: 'text/plain' })
      const reader = await store.open(handle, { session: 's' })
      same([reader.byteLength, (await reader.read(5, 8)).length], [100_000, 3])
      await collect()
    },
  },
  {
    name: 'journals: SQLite with two executors',
    needs: ['files', 'sqlite'],
    async run(place) {
      const { sqliteJournal } = await import('toolwright/journals/sqlite')
      const file = await inFolder(place, 'calls.db')
      let runs = 0
      const tools = [tool('t', () => ++runs), tool(asked)]
      const [one, two] = [0, 1].map(() => createExecutor({ tools, use: [sqliteJournal(file)] }))
      has(one && two, 'two executors')
      const once = { invocationId: 'i', session: 's' }
      await one.execute({ name: 't' }, once)
      await two.execute({ name: 't' }, once)
      same(runs, 1)
      const { token = '' } = await one.execute({ name: 'asked' }, { session: 's' })
      same((await two.calls.decide(token, 'allow')).status, 'ok')
      await Promise.all(Array.from({ length: 40 }, () => one.execute({ name: 't' })))
      const { sealed } = await two.calls.recover({ staleAfter: 0 })
      same(sealed.length, 0)
      // Neither is closed: the process has to end all the same.
    },
  },
  {
    name: 'mcp: a client starts a program',
    needs: ['files', 'processes'],
    async run(place) {
      const { mcpTools } = await import('toolwright/mcp/client')
      const module = await written(place, 'tools.mjs', await adding())
      const own = 'Deno' in globalThis ? ['run', '-A'] : []
      const args = [...own, await command(), 'mcp', module]
      const executor = createExecutor({ use: [await mcpTools({ name: 'g', command: process.execPath, args })] })
      const sum = await executor.execute({ name: 'add', args: { a: 1, b: 2 } })
      same([sum.status, words(sum)], ['ok', '3'], sum.error?.message ?? '')
      await executor.close()
    },
  },
  {
    name: 'command: lists the tools of a module',
    needs: ['files', 'processes'],
    async run(place) {
      const module = await written(place, 'listed.mjs', await adding())
      has((await output(await command(), 'list', module)).includes('add'), 'the list')
    },
  },
  {
    name: 'loading: the engine of raw JSON Schema fails to load, and the next call works',
    needs: ['files', 'processes', 'hooks'],
    async run(place) {
      const program = await written(
        place,
        'loading.mjs',
        await failing('_engine', 2, "inputSchema: { type: 'object' }"),
      )
      same((await output(program)).trim(), 'error E_INTERNAL true, ok')
    },
  },
  {
    name: 'loading: what asks for approval fails to load, and the next call waits',
    needs: ['files', 'processes', 'hooks'],
    async run(place) {
      const program = await written(place, 'waiting.mjs', await failing('on-demand', 1, 'requiresConfirmation: true'))
      same((await output(program)).trim(), 'error E_INTERNAL true, waiting')
    },
  },
  {
    name: 'exit: a process with open executors ends by itself',
    needs: ['files', 'processes', 'sqlite'],
    async run(place) {
      const program = await written(place, 'exit.mjs', await leavingOpen(place))
      const [ran = '', ended = ''] = (await output(program)).trim().split('\n')
      same(ran, 'ok ok ok waiting')
      // A timer that was forgotten takes 5 s at least, that of a deadline 30 s.
      has(Number(ended) < 4_000, `the process ended after ${ended} ms`)
    },
  },
  {
    name: 'postgres: journal and store',
    needs: ['postgres'],
    async run({ postgres }) {
      const { postgresJournal } = await import('toolwright/journals/postgres')
      const { postgresStore } = await import('toolwright/stores/postgres')
      const options = { prefix: `p${crypto.randomUUID().slice(0, 8)}_` }
      const use = [postgresJournal(postgres, options), postgresStore(postgres, options)]
      const executor = createExecutor({ tools: [tool('t', () => 'x'.repeat(60_000))], use })
      const { status, artifact, error } = await executor.execute({ name: 't' }, { session: 's' })
      same([status, artifact?.byteLength()], ['ok', 60_000], error?.message ?? '')
      await executor.close()
    },
  },
]

/** The address of a leaf, for programs that lie elsewhere. */
async function address(leaf: string): Promise<string> {
  const path = await import('node:path')
  const { pathToFileURL } = await import('node:url')
  return pathToFileURL(path.join(import.meta.dirname, '..', 'node_modules', 'toolwright', 'dist', `${leaf}.js`)).href
}

async function adding(): Promise<string> {
  return `import { tool } from '${await address('index')}'
export const add = tool({ name: 'add', description: 'Adds', inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] }, handler: ({ a, b }) => a + b })
`
}

/** A program whose first call fails, since a part that an option of its tool needs is not loaded the first times. */
async function failing(part: string, times: number, option: string): Promise<string> {
  return `import { registerHooks } from 'node:module'
let loads = 0
registerHooks({ load(url, context, next) { if (url.includes('${part}') && ++loads <= ${times}) throw new Error('away'); return next(url, context) } })
const { createExecutor, tool } = await import('${await address('index')}')
const asked = tool({ name: 't', description: 'Needs a part', ${option}, handler: () => 1 })
const seen = []
for (let turn = 0; turn < 2; turn++) {
  const { status, error } = await createExecutor({ tools: [asked], report() {} }).execute({ name: 't' })
  seen.push([status, error?.code, error?.retryable].filter((each) => each !== undefined).join(' '))
  await new Promise((resolve) => setTimeout(resolve, 20))
}
console.log(seen.join(', '))
`
}

async function leavingOpen({ folder }: Place): Promise<string> {
  return `import { createExecutor, tool } from '${await address('index')}'
import { memoryJournal } from '${await address('journals/memory')}'
import { sqliteJournal } from '${await address('journals/sqlite')}'
const tools = [tool('t', async () => 1), tool({ name: 'asked', description: 'Asks', requiresConfirmation: true, handler: () => 1 })]
const options = { invocationId: 'i', session: 's' }
const inMemory = createExecutor({ tools, use: [memoryJournal()] })
const inFile = createExecutor({ tools, use: [sqliteJournal(${JSON.stringify(`${folder}/exit.db`)})] })
const results = [await inMemory.execute({ name: 't' }), await inFile.execute({ name: 't' }, options), await inFile.execute({ name: 't' }, options), await inMemory.execute({ name: 'asked' })]
console.log(results.map(({ status }) => status).join(' '))
const done = performance.now()
process.on('exit', () => console.log(Math.round(performance.now() - done)))
`
}
