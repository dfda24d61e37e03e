import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { createContext, runInContext } from 'node:vm'
import { answerAsTold } from './_api.ts'
import { has, same, wait } from './_assert.ts'
import type { Host } from './hosts.ts'
import { bundled } from './_packed.ts'
import { run, type Case, type Outcome, type Place } from './run.ts'

/** What came of the cases in each part of a host, such as a page and its Worker. */
export type Outcomes = Readonly<Record<string, Outcome>>

/** Milliseconds that an application may take, and one that tries all values. */
const limit = 60_000
const fullLimit = 180_000

/** Runs the cases in a host. */
export function outcomesOf(
  host: Host,
  program: string,
  application: string,
  servers: Omit<Place, 'folder'>,
): Promise<Outcomes> {
  switch (host.kind) {
    case 'process':
      return inProcess(host, program, application, servers)
    case 'workerd':
      return inWorkerd(host, program, application, servers)
    case 'page':
      return inPage(host, program, application)
    case 'realm':
      return inRealm(host, application)
  }
}

async function inProcess(
  host: Host,
  program: string,
  application: string,
  servers: Omit<Place, 'folder'>,
): Promise<Outcomes> {
  const folder = folderOf(host, application)
  const parameters = (host.parameters ?? []).map((parameter) => parameter.replace('FOLDER', folder))
  const place = JSON.stringify({ folder, ...servers, lacks: host.lacks })
  const env = { ...process.env, DENO_DIR: join(folder, '.deno'), DENO_NO_UPDATE_CHECK: '1' }
  const child = start(program, [...parameters, join(application, 'hosts', 'process.ts'), place], {
    cwd: application,
    env,
  })
  let [output, errors] = ['', '']
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const code = await new Promise((resolve) => child.on('close', resolve))
  const line = output.split('\n').findLast((each) => each.startsWith('{'))
  if (code !== 0 || line === undefined) throw new Error(`${host.name} ended with ${String(code)}: ${errors || output}`)
  return { '': JSON.parse(line) as Outcome }
}

async function inWorkerd(
  host: Host,
  program: string,
  application: string,
  servers: Omit<Place, 'folder'>,
): Promise<Outcomes> {
  const folder = folderOf(host, application)
  const conditions = ['workerd', 'worker', 'browser']
  writeFileSync(join(folder, 'worker.js'), await bundled(application, 'hosts/worker.ts', { format: 'esm', conditions }))
  const configuration = readFileSync(join(application, 'hosts', 'worker.capnp'), 'utf8')
  const isObject = host.parameters?.includes('object') === true
  writeFileSync(join(folder, 'worker.capnp'), configuration.replace('@IN_OBJECT@', String(isObject)))
  const { isFull = false } = host
  const command = ['serve', '--control-fd=3', 'worker.capnp']
  const child = start(program, command, { cwd: folder }, isFull ? fullLimit : limit)
  let errors = ''
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  try {
    const port = await portOf(child)
    const at = (path: string): string => `http://127.0.0.1:${port}${path}`
    const outcomeOf = async (more: Partial<Place>, each: number): Promise<Outcome> => {
      const place: Place = { ...servers, folder: '', ...more }
      const lacks = JSON.stringify(host.lacks)
      const query = new URLSearchParams({ lacks, place: JSON.stringify(place), limit: `${each}` })
      return (await (await fetch(at(`/cases?${String(query)}`))).json()) as Outcome
    }
    const outcome = await outcomeOf({}, 20_000)
    const all = isFull ? { 'all values': await outcomeOf({ isFull: true }, fullLimit) } : {}
    return { '': outcome, 'many requests': await run(manyRequests(at, servers.api), []), ...all }
  } catch (cause) {
    throw new Error(`${host.name}: ${errors}`, { cause })
  } finally {
    end(child)
  }
}

/** What holds over several requests, of which each has its own timers. */
function manyRequests(at: (path: string) => string, api: string): readonly Case[] {
  const ask = async (path: string, signal?: AbortSignal): Promise<unknown> => {
    const response = await fetch(at(path), signal === undefined ? {} : { signal })
    const text = await response.text()
    return response.ok ? JSON.parse(text) : `${response.status} ${text}`
  }
  return [
    {
      name: 'many requests: executors are made, listed and served while the module loads',
      async run() {
        same([await ask('/listed'), await ask('/loaded')], [['quick', 'slow', 'hang'], 200])
        same((await fetch(at('/mcp'))).status < 500, true)
      },
    },
    {
      name: 'many requests: a document of 1,000 operations is read in turns, between which others are answered',
      async run() {
        const state = { isRead: false }
        const reading = ask('/document').finally(() => (state.isRead = true))
        let answered = 0
        for (; !state.isRead; answered++) await ask('/listed')
        same(await reading, 1_000)
        has(answered >= 8, `${answered} requests were answered meanwhile`)
      },
    },
    {
      name: 'many requests: a network of public addresses alone reaches no name that resolves to a private one',
      async run() {
        const named = api.replace('127.0.0.1', 'localhost')
        same((await fetch(`${named}/reached/got`)).status, 200)
        const outcomes = await ask(`/public?api=${encodeURIComponent(`${named}/reached`)}`)
        same(outcomes, [
          ['error', 'network'],
          ['error', 'network'],
        ])
        same(await (await fetch(`${api}/reached/got`)).json(), [])
      },
    },
    {
      name: 'many requests: each has its deadlines, also after one whose client has left',
      async run() {
        const statuses: unknown[] = []
        for (const tool of ['hang', 'quick', 'hang']) statuses.push(await ask(`/plain?tool=${tool}`))
        same(statuses, ['timed_out', 'ok', 'timed_out'])
        await ask('/plain?tool=hang', AbortSignal.timeout(100)).catch(() => {})
        same(await ask('/plain?tool=hang'), 'timed_out')
        same(await Promise.all([ask('/plain?tool=hang'), ask('/plain?tool=slow&time=50')]), ['timed_out', 'ok'])
      },
    },
    {
      name: 'many requests: a long call gives signs of life, and no other executor seals it',
      async run() {
        same(await ask('/recorded?tool=quick'), 'ok')
        const before = Number(await ask('/beats'))
        const running = ask('/recorded?tool=slow&time=7000')
        await wait(6_000)
        const { sealed } = (await ask('/recover?staleAfter=5500')) as { readonly sealed: readonly unknown[] }
        same(sealed.length, 0, 'what was sealed')
        has(Number(await ask('/beats')) > before, 'signs of life')
        same(await running, 'ok')
      },
    },
  ]
}

/** The port that workerd reports. */
function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`workerd ended with ${code}`)))
    let text = ''
    const control = child.stdio[3] as Readable
    control.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const [, port] = /"port":(\d+)/.exec(text) ?? []
      if (port !== undefined) resolve(Number(port))
    })
  })
}

// Trusted types too: a page that makes code or markup from strings would break.
const policy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'; require-trusted-types-for 'script'; trusted-types portable"

async function inPage(host: Host, program: string, application: string): Promise<Outcomes> {
  const folder = folderOf(host, application)
  const code = await bundled(application, 'hosts/page.ts', { format: 'iife' })
  const outcomes: Record<string, Outcome> = {}
  const { promise: both, resolve } = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/api/') === true) return answerAsTold(request, response)
    const name = request.url?.slice(1) ?? ''
    response.setHeader('content-security-policy', policy)
    if (request.method === 'POST') {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        response.end()
        outcomes[name] = JSON.parse(body) as Outcome
        if (Object.keys(outcomes).length === 2) resolve()
      })
      return
    }
    const isScript = name.startsWith('page.js')
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8')
    const script = '<!doctype html><title>cases</title><body></body><script src="/page.js"></script>'
    response.end(isScript ? code : script)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/?lacks=${encodeURIComponent(JSON.stringify(host.lacks))}`
  const flags = program.includes('firefox')
    ? ['--headless', '--no-remote', '--profile', folder, url]
    : [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--disable-background-networking',
      ].concat('--no-first-run', `--user-data-dir=${folder}`, url)
  const child = start(program, flags, { env: { ...process.env, HOME: folder } })
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`${host.name} posted ${Object.keys(outcomes).join()}`)), limit).unref()
  })
  try {
    await Promise.race([both, late])
    return outcomes
  } finally {
    end(child)
    server.closeAllConnections()
    server.close()
  }
}

async function inRealm(host: Host, application: string): Promise<Outcomes> {
  const code = await bundled(application, 'hosts/realm.ts', { format: 'iife' })
  const { TextEncoder, crypto, performance, AbortController } = globalThis
  const timers = { setTimeout, clearTimeout, setInterval, clearInterval }
  const realm: { start?(lacks: unknown): Promise<string> } = createContext(
    { TextEncoder, crypto, performance, AbortController, ...timers },
    { codeGeneration: { strings: false, wasm: false } },
  )
  runInContext(code, realm)
  return { '': JSON.parse((await realm.start?.(host.lacks)) ?? '{}') as Outcome }
}

/** A new folder for a host. */
function folderOf({ name }: Host, application: string): string {
  const folder = join(application, 'hosts', name.replace(/\W+/g, '-'))
  if (existsSync(folder)) rmSync(folder, { recursive: true })
  mkdirSync(folder)
  return folder
}

/** Starts a program in a group of its own. It is killed after the limit, in milliseconds. */
function start(
  program: string,
  parameters: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv },
  longest = limit,
): ChildProcess {
  const child = spawn(program, parameters, { ...options, stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true })
  const timer = setTimeout(() => end(child), longest)
  child.on('close', () => clearTimeout(timer))
  return child
}

/** Kills a program and all that it started. */
function end({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // it has ended
  }
}
