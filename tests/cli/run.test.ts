import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { file, moduleOf, openaiMessage, openaiReply, storyMessage, storyTools, toolwright } from './_command.ts'

const hostile = moduleOf('hostile.ts')
const pictures = moduleOf('pictures.ts')
const containing = (text: string): string => expect.stringContaining(text) as string

const bergen = JSON.stringify([
  { day: 1, sky: 'rain', high: 9 },
  { day: 2, sky: 'rain', high: 8 },
  { day: 3, sky: 'showers', high: 10 },
])
const lisbon = JSON.stringify([
  { day: 1, sky: 'sun', high: 24 },
  { day: 2, sky: 'sun', high: 26 },
])
const clerk = { line: 5, text: 'The clerk writes down who came, what was made, and how long it took.' }
const gates = [
  { line: 1, text: 'A gate is a place where somebody looks at you.' },
  { line: 2, text: 'The first gate asks for your name, the second for your papers.' },
]

/** The replies to the messages of the examples. */
const replies: readonly (readonly [format: string, reply: unknown])[] = [
  [
    'anthropic',
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_01A09q90qw90lq917835lq9a', content: bergen },
        { type: 'tool_result', tool_use_id: 'toolu_01A09q90qw90lq917835lq9b', content: '26.218757 mi' },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_01A09q90qw90lq917835lq9c',
          content: containing('waits for approval'),
        },
      ],
    },
  ],
  [
    'openai',
    [
      { role: 'tool', tool_call_id: 'call_1Kq7', content: '{"amount":2875,"currency":"NOK"}' },
      { role: 'tool', tool_call_id: 'call_2Zb4', content: containing('amount must be positive (was -3)') },
      { role: 'tool', tool_call_id: 'call_3Rw9', content: '[{"day":1,"sky":"clouds","high":7}]' },
    ],
  ],
  [
    'openai-responses',
    [
      { type: 'function_call_output', call_id: 'call_book', output: JSON.stringify([clerk]) },
      {
        type: 'function_call_output',
        call_id: 'call_keep',
        output: '{"notes":["the clerk writes everything down","nobody leaves by the way they came"]}',
      },
    ],
  ],
  [
    'gemini',
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'convert_length', response: { output: '6.889764 ft' } } },
        { functionResponse: { name: 'convert_length', response: { output: '82.677165 in' } } },
        {
          functionResponse: {
            name: 'get_forecast',
            response: { error: containing('Nobody watches the sky over Atlantis.') },
          },
        },
      ],
    },
  ],
  [
    'ai-sdk',
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'call_9Yt1',
          toolName: 'exchange',
          output: { type: 'json', value: { amount: 76.89, currency: 'GBP' } },
        },
        {
          type: 'tool-result',
          toolCallId: 'call_9Yt2',
          toolName: 'search_book',
          output: { type: 'json', value: gates },
        },
      ],
    },
  ],
  [
    'mcp',
    [
      { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: lisbon }] } },
      { jsonrpc: '2.0', id: 2, error: { code: -32602, message: containing('There is no tool "open_umbrella"') } },
      { jsonrpc: '2.0', id: 'three', result: { content: [{ type: 'text', text: '42.164813 km' }] } },
    ],
  ],
]

describe.each(replies)('a message in the format %s', { timeout: 60_000 }, (format, reply) => {
  test('is answered in its own format, the same from a file, and from stdin with the format named', async () => {
    const text = readFileSync(storyMessage(format), 'utf8')
    const answers = await Promise.all([
      toolwright(['run', storyTools, storyMessage(format)]),
      toolwright(['run', storyTools, '--format', format, '-'], text),
    ])
    for (const { code, stdout, stderr } of answers) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(JSON.parse(stdout)).toEqual(reply)
    }
  })
})

describe('toolwright run', { timeout: 60_000 }, () => {
  test('answers every bad call with an error, and the good ones around it as ever', async () => {
    const deep = `{"value":${'['.repeat(300)}${']'.repeat(300)}}`
    const bad: readonly (readonly [call: readonly [string, unknown], reply: string])[] = [
      [['no_such_tool', {}], 'There is no tool "no_such_tool"'],
      [['double', '{"value":'], 'The args are not valid JSON'],
      [['double', '{"value":1,"value":2}'], 'the key comes a second time'],
      [['double', deep], 'more than 256 levels'],
      [['double', { value: 'x'.repeat(300_000) }], 'larger than 262144 bytes'],
      [['double', { value: 'two' }], 'The args of double are not valid: args.value:'],
      [['cannot_be_shown', { when: '2026-01-01' }], 'The args of cannot_be_shown'],
      [['bad_schema', { a: 1 }], 'The JSON Schema cannot be used'],
      [['throws_null', {}], 'null'],
      [['throws_text', {}], 'just text'],
      [['throws_frozen', {}], 'RangeError: frozen'],
      [['throws_hostile', {}], 'something was thrown that cannot be read'],
      [['gives_cycle', {}], 'refers to itself'],
      [['gives_bigint', {}], 'JSON cannot hold bigint 1'],
    ]
    const calls = bad.flatMap(([call], index) => [call, ['double', { value: index }] as const])
    const { code, stdout } = await toolwright(['run', hostile], openaiMessage(...calls))
    const texts = openaiReply(stdout)
    expect(code).toBe(0)
    expect(texts.filter((_, index) => index % 2 === 1)).toEqual(bad.map((_, index) => String(index * 2)))
    expect(texts.filter((_, index) => index % 2 === 0)).toEqual(bad.map(([, reply]) => containing(reply)))
  })

  test('sets a tool aside that no model could be shown, with a line on stderr', async () => {
    const module = moduleOf('undescribable.ts')
    const { code, stdout, stderr } = await toolwright(['run', module], openaiMessage(['fine'], ['cannot_be_shown']))
    expect(code).toBe(0)
    expect(openaiReply(stdout)).toEqual(['fine', containing('no tool "cannot_be_shown"')])
    expect(stderr).toMatch(/^toolwright: a tool is set aside: [^\n]*cannot_be_shown[^\n]*\n$/)
  })

  test('skips calls that the provider ran itself', async () => {
    const { stdout } = await toolwright(['run', storyTools, storyMessage('anthropic')])
    expect(stdout).not.toContain('srvtoolu')
  })

  test('prints nothing and says so where the message asks for no call', async () => {
    const text = JSON.stringify({ role: 'assistant', content: 'Hello.' })
    const { code, stdout, stderr } = await toolwright(['run', storyTools], text)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(/^toolwright: the message, read as openai, has no call to run here\.\n$/)
  })

  test('calls as the model, which is told of no tool that is for people', async () => {
    const { stdout } = await toolwright(['run', hostile], openaiMessage(['person_only']))
    expect(openaiReply(stdout)[0]).toMatch(/There is no tool "person_only"\. Available: (?!.*, person_only)/)
  })

  test('reads a message in the format that is forced, and says which format would read it', async () => {
    const forced = await toolwright(['run', storyTools, '--format', 'gemini', storyMessage('openai')])
    expect(forced).toMatchObject({ code: 2, stdout: '', stderr: containing('Use the format openai.') })
    const text = await toolwright(['run', storyTools, '--format', 'anthropic'], '{"role":"assistant","content":"Hi"}')
    expect(text).toMatchObject({ code: 0, stderr: containing('read as anthropic') })
  })

  test('writes pictures as the version of the AI SDK takes them that is named', async () => {
    const message = JSON.stringify([{ type: 'tool-call', toolCallId: 'a', toolName: 'map', input: {} }])
    const parts: unknown[] = []
    for (const format of ['ai-sdk', 'ai-sdk@6', 'ai-sdk@5']) {
      const { code, stdout, stderr } = await toolwright(['run', pictures, '--format', format], message)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const reply = JSON.parse(stdout) as { content: { output: { value: unknown[] } }[] }
      parts.push(reply.content[0]?.output.value[0])
    }
    expect(parts).toEqual([
      { type: 'file', mediaType: 'image/gif', data: { type: 'data', data: 'R0lGOA==' } },
      { type: 'image-data', mediaType: 'image/gif', data: 'R0lGOA==' },
      { type: 'media', mediaType: 'image/gif', data: 'R0lGOA==' },
    ])
  })

  test('exits 1 with --fail-on-error if a call did not come out ok, and 0 if all did', async () => {
    const [bad, waiting, good] = await Promise.all([
      toolwright(['run', hostile, '--fail-on-error'], openaiMessage(['double', { value: 1 }], ['throws_null'])),
      toolwright(['run', hostile, '--fail-on-error'], openaiMessage(['wants_yes', { what: 'x' }])),
      toolwright(['run', hostile, '--fail-on-error'], openaiMessage(['double', { value: 1 }])),
    ])
    expect([bad.code, waiting.code, good.code]).toEqual([1, 1, 0])
    expect(openaiReply(bad.stdout)).toEqual(['2', containing('Error')])
  })

  test('answers a call that wants to be confirmed as waiting where there is no terminal', async () => {
    const { code, stdout } = await toolwright(['run', hostile], openaiMessage(['wants_yes', { what: 'x' }]))
    expect({ code, reply: openaiReply(stdout) }).toEqual({
      code: 0,
      reply: ['wants_yes has not run yet: it waits for approval by a person.'],
    })
  })

  test('runs one call at a time with --concurrency 1', async () => {
    const calls = Array.from({ length: 6 }, () => ['counts_neighbours'] as const)
    const { stdout } = await toolwright(['run', hostile, '--concurrency', '1'], openaiMessage(...calls))
    expect(openaiReply(stdout)).toEqual(calls.map(() => '1'))
  })

  test('runs four calls at a time with --concurrency 4', async () => {
    const calls = Array.from({ length: 4 }, () => ['meets', { of: 4 }] as const)
    const { stdout } = await toolwright(['run', hostile, '--concurrency', '4'], openaiMessage(...calls))
    expect(openaiReply(stdout)).toEqual(['4', '4', '4', '4'])
  })

  test('gives a call up after --timeout, and ends although its handler goes on', async () => {
    const message = openaiMessage(['runs_for_ever'], ['double', { value: 4 }])
    const { code, stdout } = await toolwright(['run', hostile, '--timeout', '200'], message)
    expect(code).toBe(0)
    expect(openaiReply(stdout)).toEqual([containing('was not done within'), '8'])
  })

  test('answers a call that can never settle, as soon as nothing is left that it could wait for', async () => {
    const message = openaiMessage(['never_settles'], ['double', { value: 4 }])
    const { code, stdout, stderr } = await toolwright(['run', hostile, '--timeout', '0'], message)
    expect(code).toBe(0)
    expect(openaiReply(stdout)).toEqual([containing('was cancelled'), '8'])
    expect(stderr).toBe('toolwright: the calls wait for something that cannot happen: they are cancelled.\n')
  })

  test('keeps what tools print off stdout', async () => {
    const { stdout, stderr } = await toolwright(['run', hostile], openaiMessage(['prints']))
    expect(openaiReply(stdout)).toEqual(['printed'])
    expect(stderr).toBe('on stdout?\nand this?\n')
  })

  test('goes on where a tool throws outside its call, and tells of it without a stack', async () => {
    const { code, stdout, stderr } = await toolwright(['run', hostile], openaiMessage(['fails_elsewhere']))
    expect({ code, reply: openaiReply(stdout) }).toEqual({ code: 0, reply: ['fine'] })
    expect(stderr.split('\n').toSorted()).toEqual([
      '',
      'toolwright: an error was thrown outside any call: nobody hears this',
      'toolwright: an error was thrown outside any call: nobody waits for this',
    ])
  })

  test('refuses a message in which a key comes twice, before anything runs', async () => {
    const text = `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"prints","input":{"a":1,"a":2}}]}`
    const { code, stdout, stderr } = await toolwright(['run', hostile, file('twice.json', text)])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^toolwright: \S*twice\.json is ambiguous: the key comes a second time at .*\n$/)
  })

  test('leaves args that are too deep to their call, also where the message holds them as a value', async () => {
    const deep = `${'['.repeat(300)}${']'.repeat(300)}`
    const text = `{"role":"assistant","content":[
      {"type":"tool_use","id":"t1","name":"double","input":{"value":${deep}}},
      {"type":"tool_use","id":"t2","name":"double","input":{"value":3}}]}`
    const { code, stdout } = await toolwright(['run', hostile], text)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      content: [{ is_error: true, content: containing('The args cannot be identified') }, { content: '6' }],
    })
  })
})
