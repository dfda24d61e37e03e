// The five tools of the examples, served to the protocol's official client and to its Inspector: neither knows anything of us.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, describe, expect, test } from 'vitest'
import { ended, program as command, start, storyTools } from '../../cli/_command.ts'
import { missing, program } from '../../servers/installed.ts'

const [node = '', ...words] = command
const serving = [...words, 'mcp', storyTools, '--name', 'weather']

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

async function overStdio(mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client({ name: 'story', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(new StdioClientTransport({ command: node, args: serving, stderr: 'ignore' }))
  opened.push(() => client.close())
  return client
}

/** Starts the command, and gives the address that it prints. */
async function listening(): Promise<string> {
  const child = start([node, ...serving, '--http', '0'])
  const end = ended(child)
  opened.push(async () => {
    child.kill()
    await end
  })
  return new Promise((resolve) => {
    child.stdout.on('data', (text: string) => resolve(String(text).trim()))
  })
}

async function overHttp(mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client({ name: 'story', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(await listening())))
  opened.push(() => client.close())
  return client
}

describe.each([
  ['stdio', overStdio],
  ['HTTP', overHttp],
])('over %s, the official client', (_, connect) => {
  test.each([
    ['that knows the older era alone', 'legacy', '2025-11-25'],
    ['that looks for the newest', 'auto', '2026-07-28'],
  ] as const)(
    '%s finds the tools and calls them',
    async (__, mode, version) => {
      const client = await connect(mode)
      expect(client.getNegotiatedProtocolVersion()).toBe(version)
      expect(client.getServerVersion()?.name).toBe('weather')
      const { tools } = await client.listTools()
      expect(tools).toHaveLength(5)
      const forecast = await client.callTool({ name: 'get_forecast', arguments: { city: 'Oslo', days: 2 } })
      const days = [
        { day: 1, sky: 'clouds', high: 7 },
        { day: 2, sky: 'sun', high: 11 },
      ]
      expect(forecast.structuredContent).toEqual(mode === 'legacy' ? { result: days } : days)
      const mistake = await client.callTool({ name: 'get_forecast', arguments: { city: 'Oslo', days: 9 } })
      expect(mistake.isError).toBe(true)
      expect(JSON.stringify(mistake.content)).toContain('days')
    },
    30_000,
  )
})

if (missing !== undefined) console.warn(`The story of the Inspector is skipped: ${missing}`)

describe.skipIf(missing !== undefined)("the Inspector's command line", () => {
  async function inspect(target: readonly string[], ...method: readonly string[]): Promise<unknown> {
    const { stdout, stderr } = await ended(start([node, program('mcp-inspector'), '--cli', ...target, ...method]))
    try {
      return JSON.parse(stdout)
    } catch {
      throw new Error(`The Inspector said: ${stdout}${stderr}`)
    }
  }

  test('lists the tools and calls one, over stdio', async () => {
    const target = [node, ...serving]
    expect(await inspect(target, '--method', 'tools/list')).toMatchObject({
      tools: [{ name: 'get_forecast' }, {}, {}, {}, {}],
    })
    const call = ['--method', 'tools/call', '--tool-name', 'get_forecast', '--tool-arg', 'city=Lisbon']
    expect(await inspect(target, ...call)).toMatchObject({ structuredContent: { result: [{ sky: 'sun', high: 24 }] } })
  }, 60_000)

  test('does so over HTTP', async () => {
    const target = [await listening(), '--transport', 'http']
    expect(await inspect(target, '--method', 'tools/list')).toMatchObject({ tools: { length: 5 } })
    const call = ['--method', 'tools/call', '--tool-name', 'get_forecast', '--tool-arg', 'city=Bergen']
    expect(await inspect(target, ...call)).toMatchObject({ structuredContent: { result: [{ sky: 'rain', high: 9 }] } })
  }, 60_000)
})
