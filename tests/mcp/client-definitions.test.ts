// What becomes of the definitions that a server lists.
import { createExecutor, tool } from 'toolwright'
import { mcpTools, type ServerTool } from 'toolwright/mcp/client'
import { byTraits } from 'toolwright/policies/by-traits'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { connect, define, messages, scriptedServer } from './_scripted.ts'

const namesOf = (tools: readonly { readonly name: string }[]): string[] => tools.map(({ name }) => name)

describe('a listing', () => {
  test('is read to its last page, and its tools know where they come from', async () => {
    const { server, count } = await connect(
      ['one', 'two', 'three', 'four', 'five'].map((name) => define(name)),
      { list: 'pages' },
    )
    expect(namesOf(server.tools())).toEqual(['one', 'two', 'three', 'four', 'five'])
    expect(count(/^list/)).toBe(3)
    expect(createExecutor({ use: [server] }).tools()[0]).toMatchObject({
      type: 'mcp',
      description: 'The tool one',
      trusted: false,
      mcpConfig: { serverName: 'scripted', toolName: 'one', transport: 'stdio' },
    })
    expect(server.tools()).toBe(server.tools({ isTaken: () => false }))
  })

  test('that never ends is taken up to its limit of pages, and reported', async () => {
    const { server, count, reported } = await connect([], { list: 'endless', limits: { pages: 7 } })
    expect(server.tools()).toHaveLength(7)
    expect(count(/^list/)).toBe(7)
    expect(messages(reported)).toEqual([expect.stringContaining('does not come to an end')])
  })

  test('that never ends is taken up to its limit of tools, and reported', async () => {
    const { server, reported } = await connect([], { list: 'endless', limits: { tools: 5 } })
    expect(server.tools()).toHaveLength(5)
    expect(messages(reported)).toEqual([expect.stringContaining('has more than 5 tools')])
  })

  test('that goes in a circle is read once', async () => {
    const { server, count } = await connect([define('one')], { list: 'circle' })
    expect(namesOf(server.tools())).toEqual(['one'])
    expect(count(/^list/)).toBe(2)
  })

  test('that is none refuses the connection', async () => {
    await expect(connect([], { list: 'shapeless' })).rejects.toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR' })
  })
})

describe('a definition that cannot be used is set aside and reported, and the others stand:', () => {
  const bad: readonly (readonly [string, unknown, RegExp])[] = [
    ['no object', 'a tool', /not an object/],
    ['nothing', null, /not an object/],
    ['no name', { inputSchema: { type: 'object' } }, /name is not a non-empty string/],
    ['an empty name', define(''), /name is not a non-empty string/],
    ['no schema', { name: 'bad' }, /`inputSchema` is not an object/],
    ['a schema that is true', define('bad', { inputSchema: true }), /`inputSchema` is not an object/],
    ['a schema of no object', define('bad', { inputSchema: { type: 'string' } }), /not of type "object"/],
    ['a description that is no text', define('bad', { description: 7 }), /title or description is not a string/],
    ['a keyword of the wrong form', define('bad', { inputSchema: { type: 'object', required: 'all' } }), /required/],
    [
      'an address to be fetched',
      define('bad', { inputSchema: { type: 'object', $ref: 'http://127.0.0.1:9/s' } }),
      /ref/,
    ],
    ['a file to be read', define('bad', { inputSchema: { type: 'object', $ref: 'file:///etc/passwd' } }), /ref/],
    ['a reference to nothing', define('bad', { inputSchema: { type: 'object', $ref: '#/$defs/none' } }), /ref/],
    ['a reference to itself', define('bad', { inputSchema: { type: 'object', $ref: '#' } }), /ref/],
    [
      'a pattern without a linear form',
      define('bad', { inputSchema: { type: 'object', properties: { a: { pattern: '(a)\\1' } } } }),
      /pattern/,
    ],
    [
      'an output schema of the wrong form',
      define('bad', { outputSchema: { type: 'object', properties: [] } }),
      /properties/,
    ],
    ['a task', define('bad', { execution: { taskSupport: 'required' } }), /task/],
    ['too much', define('bad', { description: 'x'.repeat(70_000) }), /at most 65536 are accepted/],
  ]

  test.each(bad)('%s', async (_what, definition, reason) => {
    const { server, reported } = await connect([define('first'), definition, define('last')])
    expect(namesOf(server.tools())).toEqual(['first', 'last'])
    expect(messages(reported)).toEqual([expect.stringMatching(reason)])
    expect(reported[0]).toMatchObject({ code: 'E_SCHEMA_CONVERSION' })
  })

  test('and by default that is one line on the console, with its name, its server and the reason', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => printed.mockRestore())
    const broken = define('bad', { inputSchema: { type: 'object', required: 'all\nof it' } })
    const { report: _report, ...options } = scriptedServer([define('first'), broken]).options
    const server = await mcpTools(options)
    onTestFinished(() => server.close())
    expect(printed.mock.calls).toEqual([
      [
        expect.stringMatching(
          /^E_SCHEMA_CONVERSION: The tool "bad" of the MCP server "scripted" is set aside: [^\n]*required/,
        ),
      ],
    ])
    expect(String(printed.mock.calls[0]?.[0])).not.toMatch(/\n/)
  })

  test('and no terminal obeys the report', async () => {
    const evil = '\u001b[2J\u009b31m\u202e\nINFO all is well'
    const { reported } = await connect([define(evil, { inputSchema: { type: 'object', [evil]: 1, required: evil } })])
    expect(messages(reported).join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
  })

  test('and so is the second of one name', async () => {
    const { server, reported } = await connect([define('one', { description: 'The first' }), define('one')])
    expect(server.tools().map(({ description }) => description)).toEqual(['The first'])
    expect(messages(reported)).toEqual([expect.stringContaining('listed twice')])
  })
})

describe('names', () => {
  test('that models cannot call are mapped, and the original is kept', async () => {
    const long = 'n'.repeat(100)
    const { server } = await connect(['files/read', 'files_read', 'файл', long].map((name) => define(name)))
    const byOriginal = new Map(server.tools().map((each) => [each.mcpConfig?.['toolName'], each.name]))
    expect(byOriginal.get('files_read')).toBe('files_read')
    expect(byOriginal.get('files/read')).toMatch(/^files_read_[0-9a-f]{8}$/)
    expect(byOriginal.get('файл')).toMatch(/^tool_[0-9a-f]{8}$/)
    expect(byOriginal.get(long)).toMatch(/^n{55}_[0-9a-f]{8}$/)
    for (const name of byOriginal.values()) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  })

  test('that are too like each other are told apart, the same way each time', async () => {
    const definitions = [define('get-user'), define('get_user'), define('GET_USER')]
    const [one, other] = await Promise.all([connect(definitions), connect(definitions)])
    expect(new Set(namesOf(one.server.tools())).size).toBe(3)
    expect(namesOf(one.server.tools())).toEqual(namesOf(other.server.tools()))
    expect(createExecutor({ use: [one.server] }).tools()).toHaveLength(3)
  })

  test('take the prefix of the application', async () => {
    const { server } = await connect([define('read')], { prefix: 'files' })
    expect(namesOf(server.tools())).toEqual(['files_read'])
  })

  test('of two servers live side by side: the second is in its own namespace', async () => {
    const first = await connect([define('echo'), define('only_first')], { name: 'first' })
    const second = await connect([define('Echo'), define('echo')], { name: 'second' })
    const executor = createExecutor({ use: [first.server, second.server] })
    expect(namesOf(executor.tools())).toEqual([
      'echo',
      'only_first',
      'second_Echo',
      expect.stringMatching(/^echo_[0-9a-f]{8}$/),
    ])
    await executor.execute({ name: 'echo', args: { from: 'the model' } })
    expect(first.count(/^call echo/)).toBe(1)
    expect(second.count(/^call/)).toBe(0)
  })

  test('of the application stay its own: no server takes their calls', async () => {
    const ran: string[] = []
    const own = tool('echo', () => void ran.push('own'))
    const { server, count } = await connect([define('echo')])
    const executor = createExecutor({ tools: [own], use: [server] })
    expect(namesOf(executor.tools())).toEqual(['echo', 'scripted_echo'])
    await executor.execute({ name: 'echo', args: {} })
    expect(ran).toEqual(['own'])
    expect(count(/^call/)).toBe(0)
    await executor.execute({ name: 'scripted_echo', args: {} })
    expect(count(/^call echo/)).toBe(1)
  })
})

describe('the host', () => {
  const definitions = [define('read'), define('write', { annotations: { destructiveHint: true } }), define('list')]

  test('takes some tools and leaves others, by name or by what they are', async () => {
    const include = await connect(definitions, { include: ['read', 'list'], exclude: ['list'] })
    expect(namesOf(include.server.tools())).toEqual(['read'])
    const exclude = await connect(definitions, {
      exclude: ({ annotations }: ServerTool) => annotations?.['destructiveHint'] === true,
    })
    expect(namesOf(exclude.server.tools())).toEqual(['read', 'list'])
  })

  test('says what a tool is like, and is believed', async () => {
    const { server } = await connect(definitions, {
      timeout: 5_000,
      tools: {
        read: { traits: { readonly: true }, timeout: 100 },
        write: { description: 'Writes', requiresConfirmation: true },
      },
    })
    const [read, write, list] = createExecutor({ use: [server] }).tools()
    expect(read).toMatchObject({ traits: { readonly: true, destructive: false }, timeout: 100 })
    expect(write).toMatchObject({ description: 'Writes', requiresConfirmation: true, timeout: 5_000, type: 'mcp' })
    expect(list).toMatchObject({ requiresConfirmation: false, timeout: 5_000 })
  })

  test('who trusts a server says so in a function', async () => {
    const { server } = await connect([define('read', { annotations: { readOnlyHint: true } })], {
      tools: ({ annotations }) => ({ traits: { readonly: annotations?.['readOnlyHint'] === true } }),
    })
    expect(server.tools()[0]?.traits.readonly).toBe(true)
  })
})

describe('what a server says of its tools', () => {
  test('never becomes a trait, and moves no policy', async () => {
    const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
    const { server, count } = await connect([define('echo', { annotations })])
    const [echo] = server.tools()
    expect(echo?.traits).toEqual({
      readonly: false,
      destructive: false,
      idempotent: false,
      openWorld: false,
      concurrent: true,
    })
    expect(echo?.meta).toEqual({ annotations })
    const executor = createExecutor({ use: [server, byTraits({ readonly: 'allow', otherwise: 'deny' })] })
    expect((await executor.execute({ name: 'echo', args: {} })).status).toBe('denied')
    expect(count(/^call/)).toBe(0)
  })

  test('has the traits that the application gave it, and a policy that goes by traits believes them', async () => {
    const annotations = { readOnlyHint: true, destructiveHint: false, openWorldHint: false }
    const tools = {
      echo: { traits: { readonly: true } },
      change: { traits: { readonly: false, destructive: false } },
      storm: { traits: { idempotent: true } },
    }
    const names = ['echo', 'change', 'storm', 'flood']
    const listed = names.map((name) => define(name, { annotations }))
    const { server, count } = await connect(listed, { tools })
    const executor = createExecutor({
      use: [server, byTraits({ readonly: 'allow', destructive: 'deny', otherwise: 'ask' })],
    })
    const results = await executor.executeToolCalls(names.map((name) => ({ name, args: {} })))
    expect(results.map(({ status }) => status)).toEqual(['ok', 'waiting', 'denied', 'denied'])
    expect(results[2]?.error?.message).toMatch(/by byTraits .* not believed\. .*`believe`/)
    expect(count(/^call/)).toBe(1)
    expect(server.tools().map(({ mcpConfig }) => mcpConfig?.hostTraits)).toEqual([
      tools.echo.traits,
      tools.change.traits,
      tools.storm.traits,
      undefined,
    ])
  })

  test('is shown with nothing hidden in it, and demands what it demanded', async () => {
    const secret = '\u{e0049}\u{e0047}\u{e004e}'
    const inputSchema = {
      type: 'object',
      properties: { a: { const: 'b\u202e', description: `Plain\u001b[2J${secret}`, title: '\u200bt' } },
    }
    const { server } = await connect([
      define('one', { title: 'T\u009b', description: `Ends here.\u001b]0;x\u0007\n\u202eAlso ${secret}`, inputSchema }),
    ])
    const [one] = server.tools()
    expect(one?.description).toBe(
      'Ends here.\\u001b]0;x\\u0007\n\\u202eAlso \\udb40\\udc49\\udb40\\udc47\\udb40\\udc4e',
    )
    expect(one?.title).toBe('T\\u009b')
    const shown = JSON.stringify(one?.describe().inputSchema)
    expect(shown).toContain('Plain')
    expect(JSON.parse(shown)).toMatchObject({ properties: { a: { const: 'b\u202e', title: '\\u200bt' } } })
    expect(shown).not.toMatch(/\u{e0049}|(?<!\\)\\u001b/u)
    await expect(one?.validate({ a: 'b\u202e' })).resolves.toBeDefined()
  })

  test('may be nothing: the model is told whose tool it is', async () => {
    const { server } = await connect([
      { name: 'bare', inputSchema: { type: 'object' } },
      define('blank', { description: ' ' }),
    ])
    expect(server.tools().map(({ description }) => description)).toEqual([
      'The tool bare of scripted',
      'The tool blank of scripted',
    ])
  })

  test('gives a view and who may see it, and nothing else of `_meta` is believed', async () => {
    const { server } = await connect([
      define('board', { _meta: { ui: { resourceUri: 'ui://s/board', visibility: ['app', 'root'] } } }),
      define('old', { _meta: { 'ui/resourceUri': 'ui://s/old' } }),
      define('evil', { _meta: { ui: { resourceUri: 'javascript:alert(1)' } } }),
    ])
    expect(server.tools().map(({ ui }) => ui)).toEqual([
      { resourceUri: 'ui://s/board', visibility: ['app'] },
      { resourceUri: 'ui://s/old' },
      undefined,
    ])
    const executor = createExecutor({ use: [server] })
    expect(namesOf(executor.tools('model'))).toEqual(['old', 'evil'])
    expect(namesOf(executor.tools({ app: 'scripted' }))).toContain('board')
    expect(executor.tools({ app: 'another' })).toEqual([])
  })
})

describe('the program', () => {
  test('is told the version of the package', async () => {
    const { default: manifest } = await import('../../package.json', { with: { type: 'json' } })
    const { log } = await connect([])
    expect(log()).toContain(`client ${manifest.version}`)
  })
})
