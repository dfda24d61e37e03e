import {
  context,
  diag,
  DiagLogLevel,
  metrics,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
} from '@opentelemetry/api'
import { AlwaysOffSampler, ParentBasedSampler, TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace'
import {
  content,
  createExecutor,
  json,
  tool,
  type Extension,
  type StandardSchemaV1,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolEvent,
  type ToolResult,
} from 'toolwright'
import { UncanonicalArgsError, ToolFailure } from 'toolwright/errors'
import { memoryJournal } from 'toolwright/journals/memory'
import { redact } from 'toolwright/middleware/redact'
import { retry } from 'toolwright/middleware/retry'
import { openTelemetry, type OpenTelemetryOptions } from 'toolwright/observers/open-telemetry'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { observerConformance, testTool, type Watched } from '../conformance/observers.ts'
import { enableContexts, telemetry, type Telemetry } from './_telemetry.ts'

let undo = (): void => {}
beforeEach(() => void (undo = enableContexts()))
afterEach(() => undo())

const later = (milliseconds = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** What a span says, by the names of its attributes. */
function attributesOf(span: ReadableSpan | undefined): Attributes {
  return span?.attributes ?? {}
}

/** The last call of a telemetry. */
function lastCall(collector: Telemetry): ReadableSpan {
  const span = collector.calls().at(-1)
  if (span === undefined) throw new Error('no span has ended')
  return span
}

/** Every text and number that leaves with the spans of calls. */
function everything(collector: Telemetry): string {
  return JSON.stringify(
    collector.calls().map(({ name, attributes, events, links, status }) => [name, attributes, events, links, status]),
  )
}

/**
 * The leaf as the suite wants it: a span tells of many events at once, so what is said of an event is all that the
 * newest spans say by then.
 */
function watched(): Watched {
  const said: unknown[] = []
  const spans: (Span & ReadableSpan)[] = []
  const processor = {
    onStart: (span: never) => void spans.push(span),
    onEnd() {},
    async forceFlush() {},
    async shutdown() {},
  }
  const tracerProvider = new TracerProvider({ spanProcessors: [processor] })
  const { meterProvider } = telemetry().providers
  const leaf = openTelemetry({ tracerProvider, meterProvider, recordArgs: true, recordResult: true })
  const [hear] = leaf.observers
  const extension: Extension = {
    ...leaf,
    observers: [
      (event: ToolEvent, definition?: ToolDefinition) => {
        hear(event, definition)
        const { event: name, invocationId } = event
        said.push({
          name,
          invocationId,
          spans: spans
            .slice(-3)
            .map(({ name: of, attributes, events, links, status }) => [of, attributes, events, links, status]),
        })
      },
    ],
  }
  return { extension, said }
}

observerConformance('openTelemetry', watched, { writesLines: false })

describe('the span of a call', () => {
  test('has the name, the kind and the attributes of the conventions', async () => {
    const collector = telemetry()
    const add = tool({
      name: 'add',
      description: 'Adds two numbers',
      inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
      handler: ({ a = 0, b = 0 }) => a + b,
    })
    const executor = collector.executor([add])
    const call = { id: 'toolu_01', name: 'add', args: { a: 1, b: 20 } }
    const { callId, invocationId } = await executor.execute(call, { session: 'one' })
    const span = collector.span('execute_tool add')
    expect(span.kind).toBe(SpanKind.INTERNAL)
    expect(span.status).toEqual({ code: SpanStatusCode.UNSET })
    expect(span.links).toEqual([])
    expect(span.instrumentationScope).toMatchObject({
      name: 'toolwright',
      schemaUrl: expect.stringMatching(/^https:\/\/opentelemetry\.io\/schemas\/gen-ai/) as string,
    })
    expect(attributesOf(span)).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'add',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.description': 'Adds two numbers',
      'gen_ai.tool.call.id': 'toolu_01',
      'toolwright.call.id': callId,
      'toolwright.invocation.id': invocationId,
      'toolwright.session.id': 'one',
      'toolwright.tool.type': 'server',
      'toolwright.status': 'ok',
      'toolwright.effect': 'completed',
      'toolwright.attempt': 1,
      'toolwright.artifact.size': 2,
    })
    expect(executor.reports).toEqual([])
  })

  test('tells the sampler what it is when it begins', async () => {
    const seen: unknown[] = []
    const collector = telemetry({
      shouldSample: (_context, _traceId, name, kind, attributes) => {
        seen.push({ name, kind, attributes })
        return { decision: 2 }
      },
    })
    await collector.executor([testTool(() => 1)]).execute({ name: 'work' })
    expect(seen).toEqual([
      {
        name: 'execute_tool work',
        kind: SpanKind.INTERNAL,
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'work' },
      },
    ])
  })

  test('names its tool by the name of the tool, where the model used an alias', async () => {
    const collector = telemetry()
    await collector.executor([testTool(() => 1, { aliases: ['labour'] })]).execute({ name: 'labour' })
    expect(attributesOf(collector.span('execute_tool work'))).toMatchObject({ 'gen_ai.tool.name': 'work' })
  })

  test('tells when the tool started, since it may have had to wait for a slot', async () => {
    const collector = telemetry()
    const executor = createExecutor({
      tools: [testTool(() => later(2))],
      concurrency: 1,
      use: [openTelemetry(collector.providers)],
    })
    await executor.executeToolCalls([{ name: 'work' }, { name: 'work' }])
    expect(collector.calls().map(({ events }) => events.map(({ name }) => name))).toEqual([
      ['tool:start'],
      ['tool:start'],
    ])
  })

  interface Ending {
    readonly status: ToolResult['status']
    readonly type?: string
    readonly code?: SpanStatusCode
    readonly message?: unknown
    readonly more?: Attributes
  }
  const error = SpanStatusCode.ERROR
  const never = (): Promise<never> => new Promise(() => {})
  const endings: [title: string, work: Tool, ending: Ending, extension?: Extension, args?: unknown][] = [
    [
      'a tool that throws',
      testTool(() => {
        throw new Error('no luck')
      }),
      {
        status: 'error',
        type: 'E_TOOL_DOWNSTREAM_ERROR',
        code: error,
        message: expect.stringContaining('no luck'),
        more: { 'toolwright.effect': 'unknown' },
      },
    ],
    [
      'a tool that says that it failed',
      testTool(() => {
        throw new ToolFailure('sold out')
      }),
      { status: 'error', type: 'E_TOOL_DOWNSTREAM_ERROR', code: error, message: expect.stringContaining('sold out') },
    ],
    [
      'args that are not valid',
      testTool(() => 1, { inputSchema: { type: 'object', required: ['city'] } }),
      {
        status: 'error',
        type: 'E_INVALID_TOOL_ARGS',
        code: error,
        message: expect.stringMatching(/^Not valid at \//),
        more: { 'toolwright.effect': 'none' },
      },
    ],
    [
      'args that are no JSON',
      testTool(() => 1),
      { status: 'error', type: 'E_INVALID_TOOL_ARGS', code: error },
      {},
      '{"a":',
    ],
    [
      'args that have no canonical form',
      testTool(() => 1),
      { status: 'error', type: 'E_UNCANONICAL_ARGS', code: error },
      {},
      { a: 1n },
    ],
    [
      'a policy that denies',
      testTool(() => 1),
      { status: 'denied', type: 'E_TOOL_DENIED' },
      { policies: [{ name: 'no', decide: () => ({ decision: 'deny' }) }] },
    ],
    [
      'a policy that breaks',
      testTool(() => 1),
      { status: 'denied', type: 'E_TOOL_DENIED', code: error },
      {
        policies: [
          {
            name: 'no',
            decide: () => {
              throw new Error('database')
            },
          },
        ],
      },
    ],
    [
      'a person who refuses',
      testTool(() => 1, { requiresConfirmation: true }),
      { status: 'denied', type: 'E_TOOL_DENIED', more: { 'toolwright.decision': 'deny' } },
      { approver: { ask: async () => ({ decision: 'deny' }) } },
    ],
    [
      'a person who does not answer',
      testTool(() => 1, { requiresConfirmation: true }),
      { status: 'denied', type: 'E_APPROVAL_EXPIRED', code: error },
      { approver: { timeout: 1, ask: never } },
    ],
    [
      'a tool that takes too long',
      testTool(never, { timeout: 1 }),
      { status: 'timed_out', type: 'E_TOOL_TIMEOUT', code: error },
    ],
    [
      'a result that is not valid',
      testTool(() => 'x', { outputSchema: { type: 'number' } }),
      { status: 'error', type: 'E_INVALID_TOOL_RESULT', code: error, more: { 'toolwright.effect': 'completed' } },
    ],
    [
      'a type that nobody runs',
      testTool(() => 1, { type: 'robot' }),
      { status: 'error', type: 'E_INVALID_EXECUTION_TYPE', code: error },
    ],
    [
      'a policy that gives the result',
      testTool(() => 1),
      { status: 'ok', more: { 'toolwright.effect': 'none', 'toolwright.artifact.size': 3 } },
      { policies: [{ name: 'cache', decide: () => ({ result: 'old' }) }] },
    ],
    [
      'a runner of its type',
      testTool(() => 1, { type: 'robot' }),
      { status: 'ok', more: { 'toolwright.tool.type': 'robot', 'gen_ai.tool.type': 'function' } },
      { runners: [{ type: 'robot', run: () => 'beep' }] },
    ],
    [
      'a client that is not waited for',
      testTool(() => 1, { type: 'client', handler: undefined, defaultResult: [{ type: 'text', text: 'shown' }] }),
      { status: 'ok', more: { 'toolwright.effect': 'unknown' } },
    ],
  ]
  test.each(endings)(
    'tells of %s',
    async (_title, work, { status, type, code, message, more }, extension = {}, args) => {
      const collector = telemetry()
      const executor = collector.executor([work], {}, extension)
      const result = await executor.execute({ name: 'work', ...(args !== undefined && { args }) })
      expect(result.status).toBe(status)
      expect(collector.calls().length).toBe(1)
      const span = lastCall(collector)
      expect(attributesOf(span)).toMatchObject({ 'gen_ai.tool.name': 'work', 'toolwright.status': status, ...more })
      expect(attributesOf(span)['error.type']).toBe(type)
      expect(span.status.code).toBe(code ?? SpanStatusCode.UNSET)
      if (message !== undefined) expect(span.status.message).toEqual(message)
      expect(executor.reports).toEqual([])
    },
  )

  test('tells of a call that its caller gave up', async () => {
    const collector = telemetry()
    const giving = new AbortController()
    const calling = collector.executor([testTool(never)]).execute({ name: 'work' }, { signal: giving.signal })
    giving.abort()
    expect((await calling).status).toBe('cancelled')
    expect(attributesOf(lastCall(collector))).toMatchObject({
      'toolwright.status': 'cancelled',
      'error.type': 'E_TOOL_CANCELLED',
    })
    expect(lastCall(collector).status.code).toBe(error)
  })

  test('tells of a call that the provider ran itself', async () => {
    const collector = telemetry()
    const search = testTool(() => 1, { name: 'search', type: 'provider', handler: undefined })
    await collector.executor([search]).execute({ name: 'search', result: 'found' })
    expect(attributesOf(collector.span('execute_tool search'))).toMatchObject({
      'toolwright.status': 'ok',
      'toolwright.effect': 'completed',
      'toolwright.artifact.size': 5,
    })
  })

  test('tells of a tool that never started what it is handed of it', async () => {
    const collector = telemetry()
    const [hear] = openTelemetry(collector.providers).observers
    const [definition] = createExecutor({
      tools: [testTool(() => 1, { type: 'provider', handler: undefined })],
    }).tools()
    const envelope = { callId: null, invocationId: 'one', toolName: 'work', session: 's', timestamp: 0 }
    hear({ ...envelope, event: 'call:received', seq: 0, args: {} }, definition)
    const fault = new UncanonicalArgsError('no')
    hear(
      { ...envelope, event: 'call:settled', seq: 1, status: 'error', effect: 'none', durationMs: 1, error: fault },
      definition,
    )
    expect(attributesOf(collector.span('execute_tool work'))).toMatchObject({
      'gen_ai.tool.description': 'Does what the test says',
      'gen_ai.tool.type': 'extension',
      'toolwright.tool.type': 'provider',
    })
    expect((await collector.durations()).map(({ attributes }) => attributes)).toEqual([
      { 'gen_ai.tool.name': 'work', 'gen_ai.tool.type': 'extension', 'error.type': 'E_UNCANONICAL_ARGS' },
    ])
  })

  test('never takes its name from a model', async () => {
    const collector = telemetry()
    const made = `rm -rf / \u202e\n${'x'.repeat(9_999)}`
    await collector.executor([]).execute({ name: made, id: 'y'.repeat(9_999) }, { session: 'z'.repeat(1_024) })
    const span = collector.span('execute_tool')
    expect(attributesOf(span)).toMatchObject({
      'error.type': 'E_TOOL_NOT_FOUND',
      'gen_ai.tool.name': expect.stringMatching(/^rm -rf/) as string,
    })
    for (const value of Object.values(attributesOf(span))) expect(String(value).length).toBeLessThan(300)
    expect((await collector.durations()).map(({ attributes }) => attributes)).toEqual([
      { 'gen_ai.tool.name': '_OTHER', 'error.type': 'E_TOOL_NOT_FOUND' },
    ])
  })

  test.each([
    ['outside', (leaf: Extension) => [leaf, retry({ delay: 0 })]],
    ['inside', (leaf: Extension) => [retry({ delay: 0 }), leaf]],
  ] as const)('is one for all attempts, and counts them, where it is mounted %s of the retries', async (_, using) => {
    const collector = telemetry()
    const work = testTool(
      (_input, { attempt }) => {
        if (attempt < 3) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
        return 'done'
      },
      { traits: { idempotent: true } },
    )
    await createExecutor({ tools: [work], use: using(openTelemetry(collector.providers)) }).execute({ name: 'work' })
    expect(collector.calls().map(attributesOf)).toMatchObject([{ 'toolwright.attempt': 3, 'toolwright.status': 'ok' }])
  })

  test('is left alone by a handler that goes on after its time is up', async () => {
    const warnings: unknown[] = []
    const hear = (...words: unknown[]): void => void warnings.push(words)
    diag.setLogger({ error: hear, warn: hear, info() {}, debug() {}, verbose() {} }, DiagLogLevel.WARN)
    const collector = telemetry()
    const work = testTool(() => later(20), { timeout: 1 })
    const executor = collector.executor([work], { recordResult: true, recordArgs: true })
    await executor.execute({ name: 'work' })
    await later(40)
    diag.disable()
    expect(warnings).toEqual([])
    expect(attributesOf(lastCall(collector))).toMatchObject({ 'toolwright.status': 'timed_out' })
  })
})

describe('the place of a span in its trace', () => {
  /** Runs something within a span of the application, and gives that span. */
  async function withinSpan(collector: Telemetry, name: string, run: () => unknown): Promise<Span> {
    const span = collector.tracer.startSpan(name)
    await context.with(trace.setSpan(context.active(), span), async () => run())
    span.end()
    return span
  }

  test.each<[string, (executor: ReturnType<Telemetry['executor']>) => unknown]>([
    ['execute', (executor) => executor.execute({ name: 'work' })],
    [
      'execute, with an identity of the application',
      (executor) => executor.execute({ name: 'work' }, { invocationId: 'mine' }),
    ],
    ['executeToolCalls', (executor) => executor.executeToolCalls([{ name: 'work' }])],
    [
      'stream',
      async (executor) => {
        for await (const _ of executor.stream({ name: 'work' }));
      },
    ],
  ])('is under what is active where %s is called', async (_, run) => {
    const collector = telemetry()
    const executor = collector.executor([testTool(() => later())], {}, memoryJournal())
    const parent = await withinSpan(collector, 'turn', () => run(executor))
    expect(lastCall(collector).parentSpanContext?.spanId).toBe(parent.spanContext().spanId)
    expect(lastCall(collector).spanContext().traceId).toBe(parent.spanContext().traceId)
  })

  const handlers: readonly (readonly [string, (collector: Telemetry) => Tool])[] = [
    ['a handler', (collector) => testTool(() => collector.tracer.startSpan('inner').end())],
    [
      'an async handler',
      (collector) =>
        testTool(async () => {
          await later()
          collector.tracer.startSpan('inner').end()
        }),
    ],
    [
      'a generator',
      (collector) =>
        testTool(async function* () {
          yield 1
          await later()
          yield 2
          collector.tracer.startSpan('inner').end()
          return 3
        }),
    ],
    [
      'its middleware',
      (collector) =>
        testTool(() => 1, {
          middleware: [
            async (_call: never, _context: never, next: () => Promise<unknown>) => {
              const value = await next()
              collector.tracer.startSpan('inner').end()
              return value
            },
          ],
        }),
    ],
  ]
  test.each(handlers)('is over the spans of %s', async (_, workOf) => {
    const collector = telemetry()
    await collector.executor([workOf(collector)]).execute({ name: 'work' })
    expect(collector.span('inner').parentSpanContext?.spanId).toBe(
      collector.span('execute_tool work').spanContext().spanId,
    )
  })

  test('is over the spans of a runner, and of calls that a handler makes', async () => {
    const collector = telemetry()
    const inner = collector.executor([testTool(() => 1, { name: 'inner' })])
    const outer = testTool(() => 1, { name: 'outer', type: 'robot' })
    const executor = collector.executor(
      [outer],
      {},
      {
        runners: [
          {
            type: 'robot',
            run: async () => {
              await later()
              return inner.execute({ name: 'inner' }).then(({ status }) => status)
            },
          },
        ],
      },
    )
    await executor.execute({ name: 'outer' })
    const { traceId, spanId } = collector.span('execute_tool outer').spanContext()
    expect(collector.span('execute_tool inner')).toMatchObject({ parentSpanContext: { traceId, spanId } })
  })

  test('is kept apart from that of calls beside it', async () => {
    const collector = telemetry()
    const work = testTool(async ({ key }: { key: string }) => {
      await later(Math.random() * 5)
      collector.tracer.startSpan(`inner ${key}`).end()
      await later(Math.random() * 5)
    })
    const executor = collector.executor([work])
    const turns = Array.from({ length: 20 }, (_, turn) => turn)
    const parents = await Promise.all(
      turns.map((turn) =>
        withinSpan(collector, `turn ${turn}`, () =>
          executor.executeToolCalls(
            [0, 1, 2, 3].map((call) => ({ id: `${turn} ${call}`, name: 'work', args: { key: `${turn} ${call}` } })),
          ),
        ),
      ),
    )
    const calls = new Map(collector.calls().map((span) => [attributesOf(span)['gen_ai.tool.call.id'], span]))
    for (const turn of turns) {
      for (const call of [0, 1, 2, 3]) {
        const span = calls.get(`${turn} ${call}`)
        expect(span?.parentSpanContext?.spanId).toBe(parents[turn]?.spanContext().spanId)
        expect(collector.span(`inner ${turn} ${call}`).parentSpanContext?.spanId).toBe(span?.spanContext().spanId)
      }
    }
  })

  test('is active where it is not sampled too, so that nothing below it is', async () => {
    const collector = telemetry(new ParentBasedSampler({ root: new AlwaysOffSampler() }))
    const seen: boolean[] = []
    const work = testTool(() => {
      const inner = collector.tracer.startSpan('inner')
      seen.push(inner.isRecording(), inner.spanContext().traceId === trace.getActiveSpan()?.spanContext().traceId)
      inner.end()
    })
    await collector.executor([work]).execute({ name: 'work' })
    expect(seen).toEqual([false, true])
    expect(collector.calls()).toEqual([])
    expect((await collector.durations()).map(({ value }) => value.count)).toEqual([1])
  })
})

describe('a call that waits', () => {
  const asks = (handler: (input: never, context: ToolContext) => unknown = () => 'done', options = {}): Tool =>
    testTool(handler, { requiresConfirmation: true, ...options })

  test('ends its span, and the span of the answer has a link to it', async () => {
    const collector = telemetry()
    const executor = collector.executor([asks()])
    const { token = '', invocationId, callId } = await executor.execute({ id: 'one', name: 'work' })
    const first = collector.span('execute_tool work')
    expect(attributesOf(first)).toMatchObject({ 'toolwright.status': 'waiting', 'toolwright.effect': 'none' })
    expect(first.status.code).toBe(SpanStatusCode.UNSET)
    expect(first.events).toMatchObject([{ name: 'call:waiting', attributes: { 'toolwright.wait.reason': 'approval' } }])
    expect(everything(collector)).not.toContain(token)

    const parent = collector.tracer.startSpan('decision')
    await context.with(trace.setSpan(ROOT_CONTEXT, parent), () => executor.calls.decide(token, 'allow'))
    const second = lastCall(collector)
    expect(second.links.map((link) => link.context)).toEqual([first.spanContext()])
    expect(second.parentSpanContext?.spanId).toBe(parent.spanContext().spanId)
    expect(attributesOf(second)).toMatchObject({
      'toolwright.status': 'ok',
      'toolwright.decision': 'allow',
      'toolwright.invocation.id': invocationId,
      'toolwright.call.id': callId,
      'gen_ai.tool.call.id': 'one',
    })
    expect((await collector.durations()).map(({ value }) => value.count)).toEqual([1]) // waiting is no execution
  })

  test('has a span for a refusal, which is no failure', async () => {
    const collector = telemetry()
    const executor = collector.executor([asks()])
    const { token = '' } = await executor.execute({ name: 'work' })
    await executor.calls.decide(token, 'deny')
    expect(attributesOf(lastCall(collector))).toMatchObject({
      'toolwright.status': 'denied',
      'toolwright.decision': 'deny',
      'error.type': 'E_TOOL_DENIED',
    })
    expect(lastCall(collector)).toMatchObject({ status: { code: SpanStatusCode.UNSET }, links: [{}] })
  })

  test('has a link for each time that it waited', async () => {
    const collector = telemetry()
    const client = asks(() => 1, { type: 'client', requiresResponse: true, handler: undefined })
    const executor = collector.executor([client])
    const asked = await executor.execute({ name: 'work' })
    const waiting = await executor.calls.decide(asked.token ?? '', 'allow')
    expect((await executor.calls.respond(waiting.token ?? '', 'seen')).status).toBe('ok')
    const spans = collector.calls()
    expect(spans.map((span) => attributesOf(span)['toolwright.status'])).toEqual(['waiting', 'waiting', 'ok'])
    expect(spans.map(({ links }) => links.map((link) => link.context.spanId))).toEqual([
      [],
      [spans[0]?.spanContext().spanId],
      [spans[1]?.spanContext().spanId],
    ])
  })

  test('for somebody in process stays in one span, which tells when', async () => {
    const collector = telemetry()
    const executor = collector.executor([asks()], {}, { approver: { ask: async () => ({ decision: 'allow' }) } })
    await executor.execute({ name: 'work' })
    const span = collector.span('execute_tool work')
    expect(span.events.map(({ name }) => name)).toEqual(['call:waiting', 'call:resumed', 'tool:start'])
    expect(attributesOf(span)).toMatchObject({ 'toolwright.decision': 'allow', 'toolwright.status': 'ok' })
  })

  test('has no link where another process had asked', async () => {
    const journal = memoryJournal()
    const [one, other] = [telemetry(), telemetry()]
    const { token = '' } = await one.executor([asks()], {}, journal).execute({ name: 'work' })
    expect((await other.executor([asks()], {}, journal).calls.decide(token, 'allow')).status).toBe('ok')
    expect(other.span('execute_tool work').links).toEqual([])
  })

  test('has a span when it is sealed, with a link', async () => {
    const collector = telemetry()
    const leaf = openTelemetry(collector.providers)
    const journal = memoryJournal()
    await createExecutor({ tools: [asks()], use: [leaf, journal] }).execute({ name: 'work' })
    const { sealed } = await createExecutor({ tools: [asks()], use: [leaf, journal] }).calls.recover({
      approvals: 'seal',
    })
    expect(sealed.length).toBe(1)
    const [first, second] = collector.calls()
    expect(attributesOf(second)).toMatchObject({ 'error.type': 'E_SEALED', 'toolwright.status': 'error' })
    expect(second?.links.map((link) => link.context)).toEqual([first?.spanContext()])
    expect(await collector.durations()).toEqual([])
  })

  test('is remembered as one of 10,000', () => {
    const collector = telemetry()
    const [hear] = openTelemetry(collector.providers).observers
    const event = (name: string, invocationId: string, more: object): void =>
      hear({
        event: name,
        callId: 'c',
        invocationId,
        toolName: 'work',
        session: 's',
        seq: 0,
        timestamp: 0,
        ...more,
      } as ToolEvent)
    for (let index = 0; index <= 10_000; index++) {
      event('call:received', `${index}`, { args: {} })
      event('call:waiting', `${index}`, { reason: 'approval', prompt: 'Go?', input: {}, expiresAt: 1 })
    }
    for (const index of ['0', '1']) {
      event('call:resumed', index, { decision: 'allow' })
      event('call:settled', index, { status: 'ok', effect: 'none', durationMs: 1 })
    }
    expect(
      collector
        .calls()
        .slice(-2)
        .map(({ links }) => links.length),
    ).toEqual([0, 1])
  })
})

describe('content', () => {
  const secret = 'hunter2'
  const both: OpenTelemetryOptions = { recordArgs: true, recordResult: true }
  const login = (handler: (input: never) => unknown, options = {}): Tool =>
    testTool(handler, { secrets: ['/password'], ...options })

  test('is not told', async () => {
    const collector = telemetry()
    const executor = collector.executor([testTool(() => ({ answer: 'forty-two' }))])
    await executor.execute({ name: 'work', args: { question: 'six times nine' } })
    await executor.execute({ name: 'work', args: '{"question":"six times nine"' })
    expect(everything(collector)).not.toMatch(/six times nine|forty-two/)
  })

  test('is not told by the words of a validator', async () => {
    const schema: StandardSchemaV1 = {
      '~standard': {
        version: 1,
        vendor: 'quoting',
        validate: (value) => ({ issues: [{ message: `not ${JSON.stringify(value)}`, path: ['city'] }] }),
      },
    }
    const quoting = tool({
      name: 'work',
      description: 'Works',
      inputSchema: schema,
      jsonSchema: { type: 'object' },
      handler: () => 1,
    } as never) as Tool
    const [silent, open] = [telemetry(), telemetry()]
    await silent.executor([quoting]).execute({ name: 'work', args: { city: 'Oslo' } })
    await open.executor([quoting], both).execute({ name: 'work', args: { city: 'Oslo' } })
    expect(lastCall(silent).status.message).toBe('Not valid at /city')
    expect(everything(silent)).not.toContain('Oslo')
    expect(lastCall(open).status.message).toContain('Oslo')
  })

  test('is told where the application asks for it, as text', async () => {
    const collector = telemetry()
    const executor = collector.executor([testTool(({ city }: { city: string }) => ({ sun: city }))], both)
    await executor.execute({ name: 'work', args: '{ "city": "Oslo" }' })
    expect(attributesOf(lastCall(collector))).toMatchObject({
      'gen_ai.tool.call.arguments': '{"city":"Oslo"}',
      'gen_ai.tool.call.result': '{"sun":"Oslo"}',
    })
  })

  test('is told of the one and not the other', async () => {
    const collector = telemetry()
    await collector
      .executor([testTool(() => 'result')], { recordResult: true })
      .execute({ name: 'work', args: { a: 1 } })
    expect(attributesOf(lastCall(collector))).toMatchObject({ 'gen_ai.tool.call.result': 'result' })
    expect(attributesOf(lastCall(collector))['gen_ai.tool.call.arguments']).toBeUndefined()
  })

  test('has its secrets masked, on the way in and out, whatever comes of the call', async () => {
    const collector = telemetry()
    class Account {
      readonly #password = secret
      toJSON(): unknown {
        return { name: 'ada', password: this.#password }
      }
    }
    const results = [
      () => ({ password: secret }),
      () => json({ password: secret }),
      () => content([{ type: 'json', data: { password: secret }, text: secret }]),
      () => [{ type: 'json', data: { password: secret } }],
      () => new Account(),
      () => {
        throw new Error('no')
      },
    ]
    for (const result of results)
      await collector.executor([login(result)], both).execute({ name: 'work', args: { password: secret } })
    const { token = '', ...rest } = await collector
      .executor([login(() => 1, { requiresConfirmation: true })], both)
      .execute({ name: 'work', args: { password: secret } })
    expect(rest.status).toBe('waiting')
    expect(everything(collector)).not.toContain(secret)
    expect(everything(collector)).not.toContain(token)
    expect(collector.calls().map((span) => attributesOf(span)['gen_ai.tool.call.arguments'])).toEqual(
      Array(7).fill('{"password":"[secret]"}'),
    )
    expect(attributesOf(collector.calls()[4])['gen_ai.tool.call.result']).toBe('{"name":"ada","password":"[secret]"}')
  })

  test.each<[string, () => unknown, string | undefined]>([
    ['a number', () => 42, '42'],
    ['nothing', () => undefined, undefined],
    ['null', () => null, 'null'],
    ['a list', () => ['a', 1], '["a",1]'],
    ['marked content', () => content([{ type: 'text', text: 'a' }]), '[{"type":"text","text":"a"}]'],
    ['what is marked as JSON', () => json('a'), 'a'],
    ['bytes', () => new Uint8Array([1, 2]), undefined],
    ['a stream', () => new ReadableStream({ start: (controller) => controller.close() }), undefined],
    ['what has no JSON', () => ({ big: 1n }), undefined],
    [
      'what a generator returns',
      async function* () {
        yield 'progress'
        return 'result'
      },
      'result',
    ],
  ])('of a result that is %s', async (_, handler, text) => {
    const collector = telemetry()
    const executor = collector.executor([testTool(handler)], both)
    await executor.execute({ name: 'work' })
    expect(attributesOf(lastCall(collector))['gen_ai.tool.call.result']).toBe(text)
    expect(executor.reports).toEqual([])
  })

  test('that was sent to a tool which is not there stays untold: nobody says what of it is secret', async () => {
    const collector = telemetry()
    await collector.executor([login(() => 1)], both).execute({ name: 'wrok', args: { password: secret } })
    expect(collector.calls().length).toBe(1)
    expect(everything(collector)).not.toContain(secret)
  })

  test('is cut where it is long', async () => {
    const collector = telemetry()
    const executor = collector.executor([testTool(() => '😀'.repeat(99_999))], both)
    await executor.execute({ name: 'work', args: { a: 'x'.repeat(99_999) } })
    const { 'gen_ai.tool.call.arguments': args, 'gen_ai.tool.call.result': result } = attributesOf(lastCall(collector))
    for (const text of [args, result]) expect(String(text).length).toBeLessThanOrEqual(16_384)
    expect(String(result)).toMatch(/^(?:😀)+…$/u)
  })

  test('is what the middleware after it lets pass', async () => {
    const collector = telemetry()
    const executor = collector.executor([testTool(() => 'Bearer abcdefghijklmnopqrst')], both, redact())
    await executor.execute({ name: 'work' })
    expect(attributesOf(lastCall(collector))['gen_ai.tool.call.result']).toBe('Bearer ***')
  })

  test('of a call that goes on is what the tool was given', async () => {
    const collector = telemetry()
    const executor = collector.executor([login(() => 1, { requiresConfirmation: true })], both)
    const { token = '' } = await executor.execute({ name: 'work', args: { user: 'ada', password: secret } })
    await executor.calls.decide(token, 'allow', { editedArgs: { user: 'bob', password: secret } })
    const other = await executor.execute({ name: 'work', args: { user: 'eve', password: secret } })
    await executor.calls.decide(other.token ?? '', 'allow')
    const all = collector
      .calls()
      .map((span) => JSON.parse(String(attributesOf(span)['gen_ai.tool.call.arguments'])) as unknown)
    expect(all).toEqual(['ada', 'bob', 'eve', 'eve'].map((user) => ({ user, password: '[secret]' })))
  })
})

describe('the metric', () => {
  test('counts calls by tool, type and error, in seconds, within the boundaries of the conventions', async () => {
    const collector = telemetry()
    const executor = collector.executor([
      testTool(() => later(12)),
      testTool(
        () => {
          throw new Error('no')
        },
        { name: 'breaks' },
      ),
    ])
    const before = performance.now()
    await executor.executeToolCalls([{ name: 'work' }, { name: 'work' }, { name: 'breaks' }])
    const elapsed = (performance.now() - before) / 1_000
    const points = await collector.durations()
    expect(points.map(({ attributes, value: { count } }) => [attributes, count])).toEqual(
      expect.arrayContaining([
        [{ 'gen_ai.tool.name': 'work', 'gen_ai.tool.type': 'function' }, 2],
        [{ 'gen_ai.tool.name': 'breaks', 'gen_ai.tool.type': 'function', 'error.type': 'E_TOOL_DOWNSTREAM_ERROR' }, 1],
      ]),
    )
    expect(points[0]?.value.buckets.boundaries).toEqual([
      0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
    ])
    const slow = points.find(({ value: { count } }) => count === 2)?.value
    expect(slow?.sum).toBeGreaterThanOrEqual(0.02)
    expect(slow?.sum).toBeLessThanOrEqual(2 * elapsed)
  })

  test('is there without spans, and spans without it', async () => {
    const collector = telemetry()
    const work = testTool(() => 1)
    await createExecutor({
      tools: [work],
      use: [openTelemetry({ meterProvider: collector.providers.meterProvider })],
    }).execute({
      name: 'work',
    })
    expect((await collector.durations()).length).toBe(1)
    expect(collector.calls()).toEqual([])
    await createExecutor({
      tools: [work],
      use: [openTelemetry({ tracerProvider: collector.providers.tracerProvider })],
    }).execute({
      name: 'work',
    })
    expect((await collector.durations())[0]?.value.count).toBe(1)
    expect(collector.calls().length).toBe(1)
  })
})

describe('the SDK', () => {
  test('may be registered after the executor was made', async () => {
    const executor = createExecutor({ tools: [testTool(() => 1)], use: [openTelemetry()] })
    await executor.execute({ name: 'work' })
    const collector = telemetry()
    trace.setGlobalTracerProvider(collector.providers.tracerProvider)
    metrics.setGlobalMeterProvider(collector.providers.meterProvider)
    await executor.execute({ name: 'work' })
    expect(collector.calls().length).toBe(1)
    expect((await collector.durations()).map(({ value }) => value.count)).toEqual([1])
  })

  test('may be missing: a trace that came from elsewhere goes on to the handler', async () => {
    const remote = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', traceFlags: 1 }
    const seen: unknown[] = []
    const work = testTool(() => void seen.push(trace.getActiveSpan()?.spanContext()))
    const executor = createExecutor({ tools: [work], use: [openTelemetry()] })
    await context.with(trace.setSpanContext(ROOT_CONTEXT, remote), () => executor.execute({ name: 'work' }))
    await executor.execute({ name: 'work' })
    expect(seen).toEqual([remote, undefined])
  })

  test.each(['onStart', 'onEnd'] as const)('may break in %s: the call is as it would have been', async (moment) => {
    const processor = { onStart() {}, onEnd() {}, async forceFlush() {}, async shutdown() {} }
    const tracerProvider = new TracerProvider({
      spanProcessors: [
        {
          ...processor,
          [moment]: () => {
            throw new Error('disk full')
          },
        },
      ],
    })
    const reports: unknown[] = []
    const executor = createExecutor({
      tools: [testTool(() => 'done')],
      use: [openTelemetry({ tracerProvider })],
      report: (fault) => void reports.push(fault),
    })
    expect(await executor.execute({ name: 'work' })).toMatchObject({ status: 'ok', content: [{ text: 'done' }] })
    expect(reports).toContainEqual(new Error('disk full'))
  })

  test('may have spans that break: the tool runs, and what it gives is kept', async () => {
    const broken = (): never => {
      throw new Error('broken')
    }
    const collector = telemetry()
    const span = collector.tracer.startSpan('real')
    Object.assign(span, { setAttribute: broken, setAttributes: broken, addEvent: broken })
    const getTracer = (): never => ({ startSpan: () => span, startActiveSpan: broken }) as never
    const reports: unknown[] = []
    const executor = createExecutor({
      tools: [testTool(() => 'done')],
      use: [openTelemetry({ tracerProvider: { getTracer }, recordArgs: true, recordResult: true })],
      report: (fault) => void reports.push(fault),
    })
    expect(await executor.execute({ name: 'work' })).toMatchObject({ status: 'ok', content: [{ text: 'done' }] })
    expect(reports.length).toBeGreaterThan(0)
    for (const fault of reports) expect(fault).toEqual(new Error('broken'))
  })

  test('may have a context manager that breaks: the tool runs once all the same', async () => {
    const collector = telemetry()
    let runs = 0
    const executor = collector.executor([testTool(() => ++runs)])
    context.disable()
    context.setGlobalContextManager({
      active: () => ROOT_CONTEXT,
      with: (_context, run, that, ...args) => {
        run.call(that as never, ...args)
        throw new Error('broken')
      },
      bind: (_context, target) => target,
      enable() {
        return this
      },
      disable() {
        return this
      },
    })
    expect(await executor.execute({ name: 'work' })).toMatchObject({ status: 'ok' })
    expect(runs).toBe(1)
  })
})

describe('the options', () => {
  test.each<[unknown, RegExp]>([
    [null, /takes an object/],
    [{ recordInputs: true }, /has no option "recordInputs"/],
    [{ recordArgs: 'yes' }, /`recordArgs`/],
    [{ recordResult: 1 }, /`recordResult`/],
    [{ tracerProvider: {} }, /`tracerProvider`/],
    [{ meterProvider: {} }, /`meterProvider`/],
  ])('%j are refused', (options, message) => {
    expect(() => openTelemetry(options as never)).toThrow(message)
    expect(() => openTelemetry(options as never)).toThrow(
      expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }) as Error,
    )
  })
})
