import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { createExecutor, type ToolEvent, type ToolExecutor } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { forecast } from '../formats/_tools.ts'

const folder = join(import.meta.dirname, 'agent-loop')
const isInstalled = existsSync(join(folder, 'node_modules', 'openai'))
if (!isInstalled) {
  console.warn('The loops are not run: npm ci --omit=optional --prefix tests/formats/sdks')
}
const question = 'What is the weather in Bergen?'

/** An executor that remembers the calls that it has settled. */
function watched(): { executor: ToolExecutor; settled: string[] } {
  const settled: string[] = []
  const observe = (event: ToolEvent): void => {
    if (event.event === 'call:settled') settled.push(`${event.toolName} ${event.status} ${event.callId}`)
  }
  return { executor: createExecutor({ tools: [forecast], use: [{ observers: [observe] }] }), settled }
}

describe.skipIf(!isInstalled)('the loop of each provider, with its own client library', () => {
  const names = ['anthropic', 'openai', 'openai-responses', 'gemini', 'ai-sdk']
  const ways = names.flatMap((name) => [
    { name, way: 'plain', isStreamed: false },
    { name, way: 'streamed', isStreamed: true },
  ])
  const callIds = new Set<string>()

  test.each(ways)('$name, $way, runs the tool and gets the answer', async ({ name, isStreamed }) => {
    const [{ loops }, { provider }] = await Promise.all([
      import('./agent-loop/_all.ts'),
      import('./agent-loop/_servers.ts'),
    ])
    const loop = loops.get(name)!
    await using server = await provider(loop.turns)
    const { executor, settled } = watched()
    const conversation = await loop.run(server.url, executor, question, isStreamed)
    expect(settled).toEqual([expect.stringMatching(/^get_forecast ok [0-9a-f]{64}$/)])
    callIds.add(settled.join())
    const last = JSON.stringify(conversation.at(-1)).replaceAll('"},{"text":"', '')
    expect(last).toContain('It rains in Bergen.')
    expect(server.requests).toHaveLength(2)
    expect(JSON.stringify(server.requests[0])).toContain(forecast.description)
    expect(JSON.stringify(server.requests[1])).toMatch(/temperature/)
  })

  test('gives one logical call one callId', () => {
    expect(callIds.size).toBe(1)
  })

  test('mcp answers a client', async () => {
    const { serve } = await import('./agent-loop/mcp.ts')
    const { executor, settled } = watched()
    const [here, there] = InMemoryTransport.createLinkedPair()
    const client = new Client({ name: 'a client', version: '1.0.0' })
    await Promise.all([serve(executor).connect(there), client.connect(here)])
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['get_forecast'])
    const result = await client.callTool({ name: 'get_forecast', arguments: { city: 'Bergen', days: 2 } })
    expect(JSON.stringify(result)).toMatch(/temperature/)
    callIds.add(settled.join())
    expect(callIds.size).toBe(1)
    await client.close()
  })

  test('compiles against the types of the library, without a cast', async () => {
    const compiler = join(import.meta.dirname, '../../node_modules/typescript7/bin/tsc')
    const run = promisify(execFile)(process.execPath, [compiler, '-p', folder])
    expect(await run.catch((error: { stdout: string }) => error)).toMatchObject({ stdout: '', stderr: '' })
  })
})

test('no loop is longer than a page, or has a cast', () => {
  const files = globSync('[a-z]*.ts', { cwd: folder }).filter((file) => file !== 'types.test-d.ts')
  expect(files.toSorted()).toEqual([
    'ai-sdk.ts',
    'anthropic.ts',
    'gemini.ts',
    'mcp.ts',
    'openai-responses.ts',
    'openai.ts',
  ])
  for (const file of files) {
    const source = readFileSync(join(folder, file), 'utf8')
    expect(source.split('\n').length, file).toBeLessThanOrEqual(41)
    expect(source, file).not.toMatch(/\bas (?!const)\w|\bany\b|ts-expect/)
  }
})
