import { existsSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, onTestFinished, test } from 'vitest'
import { buildPage } from '../devtools/_page.ts'
import { ended, moduleOf, openaiMessage, openaiReply, place, program, start, type Ended } from './_command.ts'

const module = moduleOf('executor.ts')
const timeout = 120_000
const containing = (text: string): string => expect.stringContaining(text) as string
const beside = 'exports tools that its executor does not have, and that are left out: beside'

let count = 0

/** Runs the command with a file for what the handlers do. Returns whether one ran, too. */
async function toolwright(
  words: readonly string[],
  { stdin = '', env = {} }: { readonly stdin?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ended & { readonly hasRun: boolean }> {
  const ran = place(`ran-${count++}`)
  const child = start([...program, ...words], { RAN: ran, ...env })
  const end = ended(child)
  child.stdin.end(stdin)
  return { ...(await end), hasRun: existsSync(ran) }
}

describe.concurrent('a module that exports an executor', { timeout }, () => {
  test('has its policies with call', async () => {
    const { code, stdout, stderr, hasRun } = await toolwright(['call', module, 'drop'])
    expect(JSON.parse(stdout)).toMatchObject({ status: 'denied', error: { code: 'E_TOOL_DENIED' } })
    expect({ code, hasRun, stderr }).toEqual({ code: 0, hasRun: false, stderr: containing(beside) })
  })

  test('has its policies and its limits with run, and tools beside it are told and left out', async () => {
    const message = openaiMessage(['drop'], ['slow'], ['beside'])
    const { stdout, stderr, hasRun } = await toolwright(['run', module], { stdin: message })
    expect(openaiReply(stdout)).toEqual([containing('denied'), containing('20 ms'), containing('no tool "beside"')])
    expect([hasRun, stderr.match(/beside/g)]).toEqual([false, ['beside']])
  })

  test('has its policies with mcp, and its own list of tools', async () => {
    const ran = place('ran-mcp')
    const [command = '', ...args]: readonly string[] = [...program, 'mcp', module]
    const client = new Client({ name: 'tests', version: '1' })
    const env = { ...process.env, RAN: ran } as Record<string, string>
    await client.connect(new StdioClientTransport({ command, args, env, stderr: 'ignore' }))
    onTestFinished(() => client.close())
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['drop', 'pay', 'slow'])
    const result = await client.callTool({ name: 'drop', arguments: {} })
    expect([result.isError, existsSync(ran)]).toEqual([true, false])
  })

  test('has its policies with inspect', async () => {
    await buildPage()
    const ran = place('ran-inspect')
    const child = start([...program, 'inspect', module, '--port', '0', '--events'], { RAN: ran })
    const end = ended(child)
    const address = await new Promise<string>((resolve) => child.stdout.once('data', resolve))
    const { origin, hash } = new URL(address.trim())
    const settled = new Promise<string>((resolve) => {
      child.stderr.on('data', (text: string) => {
        const line = text.split('\n').find((each) => each.includes('"event":"call:settled"'))
        if (line !== undefined) resolve(line)
      })
    })
    const answer = await fetch(`${origin}/api/tools`, {
      method: 'POST',
      headers: { authorization: `Bearer ${hash.slice('#token='.length)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'drop' }),
    })
    expect(answer.status).toBe(202)
    expect(JSON.parse(await settled)).toMatchObject({ toolName: 'drop', status: 'denied' })
    child.kill('SIGTERM')
    await end
    expect(existsSync(ran)).toBe(false)
  })

  test('keeps its calls in its own journal, where decide answers them', async () => {
    const journal = place('own.db')
    const env = { JOURNAL: journal }
    const { stdout } = await toolwright(['call', module, 'pay'], { env })
    const { status, invocationId } = JSON.parse(stdout) as { readonly status: string; readonly invocationId: string }
    expect(status).toBe('waiting')
    const decided = await toolwright(['decide', module, invocationId, 'allow'], { env })
    expect(decided).toMatchObject({ code: 0, stdout: `${invocationId}  ok  paid\n` })
  })

  test('tells its events with --events', async () => {
    const { stderr } = await toolwright(['call', module, 'drop', '--events'])
    const events = stderr.split('\n').filter((line) => line.startsWith('{'))
    expect(events.map((line) => (JSON.parse(line) as { readonly event: string }).event)).toEqual(
      expect.arrayContaining(['call:received', 'call:settled']),
    )
  })

  test('is listed by its tools', async () => {
    const { code, stdout } = await toolwright(['list', module])
    const names = (JSON.parse(stdout) as { readonly name: string }[]).map(({ name }) => name)
    expect([code, names]).toEqual([0, ['drop', 'pay', 'slow']])
  })

  test.for([
    ['call', ['drop', '--timeout', '5'], '--timeout'],
    ['call', ['drop', '--journal', place('refused.db')], '--journal'],
    ['run', ['--concurrency', '1'], '--concurrency'],
    ['decide', ['id', 'deny', '--journal', place('refused.db')], '--journal'],
    ['inspect', ['--journal', place('refused.db')], '--journal'],
    ['mcp', ['--workspace', '.'], '--workspace'],
    ['mcp', ['--task', moduleOf('task.ts')], '--task'],
  ] as const)('refuses options that are the own ones of an executor: %j', async ([command, words, option]) => {
    const { code, stdout, stderr } = await toolwright([command, module, ...words])
    expect([code, stdout, existsSync(place('refused.db'))]).toEqual([2, '', false])
    expect(stderr).toContain(`exports an executor, and ${option} is part of its configuration. Leave it out`)
  })
})

test('a module that exports two executors is refused', { timeout }, async () => {
  const { code, stdout, stderr } = await toolwright(['call', moduleOf('executors.ts'), 'drop'])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain('executors.ts exports two executors, one and two. Export one.')
})
