import {
  content,
  createExecutor,
  json,
  JsonArtifact,
  TextArtifact,
  tool,
  ToolFailure,
  type Format,
  type ToolEvent,
} from 'toolwright'
import type { CallingProgram } from 'toolwright/extension'
import { aiSdk, type AiSdkOptions } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { MemoryReader } from '../../src/kernel/result/artifact.ts'

interface Side {
  readonly make: (options?: AiSdkOptions) => Format
  /** A message in which a program calls a tool, as the provider sends it. */
  readonly asking: (name: string, args: object) => unknown
  readonly program: CallingProgram
  /** What the program reads of a reply. */
  readonly read: (reply: unknown) => string
  /** How the provider takes a tool for programs that is loaded when it is found. */
  readonly definition: object
}

const sides: Readonly<Record<string, Side>> = {
  anthropic: {
    make: anthropic,
    asking: (name, input) => ({
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'await rows()' } },
        {
          type: 'tool_use',
          id: 'toolu_1',
          name,
          input,
          caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' },
        },
      ],
    }),
    program: { type: 'code_execution_20260120', id: 'srvtoolu_1' },
    read: (reply) => (reply as { content: { content: string }[] }).content[0]!.content,
    definition: { allowed_callers: ['code_execution_20260120'], defer_loading: true },
  },
  'openai-responses': {
    make: openaiResponses,
    asking: (name, args) => [
      { type: 'program', id: 'prog_1', call_id: 'call_0', code: 'await tools.rows()', fingerprint: 'x' },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name,
        arguments: JSON.stringify(args),
        caller: { type: 'program', caller_id: 'prog_1' },
      },
    ],
    program: { type: 'program', id: 'prog_1' },
    read: (reply) => (reply as { output: string }[])[0]!.output,
    definition: { allowed_callers: ['programmatic'], defer_loading: true },
  },
  'ai-sdk': {
    make: aiSdk,
    asking: (toolName, input) => ({
      role: 'assistant',
      content: [
        {
          type: 'tool-call',
          toolCallId: 'toolu_1',
          toolName,
          input,
          providerOptions: { anthropic: { caller: { type: 'code_execution_20250825', toolId: 'srvtoolu_1' } } },
        },
      ],
    }),
    program: { type: 'code_execution_20250825', id: 'srvtoolu_1' },
    read: (reply) => (reply as { content: { output: { value: string } }[] }).content[0]!.output.value,
    definition: {
      providerOptions: {
        anthropic: { allowedCallers: ['code_execution_20260120'], deferLoading: true },
        openai: { deferLoading: true },
      },
    },
  },
}

const row = { id: 1, name: 'Ærøskøbing', note: 'a "quoted" word, and a line\nmore' }
const longRows = Array.from({ length: 12_600 }, (_, id) => ({ ...row, id }))
const picture = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' } as const

/** What a tool returns, and what its program gets of it. */
const values: readonly (readonly [title: string, returned: () => unknown, got: unknown])[] = [
  ['an object', () => row, row],
  ['text', () => 'It is 3.', 'It is 3.'],
  ['text that looks like a number', () => '3', '3'],
  ['a number', () => 3, 3],
  ['what is true', () => true, true],
  ['null', () => null, null],
  ['nothing', () => undefined, null],
  ['no text', () => '', ''],
  ['marked text', () => json('3'), '3'],
  ['text blocks', () => content([{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }]), 'a\nb'],
  ['a picture beside text', () => content([{ type: 'text', text: 'a' }, picture]), [{ type: 'text', text: 'a' }, picture]],
  ['a stream of text', () => streamOf('a', 'b'), 'ab'],
  ['an artifact of JSON', () => new JsonArtifact({ reader: new MemoryReader('{ "a": 1 }') }), { a: 1 }],
  ['an artifact of text', () => new TextArtifact({ reader: new MemoryReader('a\nb') }), 'a\nb'],
] // prettier-ignore

async function* pieces(texts: readonly string[]): AsyncGenerator<string> {
  for (const text of texts) yield await Promise.resolve(text)
}

function streamOf(...texts: readonly string[]): ReadableStream<string> {
  return ReadableStream.from(pieces(texts))
}

describe.each(Object.entries(sides))(
  'a program that calls through %s',
  (name, { make, asking, program, read, definition }) => {
    const format = make({ envelope: true })

    async function answer(
      returns: () => unknown,
      options: object = {},
      chosenFormat: Format = format,
    ): Promise<unknown> {
      const rows = tool({ name: 'rows', description: 'All rows', handler: returns, ...options })
      const message = asking('rows', {})
      const results = await createExecutor({ tools: [rows] }).executeToolCalls(chosenFormat.calls(message))
      return JSON.parse(read(chosenFormat.results(results, message)))
    }

    test('is in the call as the message names it', () => {
      expect(format.calls(asking('rows', { a: 1 }))).toMatchObject([{ name: 'rows', program }])
    })

    test.each(values)('gets the whole of %s as JSON', async (_, returned, got) => {
      expect(await answer(returned)).toEqual(got)
    })

    test('gets more than a megabyte less than its limit whole, if the tool lists programs', async () => {
      const bytes = Buffer.byteLength(JSON.stringify(longRows))
      expect(bytes).toBeGreaterThan(1_000_000)
      expect(bytes).toBeLessThan(1_048_576)
      expect(await answer(() => longRows, { allowedCallers: ['program'] })).toEqual(longRows)
      const text = longRows.map(({ name: town }) => town).join('\n')
      expect(await answer(() => text, { allowedCallers: ['model', 'program'] })).toBe(text)
      expect(await answer(() => streamOf(text, text), { allowedCallers: ['program'] })).toBe(text + text)
    })

    test('gets an error with the handle in place of a preview, if the result is too large for it', async () => {
      const tooLarge = {
        error: {
          status: 'error',
          code: 'E_INVALID_TOOL_RESULT',
          message: expect.stringMatching(/ of [\d,]+ bytes of application\/json is too large/) as string,
          retryable: false,
          handle: expect.any(String) as string,
        },
      }
      expect(await answer(() => longRows)).toEqual(tooLarge)
      expect(await answer(() => [longRows, longRows], { allowedCallers: ['program'] })).toEqual(tooLarge)
      const limited = await answer(() => row, {}, make({ programLimit: 10 }))
      expect(limited).toMatchObject({ error: { code: 'E_INVALID_TOOL_RESULT' } })
    })

    test('gets a result that the executor or the application made for the model as JSON only if it is whole', async () => {
      const [call] = format.calls(asking('rows', {}))
      const said = async (returned: unknown): Promise<unknown> => {
        const rows = tool({ name: 'rows', description: 'All rows', handler: () => returned })
        const { program: _lost, ...direct } = call!
        const result = await createExecutor({ tools: [rows] }).execute(direct)
        return JSON.parse(read(format.results([result], asking('rows', {}))))
      }
      expect(await said('It is 3.')).toBe('It is 3.')
      expect(await said(row)).toEqual(row)
      for (const partial of ['x'.repeat(100_000), longRows, new Uint8Array(3)]) {
        expect(await said(partial)).toMatchObject({ error: { code: 'E_INVALID_TOOL_RESULT' } })
      }
    })

    test('gets an error for bytes, which JSON does not hold', async () => {
      expect(await answer(() => new Uint8Array([1, 2, 3]))).toMatchObject({
        error: { message: expect.stringContaining('3 bytes of application/octet-stream') as string },
      })
    })

    test('gets every failure as JSON, with its code', async () => {
      const failing = (): never => {
        throw new ToolFailure('The table is gone.', { recommendations: ['Ask for another.'] })
      }
      expect(await answer(failing)).toEqual({
        error: {
          status: 'error',
          code: 'E_TOOL_DOWNSTREAM_ERROR',
          message: expect.stringContaining('The table is gone.') as string,
          retryable: false,
          recommendations: ['Ask for another.'],
        },
      })
      const strict = { inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } }
      expect(await answer(() => 1, strict)).toMatchObject({ error: { code: 'E_INVALID_TOOL_ARGS' } })
      expect(await answer(() => 1, { requiresConfirmation: true })).toMatchObject({ error: { status: 'waiting' } })
      expect(await answer(() => 1, { name: 'other' })).toMatchObject({ error: { code: 'E_TOOL_NOT_FOUND' } })
    })

    test('tells the model, if it called itself, the same result in its own form', async () => {
      const rows = tool({
        name: 'rows',
        description: 'All rows',
        handler: () => 'It is 3.',
        allowedCallers: ['program'],
      })
      const [call] = format.calls(asking('rows', {}))
      const { program: _none, ...direct } = call!
      const result = await createExecutor({ tools: [rows] }).execute(direct)
      expect(result.content).toEqual([{ type: 'text', text: 'It is 3.' }])
    })

    test('is told to the provider by the tool that it may call', () => {
      const rows = tool({
        name: 'rows',
        description: 'All rows',
        handler: () => 1,
        allowedCallers: ['program'],
        deferLoading: true,
      })
      expect(make().definitions([rows])).toMatchObject([definition])
      const now = tool({ name: 'now', description: 'The time', handler: () => '12:00' })
      const plain = JSON.stringify(make().definitions([now]))
      expect(plain).not.toMatch(/caller|defer|providerOptions/i)
    })

    test(`gives way to what the author says for ${name}`, () => {
      const said = { allowed_callers: ['direct'], providerOptions: { anthropic: { allowedCallers: ['direct'] } } }
      const rows = tool({
        name: 'rows',
        description: 'All rows',
        handler: () => 1,
        allowedCallers: ['program'],
        deferLoading: true,
        providerOptions: { anthropic: said, openai: said },
        libraryOptions: { 'ai-sdk': said },
      })
      const [defined] = make().definitions([rows])
      expect(defined).toMatchObject(
        name === 'ai-sdk'
          ? { providerOptions: { anthropic: { allowedCallers: ['direct'], deferLoading: true } } }
          : { allowed_callers: ['direct'], defer_loading: true },
      )
    })
  },
)

test.each([gemini, openai, mcp])('an API without programs and tool search says so once', (make) => {
  const reports: unknown[] = []
  const format = make({ report: (error) => void reports.push(error) })
  const rows = tool({
    name: 'rows',
    description: 'All rows',
    handler: () => 1,
    allowedCallers: ['model', 'program'],
    deferLoading: true,
  })
  const plain = tool({ name: 'rows', description: 'All rows', handler: () => 1 })
  const direct = tool({
    name: 'rows',
    description: 'All rows',
    handler: () => 1,
    allowedCallers: ['model'],
    deferLoading: false,
  })
  expect(format.definitions([rows])).toEqual(format.definitions([plain]))
  expect(format.definitions([rows, direct])).toEqual(format.definitions([plain, plain]))
  expect(reports).toMatchObject([
    {
      code: 'E_INVALID_CONFIGURATION',
      message: expect.stringMatching(
        /tool "rows": this API has no allowedCallers, deferLoading\. It is offered/,
      ) as string,
    },
  ])
})

describe('a program as the executor sees it', () => {
  const program = { type: 'program', id: 'prog_1' }

  test('is no part of the callId, changes no caller, and is seen by policies and events', async () => {
    const seen: unknown[] = []
    const events: ToolEvent[] = []
    const executor = createExecutor({
      tools: [tool('now', () => '12:00')],
      use: [
        {
          policies: [{ name: 'watch', decide: (call) => void seen.push([call.program, call.caller]) }],
          observers: [(event) => void events.push(event)],
        },
      ],
    })
    const byProgram = await executor.execute({ id: 'a', name: 'now', args: {}, program })
    const direct = await executor.execute({ id: 'a', name: 'now', args: {} })
    expect(byProgram.callId).toBe(direct.callId)
    expect(seen).toEqual([
      [program, 'model'],
      [undefined, 'model'],
    ])
    const programs = events.map((event) => [event.event, event.program])
    expect(programs.slice(0, 4)).toEqual(
      ['call:received', 'tool:start', 'tool:end', 'call:settled'].map((name) => [name, program]),
    )
    for (const event of events.slice(4)) expect(event).not.toHaveProperty('program')
  })

  test('gives no right: a tool for people stays hidden from it', async () => {
    const hidden = tool({ name: 'pay', description: 'Pays', audience: 'user', handler: () => 'paid' })
    const result = await createExecutor({ tools: [hidden] }).execute({ name: 'pay', program: { type: 'user' } })
    expect(result.error?.code).toBe('E_TOOL_NOT_FOUND')
  })

  test('is in the record, and is still the caller after a pause in another executor', async () => {
    const journal = memoryJournal()
    const rows = tool({ name: 'rows', description: 'All rows', requiresConfirmation: true, handler: () => 'It is 3.' })
    const executors = [0, 1].map(() => createExecutor({ tools: [rows], use: [journal] }))
    const paused = await executors[0]!.execute(
      { id: 'a', name: 'rows', program },
      { session: 's', invocationId: 'inv_1' },
    )
    expect(paused.status).toBe('waiting')
    const result = await executors[1]!.calls.decide(paused.token!, 'allow')
    expect(result.content).toMatchObject([{ type: 'json', data: 'It is 3.', text: '"It is 3."' }])
    const again = await executors[1]!.execute(
      { id: 'a', name: 'rows', program },
      { session: 's', invocationId: 'inv_1' },
    )
    expect(again).toMatchObject({ status: 'ok', content: [{ type: 'json', data: 'It is 3.' }] })
  })

  test.each([null, 7, 'program', {}, { type: 7 }, { type: null }, []])('is ignored if it is %j', async (odd) => {
    const seen: unknown[] = []
    const watch = { name: 'watch', decide: (call: { program: unknown }) => void seen.push(call.program) }
    const executor = createExecutor({ tools: [tool('now', () => '12:00')], use: [{ policies: [watch] }] })
    expect(await executor.execute({ name: 'now', program: odd as never })).toMatchObject({ status: 'ok' })
    expect(seen).toEqual([undefined])
  })

  test('has words of a limited length, whatever the message says', async () => {
    const seen: (CallingProgram | undefined)[] = []
    const watch = {
      name: 'watch',
      decide: (call: { program: CallingProgram | undefined }) => void seen.push(call.program),
    }
    const executor = createExecutor({ tools: [tool('now', () => '12:00')], use: [{ policies: [watch] }] })
    const long = 'x'.repeat(1_000_000)
    await executor.execute({ name: 'now', program: { type: long, id: long, more: long } as CallingProgram })
    expect(Object.keys(seen[0]!)).toEqual(['type', 'id'])
    expect(JSON.stringify(seen[0]).length).toBeLessThan(1_000)
  })
})
