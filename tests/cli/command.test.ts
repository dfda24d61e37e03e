import { spawn } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { computeCallId } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { missing, program as serverProgram } from '../servers/installed.ts'
import { ended, file, moduleOf, openaiMessage, place, program, start, storyTools, toolwright } from './_command.ts'

const hostile = moduleOf('hostile.ts')
const registry = moduleOf('registry.ts')
const timeout = 60_000

// What a terminal obeys, or a reader is misled by.
// oxlint-disable-next-line eslint/no-control-regex -- these are what is looked for
const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/

describe('toolwright', { timeout }, () => {
  test('says how it is used, and how each command is', async () => {
    const [all, short, ...each] = await Promise.all([
      toolwright(['--help']),
      toolwright(['-h']),
      ...['init', 'run', 'call', 'list', 'id', 'calls', 'decide', 'prune'].map((name) => toolwright([name, '--help'])),
    ])
    expect(all).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Usage: toolwright <command>/), stderr: '' })
    expect(short).toEqual(all)
    expect(each.map(({ code, stdout }) => [code, stdout.split(' ', 3).join(' ')])).toEqual([
      [0, 'Usage: toolwright init'],
      [0, 'Usage: toolwright run'],
      [0, 'Usage: toolwright call'],
      [0, 'Usage: toolwright list'],
      [0, 'Usage: toolwright id'],
      [0, 'Usage: toolwright calls'],
      [0, 'Usage: toolwright decide'],
      [0, 'Usage: toolwright prune'],
    ])
  })

  test('says its version', async () => {
    const { default: manifest } = await import('../../package.json', { with: { type: 'json' } })
    expect(await toolwright(['--version'])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
  })
})

describe.concurrent('wrong usage', { timeout }, () => {
  const text = (name: string, content: string | Uint8Array): string => file(name, content)
  const asking = openaiMessage(['one'])

  const cases: readonly (readonly [title: string, words: () => string[], says: RegExp, stdin?: string])[] = [
    ['no command', () => [], /A command is missing\. Known are init, skills, run, call, list, id/],
    ['an unknown command', () => ['jump'], /There is no command "jump"/],
    ['a command with escapes in it', () => ['\u001B[31mred'], /There is no command "\\u001b\[31mred"/],
    ['a missing argument', () => ['run'], /Something is missing\. Usage: toolwright run <module>/],
    ['an argument too many', () => ['list', registry, 'x'], /"x" is one argument too many/],
    ['an unknown option', () => ['run', registry, '--fast'], /Unknown option '--fast'\./],
    ['an option of another command', () => ['list', registry, '--events'], /Unknown option '--events'\./],
    ['an option without its value', () => ['run', registry, '--timeout'], /'--timeout <value>' argument missing/],
    ['a value for a flag', () => ['run', registry, '--events=yes'], /'--events' does not take an argument/],
    [
      'a timeout that is no number',
      () => ['run', registry, '--timeout', 'NaN'],
      /--timeout takes a whole number of at least 0, got "NaN"/,
    ],
    ['a timeout with a unit', () => ['run', registry, '--timeout', '5s'], /got "5s"/],
    [
      'no concurrency at all',
      () => ['run', registry, '--concurrency', '0'],
      /--concurrency takes a whole number of at least 1, got "0"/,
    ],
    [
      'an unknown format',
      () => ['run', registry, '--format', 'cohere'],
      /There is no format "cohere"\. Known are anthropic, openai,/,
    ],
    ['a module that is not there', () => ['list', 'nowhere.ts'], /There is no file nowhere\.ts\./],
    [
      'a module that throws',
      () => ['list', text('throws.mjs', 'throw new TypeError("not\\n today")')],
      /throws\.mjs cannot be loaded: TypeError: not today$/,
    ],
    ['a module that throws null', () => ['list', text('null.mjs', 'throw null')], /null\.mjs cannot be loaded: null$/],
    [
      'a module that throws what cannot be read',
      () => ['list', text('proxy.mjs', "throw Object.defineProperty({}, 'message', { get() { throw 1 } })")],
      /cannot be loaded: something was thrown that cannot be read$/,
    ],
    [
      'a module that is not JavaScript',
      () => ['list', text('syntax.mjs', 'const = 1')],
      /syntax\.mjs cannot be loaded: SyntaxError:/,
    ],
    [
      'a module that imports what is not there',
      () => ['list', text('imports.mjs', 'import "no-such-package"')],
      /Cannot find package 'no-such-package'/,
    ],
    [
      'a module that never loads',
      () => ['list', text('hangs.mjs', 'await new Promise(() => {})')],
      /the module never finished loading/,
    ],
    [
      'a module without exports',
      () => ['list', text('empty.mjs', '')],
      /E_INVALID_CONFIGURATION: \S*empty\.mjs exports no tools, but nothing at all\./,
    ],
    [
      'a module without tools',
      () => ['list', text('other.mjs', 'export const a = 1, b = [], c = null; export default { d: 2 }')],
      /other\.mjs exports no tools, but a \(number\), b \(array\), c \(null\), default \(object\)\. Export what/,
    ],
    [
      'a module with two tools of one name',
      () => ['list', moduleOf('collision.ts')],
      /E_TOOL_ALREADY_REGISTERED: \S*collision\.ts: The name "same" is taken/,
    ],
    ['a message that is not there', () => ['run', registry, 'nowhere.json'], /nowhere\.json cannot be read: .*ENOENT/],
    ['a message that is a folder', () => ['run', registry, '/'], /\/ cannot be read: .*EISDIR/],
    ['an empty message', () => ['run', registry], /stdin is empty\. Give one JSON document\./, '\n'],
    [
      'a message that is not JSON',
      () => ['run', registry],
      /stdin is not valid JSON: expected .* at position 8 \(line 1, column 9\)/,
      '{"role":}',
    ],
    ['two messages at once', () => ['run', registry], /stdin is not valid JSON: expected the end of the text/, '{}{}'],
    [
      'a message that is not UTF-8',
      () => ['run', registry, text('utf16.json', Buffer.from('\uFEFF{}', 'utf16le'))],
      /utf16\.json is not text in UTF-8/,
    ],
    ['a message of more than 64 MiB', () => ['run', registry, '/dev/zero'], /\/dev\/zero has more than 67108864 bytes/],
    ['a message of no format', () => ['run', registry], /The format of the message is unknown/, '{"hello":"world"}'],
    ['a message that is no object', () => ['run', registry], /The format of the message is unknown/, '42'],
    ['an id of args that are not JSON', () => ['id', 'one', '{'], /E_INVALID_TOOL_ARGS: The args are not valid JSON/],
    [
      'an id of args with a key that comes twice',
      () => ['id', 'one', '{"a":1,"\\u0061":2}'],
      /E_UNCANONICAL_ARGS: .*the key comes a second time/,
    ],
    ['an id without args', () => ['id', 'one'], /Something is missing\. Usage: toolwright id/],
  ]

  test.for(cases)('%s: exit code 2, and one line that says what is wrong', async ([, words, says, stdin]) => {
    const { code, stdout, stderr } = await toolwright(words(), stdin ?? asking)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^toolwright: [^\n]*\n$/)
    expect(stderr.trimEnd()).toMatch(says)
    expect(stderr).not.toMatch(unsafe)
    expect(stderr).not.toMatch(/\bat .*\(?file:/)
  })
})

describe('toolwright call', { timeout }, () => {
  test('prints the result as JSON', async () => {
    const { code, stdout, stderr } = await toolwright(['call', hostile, 'double', '{"value":21}'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({
      toolName: 'double',
      callId: computeCallId('double', { value: 21 }),
      status: 'ok',
      effect: 'completed',
      isError: false,
      content: [{ type: 'text', text: '42' }],
      artifact: { kind: 'text', mediaType: 'text/plain', byteLength: 2 },
    })
  })

  test('calls as the user, who may call what no model is shown', async () => {
    const { stdout } = await toolwright(['call', hostile, 'person_only'])
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ data: { when: 'now', caller: 'user' } }] })
  })

  test('reads the args from stdin', async () => {
    const { stdout } = await toolwright(['call', hostile, 'double', '-'], '{"value":2}')
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ text: '4' }] })
  })

  test('gives an error of the call as its result, and exits 0, or 1 with --fail-on-error', async () => {
    const bad: readonly (readonly [code: string, ...words: string[]])[] = [
      ['E_TOOL_NOT_FOUND', 'nope'],
      ['E_INVALID_TOOL_ARGS', 'double', '{"value":"x"}'],
      ['E_INVALID_TOOL_ARGS', 'double', '{'],
      ['E_UNCANONICAL_ARGS', 'double', '{"value":1,"value":2}'],
      ['E_TOOL_DOWNSTREAM_ERROR', 'throws_hostile'],
      ['E_INVALID_TOOL_RESULT', 'gives_cycle'],
      ['E_TOOL_TIMEOUT', 'runs_for_ever', '{}', '--timeout', '30'],
    ]
    const results = await Promise.all(bad.map(([, ...words]) => toolwright(['call', hostile, ...words])))
    expect(results.map(({ code, stdout }) => [code, JSON.parse(stdout).error.code])).toEqual(
      bad.map(([code]) => [0, code]),
    )
    expect((await toolwright(['call', hostile, 'nope', '--fail-on-error'])).code).toBe(1)
  })

  test('writes nothing that a terminal could obey, whatever tools throw and give', async () => {
    const [failure, result] = await Promise.all([
      toolwright(['call', hostile, 'throws_escapes']),
      toolwright(['call', hostile, 'gives_escapes']),
    ])
    expect(failure.stdout).not.toMatch(unsafe)
    expect(result.stdout).not.toMatch(unsafe)
    expect(JSON.parse(result.stdout)).toMatchObject({
      content: [{ data: { text: '\u001B]0;title\u0007 \u009B2J \u202E' } }],
    })
  })

  test('lets the reply out when it is interrupted, and exits as a process does that was', async () => {
    const child = start([...program, 'call', hostile, 'runs_for_ever'])
    const end = ended(child)
    child.stderr.once('data', () => child.kill('SIGINT'))
    const { code, stdout } = await end
    expect(code).toBe(130)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'cancelled', effect: 'unknown' })
  })
})

describe('--events', { timeout }, () => {
  test('writes every event as one line of JSON, numbered without gaps, and without tokens', async () => {
    const message = openaiMessage(['double', { value: 1 }], ['progresses'], ['wants_yes', { what: 'x' }], ['nope'])
    const { code, stderr } = await toolwright(['run', hostile, '--events'], message)
    const events: readonly { event: string; id: string; seq: number; data?: unknown }[] = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const of = (id: string): string[] => events.filter((event) => event.id === id).map(({ event }) => event)
    expect(code).toBe(0)
    expect(of('call_0')).toEqual(['call:received', 'tool:start', 'tool:end', 'call:settled'])
    // The command ends, and with it the call that waits.
    expect(of('call_2')).toEqual(['call:received', 'call:waiting', 'call:settled'])
    expect(of('call_3')).toEqual(['call:received', 'call:settled'])
    for (const id of ['call_0', 'call_1', 'call_2', 'call_3']) {
      const numbers = events.filter((event) => event.id === id).map(({ seq }) => seq)
      expect(numbers).toEqual(numbers.map((_, index) => index))
    }
    expect(events.filter(({ event }) => event === 'tool:progress').map(({ data }) => data)).toEqual([
      { step: 1 },
      '[not JSON]',
      '\u001B[2J',
    ])
    expect(stderr).not.toContain('token')
    expect(stderr).not.toMatch(unsafe)
  })
})

describe('toolwright check', { timeout }, () => {
  test('prints the table that the page of the formats shows', async () => {
    const { code, stdout, stderr } = await toolwright(['check', storyTools, '--strict'])
    const weights = /\ntokens +anthropic +openai +gemini\n(?:\w+(?: +\d+){3}\n){5,}all(?: +\d+){3}\n$/
    expect(stdout).toMatch(weights)
    const [, ...sums] = stdout.trimEnd().split('\n').at(-1)?.split(/ +/) ?? []
    for (const sum of sums) expect(Number(sum)).toBeGreaterThan(200)
    const page = readFileSync(join(import.meta.dirname, '../../src/formats/README.md'), 'utf8')
    const [, table = ''] = /check tests\/examples\/tools\.ts --strict\n([^]*?)\n…/.exec(page) ?? []
    expect(table).toMatch(/^tool  +anthropic  +openai  +gemini\n/)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.startsWith(`${table}\n`)).toBe(true)
    expect(stdout).toContain('\n  search_book /properties/limit: nullable (null leaves it out)\n')
  })

  test('prints the reports as JSON, and fails on what it is told', async () => {
    const [json, loss, refused] = await Promise.all([
      toolwright(['check', storyTools, '--format', 'openai', '--format', 'gemini@openapi', '--json']),
      toolwright(['check', storyTools, '--fail-on', 'loss']),
      toolwright(['check', storyTools, '--fail-on', 'refused', '--strict']),
    ])
    const reports = JSON.parse(json.stdout) as Record<string, { toolName: string; losses: unknown[] }[]>
    expect(Object.keys(reports)).toEqual(['openai', 'gemini@openapi'])
    expect(reports['openai']?.map(({ toolName, losses }) => [toolName, losses.length])).toEqual(
      ['get_forecast', 'convert_length', 'exchange', 'search_book', 'keep_notes'].map((name) => [name, 0]),
    )
    expect([json.code, loss.code, refused.code]).toEqual([0, 1, 0])
  })

  test('says which tools a limit of the request leaves without strictness', async () => {
    const { code, stdout } = await toolwright([
      'check',
      moduleOf('wide.ts'),
      '--strict',
      '--format',
      'anthropic',
      '--fail-on',
      'refused',
    ])
    expect(stdout).toMatch(/^three +not as asked: 36 optional fields in strict tools in one request, 24 are taken$/m)
    expect(stdout).toMatch(/^anthropic: 36 optional fields .*: 2 tools stay non-strict$/m)
    expect(code).toBe(1)
  })

  test.skipIf(missing !== undefined)('reads the tools of an MCP server', async () => {
    const server = `${process.execPath} ${serverProgram('mcp-server-everything')} stdio`
    const { code, stdout } = await toolwright(['check', '--mcp', server, '--format', 'openai', '--strict'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^echo +strict \(\d+\)$/m)
  })

  test.each([
    [['check'], /Give a module, --mcp or --openapi, and one of them alone\./],
    [['check', storyTools, '--mcp', 'x'], /Give a module, --mcp or --openapi, and one of them alone\./],
    [['check', storyTools, '--fail-on', 'all'], /--fail-on takes loss, refused or omitted, got "all"\./],
    [['list', storyTools, '--strict'], /--strict needs --format/],
  ])('refuses %j', async (words, says) => {
    const { code, stderr } = await toolwright(words)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(says) as string })
  })

  test('has the definitions on stdout and the losses on stderr, if they are listed as strict', async () => {
    const { code, stdout, stderr } = await toolwright(['list', storyTools, '--format', 'anthropic', '--strict'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject(Array.from({ length: 5 }, () => ({ strict: true })))
    expect(stderr).toContain('toolwright: get_forecast /properties/days/default: in words (Default: 1.)\n')
  })
})

describe('toolwright list', { timeout }, () => {
  test('prints what each tool says of itself, and sets those aside whose schema cannot be said', async () => {
    const { code, stdout, stderr } = await toolwright(['list', hostile])
    const names = (JSON.parse(stdout) as { name: string; inputSchema: unknown }[]).map(({ name }) => name)
    expect(code).toBe(0)
    expect(names).toContain('double')
    expect(names).toContain('person_only')
    expect(names).not.toContain('cannot_be_shown')
    expect(stderr).toMatch(/^toolwright: a tool is set aside: .*"cannot_be_shown".*[Dd]ate.*\n$/)
  })

  test.for([
    ['anthropic', ['input_schema', 'person_only'], 0],
    ['openai', ['"function"', 'person_only'], 0],
    ['openai-responses', ['"parameters"', 'person_only'], 0],
    ['gemini', ['functionDeclarations', 'person_only'], 0],
    ['ai-sdk', ['"inputSchema"', 'person_only'], 0],
    ['mcp', ['"annotations"', 'person_only'], 0],
  ] as const)(
    'prints the definitions in the shape of %s, without those that are for people',
    async ([format, [shape, hidden]]) => {
      const { code, stdout, stderr } = await toolwright(['list', hostile, '--format', format])
      expect(code).toBe(0)
      expect(stdout).toContain(shape)
      expect(stdout).not.toContain(hidden)
      expect(stdout).not.toContain('cannot_be_shown')
      expect(stderr).toMatch(/^toolwright: a tool is set aside: .*"cannot_be_shown".*\n$/)
    },
  )

  test('says on stderr, once, which tool an API cannot take', async () => {
    const { code, stdout, stderr } = await toolwright(['list', moduleOf('pictures.ts'), '--format', 'openai'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject([{ type: 'function', function: { name: 'map' } }])
    expect(stderr).toMatch(/^toolwright: [^\n]*"search"[^\n]*no tool of type "web_search"[^\n]*\n$/)
    const responses = await toolwright(['list', moduleOf('pictures.ts'), '--format', 'openai-responses'])
    expect(responses.stderr).toBe('')
    expect(JSON.parse(responses.stdout)).toContainEqual({ type: 'web_search' })
  })

  test('lists tools, arrays and registries by any name, and each tool once', async () => {
    const { stdout } = await toolwright(['list', registry])
    const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)
    expect(names.toSorted()).toEqual(['one', 'three', 'two'])
  })

  test('lists what a CommonJS module exports', async () => {
    // Node loads ES modules by `require` as well.
    const module = file(
      'common.cjs',
      `const { tool } = require(${JSON.stringify(join(import.meta.dirname, '../../src/index.ts'))})
       module.exports = Object.fromEntries([['computed', tool('common', () => 1)]])`,
    )
    const { code, stdout } = await toolwright(['list', module])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'common' }])
  })

  test('knows tools and registries of another copy of the package, and runs them', async () => {
    for (const part of ['src', 'validators', 'package.json']) cpSync(part, place(`copy/${part}`), { recursive: true })
    const module = file(
      'foreign.ts',
      `import { tool, ToolRegistry } from './copy/src/index.ts'
       const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
       export const raw = tool({ name: 'raw', description: 'Raw', inputSchema, handler: ({ n }) => n + 1 })
       export const registry = new ToolRegistry([tool('plain', () => 'plain')])`,
    )
    const { code, stdout } = await toolwright(['run', module], openaiMessage(['raw', { n: 1 }], ['raw', {}], ['plain']))
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject([
      { content: '2' },
      { content: expect.stringContaining('The args of raw are not valid') },
      { content: 'plain' },
    ])
  })
})

describe('toolwright id', { timeout }, () => {
  test('prints the callId, the same however the args are written', async () => {
    const forms = ['{"city":"Oslo","days":3}', ' { "days": 3.0, "city": "\\u004fslo" } ']
    const ids = await Promise.all(forms.map((args) => toolwright(['id', 'get_forecast', args])))
    const fromStdin = await toolwright(['id', 'get_forecast', '-'], forms[1])
    const expected = `${computeCallId('get_forecast', { city: 'Oslo', days: 3 })}\n`
    expect([...ids, fromStdin].map(({ stdout }) => stdout)).toEqual([expected, expected, expected])
  })

  test('takes blank args for none, as a call does', async () => {
    expect((await toolwright(['id', 'now', ''])).stdout).toBe(`${computeCallId('now', {})}\n`)
  })

  test('is that of the result', async () => {
    const { stdout } = await toolwright(['call', storyTools, 'get_forecast', '{"city":"Oslo"}'])
    expect(JSON.parse(stdout).callId).toBe(computeCallId('get_forecast', { city: 'Oslo' }))
  })
})

describe('stdout', { timeout }, () => {
  const many = moduleOf('many.ts')

  test('may be closed by its reader, which is no crash', async () => {
    const { code, stdout, stderr } = await shell('"$@" | head -c 20; exit ${PIPESTATUS[0]}', 'list', many)
    expect({ code, stdout: stdout.length, stderr }).toEqual({ code: 0, stdout: 20, stderr: '' })
  })

  test('carries a large answer whole', async () => {
    const { code, stdout } = await shell('"$@" | cat; exit ${PIPESTATUS[0]}', 'list', many)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toHaveLength(3_000)
  })

  test.skipIf(!existsSync('/dev/full'))('that cannot be written ends in exit code 1 and one line', async () => {
    const { code, stderr } = await shell('"$@" > /dev/full', 'list', many)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^toolwright: [^\n]*ENOSPC[^\n]*\n$/) })
  })

  function shell(script: string, ...words: readonly string[]): ReturnType<typeof ended> {
    return ended(spawn('bash', ['-c', script, 'bash', ...program, ...words], { stdio: 'pipe' }))
  }
})
