import { createExecutor, tool, type Format } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { script } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'

const formats: readonly Format<unknown, unknown>[] = [
  anthropic(),
  openai(),
  openaiResponses(),
  gemini(),
  aiSdk(),
] as never

describe.each(formats.map((format) => [format.name, format] as const))('a script of %s', (_name, format) => {
  test('writes messages that the format reads back, and whose calls it answers', async () => {
    const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
    const model = script(format, [
      { text: 'I look.', calls: [['now', { zone: 'utc' }], { id: 'mine', name: 'now' }, ['now']] },
      'Done.',
    ])
    const message = await model.next()
    expect(format.detect(message)).toBe(true)
    const calls = format.calls(message)
    expect(calls.map(({ id, name }) => [id, name])).toEqual([
      ['call_1', 'now'],
      ['mine', 'now'],
      ['call_2', 'now'],
    ])
    const results = await executor.executeToolCalls(calls)
    expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
    expect(JSON.stringify(format.results(results, message))).toContain('12:00')
    expect(JSON.stringify(message)).toContain('I look.')
    const last = await model.next()
    expect(format.calls(last)).toEqual([])
    expect([model.left, model.requests.length]).toEqual([0, 2])
  })

  test('says a whole message of the provider as it is', async () => {
    const message = await script(format, [{ text: 'I look.', calls: [['now', { zone: 'utc' }]] }]).next()
    const copy = JSON.parse(JSON.stringify(message)) as unknown
    const model = script(format, [copy, copy, copy])
    expect(await model.next()).toBe(copy)
    const generated = await model.languageModel.doGenerate({})
    expect(generated.content).toEqual([
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolCallId: 'call_1', toolName: 'now', input: '{"zone":"utc"}' },
    ])
    expect((await model.agentsModel.getResponse({})).output).toMatchObject([
      { content: [{ text: 'I look.' }] },
      { callId: 'call_1', name: 'now' },
    ])
  })
})

describe('a script', () => {
  test.each([
    ['args by the name of a provider', [{ name: 'now', input: {} }]],
    ['three things', [['now', {}, {}]]],
    ['a name and args that are no list', ['now', {}]],
    ['nothing', [null]],
  ])('refuses calls of %s, whose args would be lost', (_, calls) => {
    expect(() => script(anthropic(), [{ calls }] as never)).toThrow(
      expect.objectContaining({
        code: 'E_INVALID_CONFIGURATION',
        message: expect.stringContaining("[['find_order', {") as string,
      }),
    )
  })

  test('fails a loop that asks for more, and tells what was not asked for', async () => {
    const model = script(anthropic(), ['One.', 'Two.'])
    await model.next()
    expect(model.left).toBe(1)
    await model.next()
    await expect(model.next()).rejects.toMatchObject({
      code: 'ERR_ASSERTION',
      message: 'The script has 2 turns, and the loop asked for turn 3. End the loop, or add what the model says then.',
    })
    expect(model.left).toBe(0)
    await expect(script(anthropic(), []).languageModel.doGenerate({})).rejects.toThrow(/has 0 turns/)
    await expect(
      script(anthropic(), ['One.']).fetch('https://x', { method: 'POST', body: '{}' }),
    ).resolves.toHaveProperty('status', 200)
  })

  test('answers a request by a function, which sees it and those before', async () => {
    const model = script(openai(), [
      { calls: [['now']] },
      (request, requests) => {
        expect(requests).toHaveLength(2)
        return `You said ${(request as { messages: string[] }).messages.length}.`
      },
      () => ({ calls: [['now', { again: true }]] }),
    ])
    await model.next({ messages: ['late'] })
    const message = await model.next({ messages: ['late', { tool_call_id: 'call_1' }] })
    expect(JSON.stringify(message)).toContain('You said 2.')
    expect(openai().calls(await model.next())).toMatchObject([{ id: 'call_2', args: '{"again":true}' }])
  })

  test('tells two loops that share it, and a loop that loses its results', async () => {
    const model = script(anthropic(), [{ calls: [['now']] }, 'Done.', 'Done.'])
    await model.next({ messages: ['late'] })
    await expect(model.next({ messages: ['another loop'] })).rejects.toThrow(
      /^Turn 2 was asked for without a result of call_1\. Two loops share this script/,
    )
    await model.next({ messages: ['late', { tool_use_id: 'call_1' }] })
    await model.next({ messages: ['another'] })
    expect(model.left).toBe(0)
  })

  test.each([
    ['another format', () => script(mcp() as never, []), /one of anthropic, openai,/],
    ['no format', () => script(undefined as never, []), /one of anthropic, openai,/],
    ['no turns', () => script(anthropic(), undefined as never), /takes the turns/],
    ['a turn that is none', () => script(anthropic(), [{ txt: 'One.' } as never]), /txt/],
    ['calls that are none', () => script(anthropic(), [{ calls: [{ tool: 'now' }] } as never]), /find_order/],
    ['null', () => script(anthropic(), [null as never]), /A turn of a script/],
  ])('refuses %s', (_title, make, words) => {
    expect(make).toThrow(
      expect.objectContaining({ code: 'E_INVALID_CONFIGURATION', message: expect.stringMatching(words) as string }),
    )
  })

  test('answers over fetch what a server would: plainly, by a Request too, and with words if it cannot', async () => {
    const model = script(openai(), [
      'One.',
      'Two.',
      () => {
        throw new Error('not so')
      },
    ])
    const plain = await model.fetch('https://api.example/v1/chat/completions', {
      method: 'POST',
      body: '{"messages":[]}',
    })
    expect(await plain.json()).toMatchObject({ choices: [{ message: { content: 'One.' } }] })
    const asked = new Request('https://api.example/', { method: 'POST', body: '{"stream":true}' })
    const streamed = await model.fetch(asked)
    expect(streamed.headers.get('content-type')).toBe('text/event-stream')
    expect(await streamed.text()).toMatch(/"content":"Two\."[^]*data: \[DONE\]\n\n$/)
    const refused = await model.fetch('https://x', { method: 'POST', body: '{}' })
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { message: 'not so' } }])
    const over = await model.fetch('https://x', { method: 'POST', body: '{}' })
    expect(await over.json()).toMatchObject({
      error: { message: expect.stringContaining('asked for turn 4') as string },
    })
    expect((await model.fetch('https://x', { method: 'POST', body: 'no json' })).status).toBe(400)
    await expect(model.fetch('https://x', { signal: AbortSignal.abort() })).rejects.toThrow(/abort/)
    const other = await script(aiSdk(), ['One.']).fetch('https://x', { method: 'POST', body: '{}' })
    expect(await other.json()).toMatchObject({ error: { message: expect.stringContaining('languageModel') as string } })
    expect(model.requests).toEqual([{ messages: [] }, { stream: true }, {}])
  })
})
