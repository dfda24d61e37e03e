// What becomes of connections: programs that die, lists that change, strangers that lie.
import { InMemoryTransport, type Transport } from '@modelcontextprotocol/client'
import { createExecutor, type ToolExecutor } from 'toolwright'
import { mcpTools } from 'toolwright/mcp/client'
import { retry } from 'toolwright/middleware/retry'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { closedPort } from '../servers/listener.ts'
import { connect, define, messages, scriptedServer, until, type Scripted } from './_scripted.ts'

function executorOf({ server }: Scripted): ToolExecutor {
  return createExecutor({ use: [server] })
}

describe('an address that cannot be reached', () => {
  test('is told with what stood in the way', async () => {
    const port = await closedPort()
    for (const protocol of ['auto', '2025-11-25', '2026-07-28'] as const) {
      await expect(mcpTools({ name: 'gone', protocol, url: `http://127.0.0.1:${port}/mcp` })).rejects.toThrow(
        /^The MCP server "gone" cannot be reached: .*\(.*ECONNREFUSED.*\)\.$/,
      )
    }
    await expect(mcpTools({ name: 'gone', url: `http://localhost:${port}/mcp` })).rejects.toThrow(/ECONNREFUSED/)
    await expect(mcpTools({ url: 'http://127.0.0.1:6000/mcp' })).rejects.toThrow(
      /`fetch` refuses this port: let the server listen at another one/,
    )
  })
})

describe('a program', () => {
  test('gets the environment that it was given, and of ours what every program needs', async () => {
    process.env['TOOLWRIGHT_CANARY'] = 'secret'
    onTestFinished(() => void delete process.env['TOOLWRIGHT_CANARY'])
    const executor = executorOf(await connect([define('surroundings')], { env: { GIVEN: 'yes' } }))
    const { content } = await executor.execute({ name: 'surroundings', args: {} })
    const { env } = JSON.parse((content[0] as { readonly text: string }).text) as {
      readonly env: Record<string, string>
    }
    expect(env['GIVEN']).toBe('yes')
    expect(env['PATH']).toBe(process.env['PATH'])
    expect(JSON.stringify(env)).not.toContain('secret')
    const allowed = new Set(['GIVEN', 'TOOLS', 'LIST', 'HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'])
    expect(Object.keys(env).filter((name) => !allowed.has(name))).toEqual([])
  })

  test('is started from words, and no shell reads them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-shell-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const args = ['; touch hacked', '$(touch hacked)', '`touch hacked`', '&& touch hacked', '* ~ "\'']
    const executor = executorOf(await connect([define('surroundings')], { args, cwd: folder }))
    const { content } = await executor.execute({ name: 'surroundings', args: {} })
    expect(JSON.parse((content[0] as { readonly text: string }).text)).toMatchObject({ args, cwd: folder })
    expect(existsSync(join(folder, 'hacked'))).toBe(false)
    await expect(mcpTools({ command: 'true; touch hacked', cwd: folder, connectTimeout: 2_000 })).rejects.toMatchObject(
      {
        code: 'E_TOOL_DOWNSTREAM_ERROR',
      },
    )
    expect(existsSync(join(folder, 'hacked'))).toBe(false)
  })

  test.each([
    ['node server.js', /\(`command` is the name of a program alone: its arguments go into `args`\)\.$/],
    ['no-such-program', /\(there is no such program, or no such `cwd`\)\.$/],
  ])('that is not there is told with what to do: %s', async (command, words) => {
    for (const protocol of ['auto', '2025-11-25', '2026-07-28'] as const) {
      await expect(mcpTools({ command, protocol })).rejects.toThrow(words)
    }
  })

  test('that does not start says why, in words that no terminal obeys', async () => {
    const { options } = scriptedServer([], { env: { STILLBORN: 'yes' } })
    await expect(mcpTools(options)).rejects.toThrow(
      /cannot be reached: .* It wrote "no configuration \\\\u001b\[31mfound"/,
    )
  })

  test.each([
    [
      'process.exit(3)',
      /ended with exit code 3 before it answered\. Run `command` with `args` and `env` in a terminal: /,
    ],
    ['', /ended with exit code 0 before it answered\. Run/],
    ['process.kill(process.pid, "SIGKILL")', /ended by SIGKILL before it answered\. Run/],
    ['import("./mistyped.js")', /ended with exit code 1 .* It wrote ".*Cannot find module .*mistyped\.js.*"\. Run/],
    [
      'console.error("x".repeat(5000) + "\\nwhy\\u001b[1m"); process.exit(1)',
      /It wrote "x{990}x*\\nwhy\\\\u001b\[1m"\. Run/,
    ],
  ])('that ends at once is told with how it ended, what it wrote, and what to do: %s', async (code, words) => {
    for (const protocol of ['auto', '2025-11-25', '2026-07-28'] as const) {
      const starting = mcpTools({ command: process.execPath, args: ['-e', code], protocol })
      await expect(starting).rejects.toMatchObject({
        code: 'E_TOOL_DOWNSTREAM_ERROR',
        category: 'network',
        message: words,
      })
      await expect(starting).rejects.toSatisfy(({ message }: Error) => message.length < 1_300)
    }
  })

  test('that says nothing is given up in time, in either form of the protocol', async () => {
    const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'], connectTimeout: 300 }
    for (const protocol of ['auto', '2025-11-25'] as const) {
      await expect(mcpTools({ ...silent, protocol })).rejects.toMatchObject({ category: 'timeout' })
    }
    await expect(mcpTools({ ...silent, protocol: '2026-07-28' })).rejects.toThrow(/cannot be reached/)
  })

  test('that does not speak the version that was asked for is told so, and not how we ended it', async () => {
    const old = connect([define('echo')], { protocol: '2026-07-28' })
    await expect(old).rejects.toThrow(/did not offer pinned protocol version 2026-07-28/)
    await expect(old).rejects.toThrow(/^(?!.*its program ended)/)
  })

  test('is started once if the version is known, and once more to find it out', async () => {
    const starts = async (protocol: 'auto' | '2026-07-28'): Promise<number> => {
      const folder = mkdtempSync(join(tmpdir(), 'toolwright-starts-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const log = join(folder, 'log')
      const code = `require('node:fs').appendFileSync(${JSON.stringify(log)}, '.')`
      await expect(mcpTools({ command: process.execPath, args: ['-e', code], protocol })).rejects.toThrow(/exit code 0/)
      return readFileSync(log, 'utf8').length
    }
    expect([await starts('2026-07-28'), await starts('auto')]).toEqual([1, 2])
  })

  test('over a transport that is never made is given up in time, and one that comes late is closed', async () => {
    const made = Promise.withResolvers<Transport>()
    const late = InMemoryTransport.createLinkedPair()[0]
    const close = vi.spyOn(late, 'close')
    const connecting = mcpTools({ transport: () => made.promise, connectTimeout: 20 })
    await expect(connecting).rejects.toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', message: /within 20 ms/ })
    made.resolve(late)
    await until(() => close.mock.calls.length > 0)
  })

  test('over a transport that cannot be made is a typed error', async () => {
    const transport = (): never => {
      throw new Error('no way')
    }
    await expect(mcpTools({ transport })).rejects.toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', message: /no way/ })
  })

  test('that speaks the protocol of 2025 is understood where nothing is said', async () => {
    const scripted = await connect([define('echo')], { protocol: 'auto' })
    expect((await executorOf(scripted).execute({ name: 'echo', args: {} })).status).toBe('ok')
    await expect(connect([define('echo')], { protocol: '2026-07-28' })).rejects.toMatchObject({
      code: 'E_TOOL_DOWNSTREAM_ERROR',
    })
  })

  test('ends with the executor, and its tools with it', async () => {
    const scripted = await connect([define('echo')])
    const executor = executorOf(scripted)
    const [echo] = scripted.server.tools()
    await executor.close()
    expect(scripted.server.tools()).toEqual([])
    await expect(echo?.({})).rejects.toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR' })
    expect(scripted.count(/^start/)).toBe(1)
  })
})

describe('a program that dies in a call', () => {
  test('fails the call with an unknown effect, and the next one finds it alive again', async () => {
    const scripted = await connect([define('die'), define('echo')])
    const executor = executorOf(scripted)
    expect(await executor.execute({ name: 'die', args: {} })).toMatchObject({
      status: 'error',
      effect: 'unknown',
      error: { code: 'E_TOOL_DOWNSTREAM_ERROR', category: 'network', retryable: true },
    })
    expect((await executor.execute({ name: 'echo', args: {} })).status).toBe('ok')
    expect(scripted.log().filter((line) => /^(start|call)/.test(line))).toEqual([
      'start',
      'call die {}',
      'start',
      'call echo {}',
    ])
  })

  test('is not sent the call again, whatever it says of its tool and however often we may try', async () => {
    const annotations = { readOnlyHint: true, idempotentHint: true }
    const scripted = await connect([define('die_once', { annotations })])
    const executor = createExecutor({ use: [scripted.server, retry({ attempts: 5, delay: 1 })] })
    expect(await executor.execute({ name: 'die_once', args: {} })).toMatchObject({ status: 'error', effect: 'unknown' })
    expect(scripted.count(/^call/)).toBe(1)
  })

  test('is sent the call once more where the application says that it may be', async () => {
    const scripted = await connect([define('die_once'), define('die')], {
      tools: { die_once: { traits: { idempotent: true } }, die: { traits: { readonly: true } } },
    })
    const executor = executorOf(scripted)
    expect((await executor.execute({ name: 'die_once', args: {} })).content).toEqual([{ type: 'text', text: 'alive' }])
    expect(scripted.count(/^call die_once/)).toBe(2)
    expect((await executor.execute({ name: 'die', args: {} })).status).toBe('error')
    expect(scripted.count(/^call die \{/)).toBe(2)
  })

  test('fails the calls beside it alike, and each settles once', async () => {
    const scripted = await connect([define('die'), define('hang')])
    const executor = executorOf(scripted)
    const beside = Array.from({ length: 20 }, () => executor.execute({ name: 'hang', args: {} }))
    await until(() => scripted.count(/^call hang/) === 20)
    await executor.execute({ name: 'die', args: {} })
    for (const result of await Promise.all(beside)) expect(result).toMatchObject({ status: 'error', effect: 'unknown' })
  })

  test('again and again is started a bounded number of times, and once more for each call that asks', async () => {
    const scripted = await connect([define('die'), define('echo')], { reconnects: 3, reconnectDelay: 1 })
    const executor = executorOf(scripted)
    for (let round = 0; round < 6; round++) await executor.execute({ name: 'die', args: {} })
    const starts = scripted.count(/^start/)
    expect(starts).toBeLessThanOrEqual(1 + 5 + 3)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(scripted.count(/^start/)).toBeLessThanOrEqual(starts + 1)
    expect((await executor.execute({ name: 'echo', args: {} })).status).toBe('ok')
  })
})

test('a message that is too large ends the connection, and the next call makes it anew', async () => {
  const scripted = await connect([define('huge'), define('echo')], { limits: { message: 100_000 } })
  const executor = executorOf(scripted)
  expect(await executor.execute({ name: 'huge', args: {} })).toMatchObject({ status: 'error', effect: 'unknown' })
  expect((await executor.execute({ name: 'echo', args: {} })).status).toBe('ok')
})

describe('a list that changes', () => {
  const changed = { name: 'change', args: { tools: [define('echo', { description: 'Another' }), define('more')] } }

  test('is renewed, and what stayed the same is the same', async () => {
    const scripted = await connect([define('change'), define('echo')])
    const executor = executorOf(scripted)
    const before = scripted.server.tools()
    await executor.execute({ name: 'change', args: { tools: [define('more'), define('echo')] } })
    await until(() => scripted.server.tools() !== before)
    expect(executor.tools().map(({ name }) => name)).toEqual(['more', 'echo'])
    expect(scripted.server.tools()[1]).toBe(before[1])
    expect(scripted.reported).toEqual([])
  })

  test('voids what was approved of a tool that is another now, and is reported', async () => {
    const confirmed = { echo: { requiresConfirmation: true } }
    const scripted = await connect([define('change'), define('echo')], { tools: confirmed })
    const executor = executorOf(scripted)
    const { token = '', status } = await executor.execute({ name: 'echo', args: {} })
    expect(status).toBe('waiting')
    await executor.execute(changed)
    await until(() => scripted.reported.length > 0)
    expect(messages(scripted.reported)).toEqual([
      expect.stringContaining('"echo" of the MCP server "scripted" has changed'),
    ])
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject({ code: 'E_APPROVAL_INVALID' })
    expect(scripted.count(/^call echo/)).toBe(0)
  })

  test('voids what is approved while the call waits for its person', async () => {
    const scripted = await connect([define('change'), define('echo')], {
      tools: { echo: { requiresConfirmation: true } },
    })
    const executor = createExecutor({
      use: [
        scripted.server,
        {
          approver: {
            async ask() {
              await scripted.server.tools().find(({ name }) => name === 'change')?.(changed.args)
              await until(() => scripted.reported.length > 0)
              return { decision: 'allow' as const }
            },
          },
        },
      ],
    })
    const { error } = await executor.execute({ name: 'echo', args: {} })
    expect(error?.message).toContain('"echo" has changed, and was not run')
    expect(scripted.count(/^call echo/)).toBe(0)
  })

  test('does not run a tool that is not offered any more', async () => {
    const scripted = await connect([define('change'), define('echo')])
    const [, echo] = scripted.server.tools()
    await executorOf(scripted).execute({ name: 'change', args: { tools: [] } })
    await until(() => scripted.server.tools().length === 0)
    await expect(echo?.({})).rejects.toThrow(/is not offered any more/)
  })

  test('two thousand times at once is renewed a few times', async () => {
    const scripted = await connect([define('storm')])
    await executorOf(scripted).execute({ name: 'storm', args: {} })
    await until(() => scripted.count(/^list/) > 1)
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(scripted.count(/^list/)).toBeLessThanOrEqual(5)
  })

  test('while the program was away voids what was approved of its tools alike', async () => {
    const tools = { echo: { requiresConfirmation: true } }
    const scripted = await connect([define('die'), define('echo')], { list: 'restarted', tools })
    const executor = executorOf(scripted)
    const { token = '' } = await executor.execute({ name: 'echo', args: {} })
    await executor.execute({ name: 'die', args: {} })
    await scripted.server.refresh()
    expect(scripted.server.tools().map(({ description }) => description)).toEqual([
      'After the restart',
      'After the restart',
    ])
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject({ code: 'E_APPROVAL_INVALID' })
    expect(messages(scripted.reported)).toEqual(
      ['die', 'echo'].map((name) => expect.stringContaining(`"${name}"`) as unknown),
    )
  })

  test('in what nobody goes by is the same list, however many ask at once', async () => {
    const scripted = await connect([define('change'), define('echo', { _meta: { served: 1 } })])
    const before = scripted.server.tools()
    const tools = [define('change'), define('echo', { _meta: { served: 2 } })]
    await executorOf(scripted).execute({ name: 'change', args: { tools } })
    await Promise.all(Array.from({ length: 10 }, () => scripted.server.refresh()))
    expect(scripted.server.tools()).toBe(before)
    expect(scripted.reported).toEqual([])
  })

  test('sets the same tool aside without saying so twice', async () => {
    const scripted = await connect([define('bad', { inputSchema: true }), define('echo')])
    await scripted.server.refresh()
    await scripted.server.refresh()
    expect(scripted.reported).toHaveLength(1)
  })
})
