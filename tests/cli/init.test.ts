import { execFile } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { installation, unbuilt } from '../portable/_packed.ts'
import { anthropicTurns, chatTurns, geminiTurns, responsesTurns } from '../examples/agent-loop/_recorded.ts'
import { provider } from '../examples/agent-loop/_servers.ts'
import { ended, place, start, toolwright } from './_command.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const frameworks = join(root, 'tests', 'frameworks', 'npm', 'node_modules')
const hasAiSdk = existsSync(join(frameworks, 'ai'))
if (!hasAiSdk)
  console.warn('The template of the AI SDK is not run: npm ci --omit=optional --prefix tests/frameworks/npm')

describe.concurrent('toolwright init', () => {
  test('writes tools, an agent, a test and a package.json, and says what to do next', async () => {
    const folder = place('My Agent')
    const { code, stdout, stderr } = await toolwright(['init', folder])
    expect([code, stderr]).toEqual([0, ''])
    expect(readdirSync(folder).toSorted()).toEqual(['agent.ts', 'package.json', 'tools.test.ts', 'tools.ts'])
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      name: 'myagent',
      type: 'module',
      dependencies: { toolwright: expect.stringMatching(/^\^\d/), zod: expect.stringMatching(/^\^4/) },
    })
    for (const step of [`cd ${folder}`, 'npm install', 'node agent.ts', 'node --test']) expect(stdout).toContain(step)
  })

  test('leaves a package.json as it is, and names the packages to install', async () => {
    const folder = place('has-manifest')
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), '{ "name": "mine" }')
    const { code, stdout } = await toolwright(['init', folder, '--validator', 'valibot'])
    expect(code).toBe(0)
    expect(stdout).toContain('npm install toolwright valibot @valibot/to-json-schema')
    expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe('{ "name": "mine" }')
  })

  test('overwrites nothing: it names the file that is there, and writes none', async () => {
    const folder = place('has-agent')
    mkdirSync(folder)
    writeFileSync(join(folder, 'agent.ts'), '// mine')
    symlinkSync('nowhere', join(folder, 'tools.test.ts')) // writing to it would make a file elsewhere
    const { code, stdout, stderr } = await toolwright(['init', folder])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`${folder} already has agent.ts and tools.test.ts, and init overwrites nothing.`)
    expect(readdirSync(folder).toSorted()).toEqual(['agent.ts', 'tools.test.ts'])
    expect(readFileSync(join(folder, 'agent.ts'), 'utf8')).toBe('// mine')
  })

  test.each([
    [['--provider', 'acme'], 'There is no provider "acme". Known are anthropic, openai, openai-responses, gemini.'],
    [['--validator', 'acme'], 'There is no validator "acme". Known are zod, valibot, arktype, typebox, json-schema.'],
    [['--template', 'acme'], 'There is no template "acme". Known are loop, ai-sdk, mcp-server, browser.'],
    [['--validator', 'toString'], 'There is no validator "toString".'],
    [['--template', 'browser', '--provider', 'openai'], '--provider goes with --template loop or ai-sdk'],
    [['--fast'], "Unknown option '--fast'."],
  ])('refuses %j in words, and writes nothing', async (words, message) => {
    const folder = place(`refused-${words.join('')}`)
    const { code, stdout, stderr } = await toolwright(['init', folder, ...words])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(existsSync(folder)).toBe(false)
  })

  test('refuses a folder that is a file', async () => {
    const folder = place('a-file')
    writeFileSync(folder, '')
    const { code, stderr } = await toolwright(['init', folder])
    expect(code).toBe(2)
    expect(stderr).toContain(`${folder} cannot be used: `)
  })
})

const loops = [
  ['anthropic', 'zod', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', anthropicTurns],
  ['openai', 'valibot', 'OPENAI_API_KEY', 'OPENAI_BASE_URL', chatTurns],
  ['openai-responses', 'arktype', 'OPENAI_API_KEY', 'OPENAI_BASE_URL', responsesTurns],
  ['gemini', 'typebox', 'GEMINI_API_KEY', 'GOOGLE_GEMINI_BASE_URL', geminiTurns],
] as const
const programs = [
  ...loops.map(([name, validator]) => [`loop-${name}`, ['--provider', name, '--validator', validator]] as const),
  ['loop-json-schema', ['--validator', 'json-schema']] as const,
  ...(hasAiSdk ? [['ai-sdk', ['--template', 'ai-sdk']] as const] : []),
  ['mcp-server', ['--template', 'mcp-server']] as const,
  ['browser', ['--template', 'browser']] as const,
]

describe.skipIf(unbuilt !== undefined)('what init writes, beside the packed package', () => {
  let folder = mkdtempSync(join(tmpdir(), 'toolwright-init-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  beforeAll(async () => {
    const validators = ['zod', 'valibot', '@valibot/to-json-schema', 'arktype', 'typebox']
    const protocol = ['@modelcontextprotocol/client', '@modelcontextprotocol/server']
    rmSync(folder, { recursive: true })
    folder = installation([...validators, ...protocol, '@types/node'])
    if (hasAiSdk) symlinkSync(join(frameworks, 'ai'), join(folder, 'node_modules', 'ai'))
    const command = join(folder, 'node_modules', 'toolwright', 'dist', 'cli', 'bin.js')
    await Promise.all(
      programs.map(([name, words]) => run(process.execPath, [command, 'init', name, ...words], { cwd: folder })),
    )
  })

  /** Without the keys of whoever runs the tests, so that nothing is asked of a provider. */
  function environment(variables: Readonly<Record<string, string>> = {}): Record<string, string | undefined> {
    const inherited = Object.entries(process.env).filter(([key]) => !/_API_KEY$|_BASE_URL$|^MODEL$|^NODE_/.test(key))
    return { ...Object.fromEntries(inherited), ...variables }
  }

  test('has types that compile', async () => {
    const options = {
      strict: true,
      noEmit: true,
      target: 'es2022',
      lib: ['es2024', 'esnext.disposable'],
      module: 'nodenext',
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      noUncheckedIndexedAccess: true,
      types: ['node'],
    }
    const include = programs.map(([name]) => `${name}/*.ts`)
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include }))
    const compiler = join(root, 'node_modules', 'typescript7', 'bin', 'tsc')
    const compiled = run(process.execPath, [compiler, '-p', folder]).catch((error: { stdout: string }) => error)
    expect((await compiled).stdout).toBe('')
  })

  test.each(programs.map(([name]) => name))('has tests of %s that pass', async (name) => {
    const cwd = join(folder, name)
    const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap'], { cwd, env: environment() })
    expect(stdout).toContain('# pass 3')
    expect(stdout).toContain('# fail 0')
  })

  test.each(loops)('has a loop of %s with %s that runs offline, and says so', async (name, _, key) => {
    const cwd = join(folder, `loop-${name}`)
    const running = run(process.execPath, ['agent.ts'], { cwd, env: environment() })
    running.child.stdin?.end()
    const { stdout, stderr } = await running
    expect(stderr).toBe('')
    expect(stdout.split('\n')).toEqual([
      `No ${key} is set: a script answers in place of the model, offline.`,
      '> What is the weather in Bergen? Tell Ada.',
      '  get_forecast: ok',
      '  send_message waits: Send "Take an umbrella to Bergen." to Ada?',
      'Bergen: rain, 9 °C. I asked to send that to Ada.',
      '  send_message: cancelled',
      '',
    ])
  })

  test.each(loops)(
    'has a loop of %s with %s that asks its provider if there is a key',
    async (name, _, key, base, turns) => {
      await using server = await provider(turns)
      const env = environment({ [key]: 'secret', [base]: server.url })
      const running = run(process.execPath, ['agent.ts', 'Rain?'], { cwd: join(folder, `loop-${name}`), env })
      running.child.stdin?.end()
      const { stdout } = await running
      expect(stdout).toMatch(/^> Rain\?\n(?:One moment\.\n)? {2}get_forecast: ok\n/)
      expect(stdout).toContain('It rains in Bergen.')
      expect(server.requests).toHaveLength(2)
      expect(JSON.stringify(server.requests[0])).toContain('Sends a message to a person')
      expect(JSON.stringify(server.requests[1])).toContain('rain, 9 °C')
    },
  )

  test.skipIf(!hasAiSdk)('has an agent of the AI SDK that runs offline, and says so', async () => {
    const { stdout } = await run(process.execPath, ['agent.ts'], { cwd: join(folder, 'ai-sdk'), env: environment() })
    expect(stdout.split('\n')).toEqual([
      'No AI_GATEWAY_API_KEY is set: a script answers in place of the model, offline.',
      '> What is the weather in Bergen?',
      '  get_forecast: ok',
      'Bergen: rain, 9 °C.',
      '',
    ])
  })

  test('has a server whose tools a client of the protocol calls', async () => {
    const client = new Client({ name: 'a client', version: '1.0.0' })
    const cwd = join(folder, 'mcp-server')
    await client.connect(new StdioClientTransport({ command: process.execPath, args: ['server.ts'], cwd }))
    onTestFinished(() => client.close())
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['get_forecast', 'send_message'])
    const { content } = await client.callTool({ name: 'get_forecast', arguments: { city: 'Oslo' } })
    expect(content).toEqual([{ type: 'text', text: 'clouds, 7 °C' }])
  })

  test('has a page whose person answers a call', async () => {
    const child = start([process.execPath, join(folder, 'browser', 'server.ts')])
    const end = ended(child)
    onTestFinished(async () => {
      child.kill()
      await end
    })
    const [line] = (await once(child.stdout, 'data')) as [string]
    const url = /^Open (\S+)\n$/.exec(String(line))?.[1] ?? ''
    const page = await (await fetch(url)).text()
    expect(page).toContain('<h1>Messages</h1>')
    // Every module that the page loads is served, and nothing else of the folder.
    const [, library = ''] = /"toolwright\/client\/browser": "([^"]+)"/.exec(page) ?? []
    const entry = await fetch(new URL(library, url))
    expect([entry.status, entry.headers.get('content-type')]).toEqual([200, 'text/javascript'])
    for (const [, name = ''] of (await entry.text()).matchAll(/from "(\.[^"]+)"/g)) {
      expect((await fetch(new URL(name, entry.url))).status).toBe(200)
    }
    expect((await fetch(new URL('/toolwright/..%2fpackage.json', url))).status).not.toBe(200)

    expect((await fetch(new URL('/ask', url), { method: 'POST' })).status).toBe(204)
    const { calls } = (await (await fetch(new URL('/api/calls?protocol=2', url))).json()) as {
      calls: { invocationId: string; waiting?: { prompt: string } }[]
    }
    expect(calls).toMatchObject([{ waiting: { prompt: 'Send "Take an umbrella to Bergen." to Ada?' } }])
    const decision = await fetch(new URL(`/api/calls/${calls[0]?.invocationId}/decision`, url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'wait=10' },
      body: '{"decision":"allow"}',
    })
    expect(await decision.json()).toMatchObject({ result: { status: 'ok' } })
  })
})
