import { createExecutor, tool, ToolFailure, type ToolEvent } from 'toolwright'
import type { Middleware } from 'toolwright/extension'
import { expect, test } from 'vitest'

/** Runs what it wraps until it returns. */
const persistent: Middleware = async (_call, _context, next) => {
  for (;;) {
    try {
      return await next()
    } catch {}
  }
}

async function traceOf(fields: object): Promise<unknown[]> {
  let runs = 0
  const flaky = tool({
    name: 'flaky',
    description: 'Fails twice',
    inputSchema: { type: 'object', properties: { key: { type: 'string' } } },
    ...fields,
    handler: ({ key }) => {
      if (++runs < 3) throw new ToolFailure(`Row ${runs} of ${key} is locked.`)
      return 'done'
    },
  })
  const executor = createExecutor({ tools: [flaky], use: [{ middleware: [persistent] }] })
  const events: ToolEvent[] = []
  executor.on('*', (event) => events.push(event))
  expect(await executor.execute({ name: 'flaky', args: { key: 'hunter22' } })).toMatchObject({ status: 'ok' })
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
  expect(events.filter(({ event }) => event === 'tool:end')).toMatchObject([{ isError: false }])
  return events.filter(({ event }) => event === 'tool:progress').map((event) => ('data' in event ? event : undefined))
}

const code = 'E_TOOL_DOWNSTREAM_ERROR'

test('each further attempt of a handler is an event with its number and why the one before failed', async () => {
  expect(await traceOf({})).toMatchObject([
    { type: 'retry', data: { attempt: 2, error: { code, message: 'Row 1 of hunter22 is locked.' } } },
    { type: 'retry', data: { attempt: 3, error: { code, message: 'Row 2 of hunter22 is locked.' } } },
  ])
})

test('the event of an attempt shows no secret, and no message that the model may not read', async () => {
  expect(JSON.stringify(await traceOf({ secrets: ['/key'] }))).not.toContain('hunter22')
  expect(await traceOf({ exposeErrors: false })).toMatchObject([
    { data: { error: { message: 'The tool failed; the reason is not shown.' } } },
    { data: { error: { message: 'The tool failed; the reason is not shown.' } } },
  ])
})
