// The configuration files that people have.
import { normalizeMCPConfig } from 'toolwright/mcp/client'
import { describe, expect, test } from 'vitest'

describe('a configuration', () => {
  test('is read with options that there are', () => {
    const config = { mcpServers: {} }
    const read = (options: object) => () => normalizeMCPConfig(config, options)
    expect(read({ vars: {} })).toThrow('has no option "vars"; its options are variables, overrides.')
    expect(read({ variables: 'TOKEN=abc' })).toThrow(/takes an object as `variables`\.$/)
    expect(read({ overrides: [] })).toThrow(/takes an object as `overrides`\.$/)
    expect(normalizeMCPConfig(config, { variables: process.env })).toEqual([])
  })

  test('of Claude and Cursor is a list of servers, in its order', () => {
    const config = {
      mcpServers: {
        files: {
          command: 'npx',
          args: ['-y', 'server-filesystem', '/srv'],
          env: { LOG: 'off' },
          alwaysAllow: ['write_file'],
        },
        issues: { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer x' } },
        old: { type: 'sse', url: 'https://example.com/sse' },
        resting: { command: 'sleep', disabled: true },
      },
    }
    expect(normalizeMCPConfig(config)).toEqual([
      { name: 'files', type: 'stdio', command: 'npx', args: ['-y', 'server-filesystem', '/srv'], env: { LOG: 'off' } },
      { name: 'issues', type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer x' } },
      { name: 'old', type: 'sse', url: 'https://example.com/sse', headers: {} },
    ])
  })

  test.each([
    ['VS Code', { servers: { s: { type: 'stdio', command: 'c' } } }, { type: 'stdio', command: 'c' }],
    ['Windsurf', { mcpServers: { s: { serverUrl: 'http://h' } } }, { type: 'http', url: 'http://h' }],
    ['Gemini', { mcpServers: { s: { httpUrl: 'http://h' } } }, { type: 'http', url: 'http://h' }],
    ['Cline', { mcpServers: { s: { type: 'streamableHttp', url: 'http://h' } } }, { type: 'http', url: 'http://h' }],
    ['one server by name', { s: { transport: 'sse', url: 'http://h' } }, { type: 'sse', url: 'http://h' }],
  ])('may be written as by %s', (_who, config, server) => {
    expect(normalizeMCPConfig(config)).toMatchObject([{ name: 's', ...server }])
  })

  test('gets the variables that it is given, and no others', () => {
    const config = {
      s: { command: '${HOME}/bin/${NAME:-server}', args: ['--key', '${env:KEY}'], env: { A: '${KEY}' } },
    }
    const variables = { HOME: '/home/me', KEY: 'k' }
    expect(normalizeMCPConfig(config, { variables })).toMatchObject([
      { command: '/home/me/bin/server', args: ['--key', 'k'], env: { A: 'k' } },
    ])
    expect(() => normalizeMCPConfig(config)).toThrow(/"s" uses \$\{HOME\} in `command`: give its value/)
    expect(() => normalizeMCPConfig({ s: { command: '${constructor}' } }, { variables })).toThrow(
      /uses \$\{constructor\}/,
    )
  })

  test('gives way to what is said at run time, field by field', () => {
    const config = {
      files: { command: 'npx', args: ['files'], env: { A: '1', B: '2' } },
      far: { url: 'https://a.example/mcp', headers: { 'x-a': '1' }, disabled: true },
    }
    const overrides = {
      files: { args: ['files', '${DIR}'], env: { B: '3', C: '4' } },
      far: { url: 'https://b.example/mcp', headers: { 'x-b': '2' }, disabled: false },
    }
    expect(normalizeMCPConfig(config, { overrides, variables: { DIR: '/tmp' } })).toEqual([
      { name: 'files', type: 'stdio', command: 'npx', args: ['files', '/tmp'], env: { A: '1', B: '3', C: '4' } },
      { name: 'far', type: 'http', url: 'https://b.example/mcp', headers: { 'x-a': '1', 'x-b': '2' } },
    ])
    expect(config.files.env).toEqual({ A: '1', B: '2' })
    expect(normalizeMCPConfig(config, { overrides: { files: { disabled: true } } })).toEqual([])
  })

  test('is not overridden by words that say nothing of its servers', () => {
    const config = { files: { command: 'npx' } }
    const wrong: readonly [overrides: object, says: RegExp][] = [
      [{ flies: { cwd: '/' } }, /names a server that the configuration does not have: "flies"\. It has files\./],
      [{ toString: {} }, /"toString"/],
      [{ files: 7 }, /"files" is not an object/],
      [{ files: { url: 'https://a.example' } }, /needs a `command` and no `url`/],
      [{ files: { env: { A: 1 } } }, /`env` that is not a string/],
    ]
    for (const [overrides, says] of wrong) {
      expect(() => normalizeMCPConfig(config, { overrides: overrides as never })).toThrow(says)
    }
  })

  test('may call a server anything', () => {
    const config = JSON.parse('{"mcpServers":{"__proto__":{"command":"c"},"constructor":{"command":"d"}}}') as unknown
    expect(normalizeMCPConfig(config).map(({ name }) => name)).toEqual(['__proto__', 'constructor'])
  })

  test.each<readonly [unknown, RegExp]>([
    [null, /has to be a JSON object/],
    [[], /has to be a JSON object/],
    [{ mcpServers: [] }, /object of servers by name/],
    [{ s: 'npx' }, /"s" is not an object/],
    [{ s: {} }, /"s" is of type "http" and needs no `command` but a `url`/],
    [{ s: { command: 'a', url: 'http://h' } }, /"s" is of type "stdio" and needs a `command` and no `url`/],
    [{ s: { type: 'stdio', url: 'http://h' } }, /needs a `command`/],
    [{ s: { type: 'http', command: 'a' } }, /needs no `command`/],
    [{ s: { type: 'carrier-pigeon', url: 'http://h' } }, /unknown `type`: "carrier-pigeon"/],
    [{ s: { type: 'ws', url: 'ws://h' } }, /asks for a websocket, which no version of the protocol has/],
    [{ s: { command: ['a'] } }, /`command` that is not a string/],
    [{ s: { command: 'a', args: 'b' } }, /`args` that is not an array/],
    [{ s: { command: 'a', args: [1] } }, /`args` that is not a string/],
    [{ s: { command: 'a', env: ['b'] } }, /`env` that is not an object/],
    [{ s: { url: 'http://h', headers: { a: 1 } } }, /`headers` that is not a string/],
  ])('that cannot be one is refused: %j', (config, reason) => {
    expect(() => normalizeMCPConfig(config)).toThrow(reason)
    expect(() => normalizeMCPConfig(config)).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
  })
})
