import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { createExecutor, tool } from 'toolwright'
import { mcpTools } from 'toolwright/mcp/client'
import { mcpServer, type McpServerOptions } from 'toolwright/mcp/server'
import { openTelemetry, traceMeta, withTraceMeta } from 'toolwright/observers/open-telemetry'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { enableContexts, telemetry, type Telemetry } from './_telemetry.ts'

let undo = (): void => {}
beforeEach(() => {
  undo = enableContexts()
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
})
afterEach(() => undo())

interface Sides {
  /** What the process of the agent tells. */
  readonly agent: Telemetry
  /** What the process of the server tells. */
  readonly server: Telemetry
}

/** Calls a tool of a server over HTTP, within a span of the agent, five times at once. */
async function callAcross(protocol: '2025-11-25' | '2026-07-28', around?: McpServerOptions['around']): Promise<Sides> {
  const agent = telemetry()
  const server = telemetry()
  const work = tool('work', async ({ turn }: { turn: number }) => {
    await new Promise((resolve) => setTimeout(resolve, 1))
    server.tracer.startSpan(`query ${turn}`).end()
    return turn
  })
  const executor = createExecutor({ tools: [work], use: [openTelemetry(server.providers)] })
  const listening = await mcpServer({ executor, ...(around && { around }) }).listen()
  const remote = await mcpTools({ url: listening.url, name: 'server', protocol, meta: traceMeta })
  const host = agent.executor([], {}, remote)
  const turns = [0, 1, 2, 3, 4].map(async (turn) => {
    const span = agent.tracer.startSpan(`turn ${turn}`)
    const result = await context.with(trace.setSpan(ROOT_CONTEXT, span), () =>
      host.execute({ id: `${turn}`, name: 'work', args: { turn } }),
    )
    expect(result).toMatchObject({ status: 'ok' })
    span.end()
  })
  await Promise.all(turns)
  await host.close()
  await executor.close()
  await listening.close()
  return { agent, server }
}

describe.each(['2025-11-25', '2026-07-28'] as const)('over MCP of %s', (protocol) => {
  test('a call is one trace: the turn, the call here, the call there, and what its handler does', async () => {
    const { agent, server } = await callAcross(protocol, withTraceMeta)
    const there = new Map(server.calls().map((span) => [span.parentSpanContext?.spanId, span]))
    expect(there.size).toBe(5)
    for (const here of agent.calls()) {
      const turn = String(here.attributes['gen_ai.tool.call.id'])
      expect(here.attributes['toolwright.tool.type']).toBe('mcp')
      expect(here.parentSpanContext?.spanId).toBe(agent.span(`turn ${turn}`).spanContext().spanId)
      const call = there.get(here.spanContext().spanId)
      expect(call?.spanContext().traceId).toBe(here.spanContext().traceId)
      expect(server.span(`query ${turn}`).parentSpanContext?.spanId).toBe(call?.spanContext().spanId)
    }
  })

  test('a server that does not look for it is in traces of its own', async () => {
    const { agent, server } = await callAcross(protocol)
    const traces = new Set(agent.calls().map((span) => span.spanContext().traceId))
    expect(server.calls().length).toBe(5)
    for (const span of server.calls()) expect(traces.has(span.spanContext().traceId)).toBe(false)
  })
})
