import { canonicalize, computeCallId, createExecutor, isToolError, parseJson, tool, ToolFailure } from 'toolwright'
import vectors from '../call-ids.json' with { type: 'json' }
import { has, refused, same, wait } from '../_assert.ts'
import type { Case } from '../run.ts'

export const door: readonly Case[] = [
  {
    name: 'door: the same callId as on every other platform',
    async run() {
      for (const [name, args, callId] of vectors as [string, object, string][]) {
        same(computeCallId(name, args), callId, name)
        const executor = createExecutor({ tools: [tool(name, () => 1)] })
        same((await executor.execute({ name, args })).callId, callId, name)
      }
    },
  },
  {
    name: 'door: canonical text, and strict parsing',
    async run() {
      same(canonicalize({ b: 1, a: 2 }), '{"a":2,"b":1}')
      same(await refused(() => parseJson('{"a":1,"a":2}')), 'E_UNCANONICAL_ARGS')
    },
  },
  {
    name: 'door: failures keep their codes and brands',
    async run() {
      const refuse = (): never => {
        throw new ToolFailure('no', { retryable: true })
      }
      const throwText = (): never => {
        throw 'text' // oxlint-disable-line typescript/only-throw-error -- handlers do
      }
      const executor = createExecutor({ tools: [tool('refuse', refuse), tool('text', throwText)] })
      const refusal = await executor.execute({ name: 'refuse' })
      const { error } = await executor.execute({ name: 'text' })
      same([refusal.status, refusal.error?.retryable, error?.code], ['error', true, 'E_TOOL_DOWNSTREAM_ERROR'])
      has(isToolError(error), 'the brand')
    },
  },
  {
    name: 'door: events come in order and are counted',
    async run() {
      const executor = createExecutor({ tools: [tool('t', () => 1)] })
      const seen: [string, number][] = []
      for (const name of ['call:received', 'tool:start', 'tool:end', 'call:settled'] as const) {
        executor.on(name, ({ seq }) => seen.push([name, seq]))
      }
      await executor.execute({ name: 't' })
      same(
        seen.map(([name]) => name),
        ['call:received', 'tool:start', 'tool:end', 'call:settled'],
      )
      same(
        seen.map(([, seq]) => seq - (seen[0]?.[1] ?? 0)),
        [0, 1, 2, 3],
      )
    },
  },
  {
    name: 'door: close drains, then refuses',
    async run() {
      const executor = createExecutor({ tools: [tool('t', () => wait(5).then(() => 1))] })
      const running = executor.execute({ name: 't' })
      await executor.close({ drain: 5_000 })
      same([(await running).status, (await executor.execute({ name: 't' })).status], ['ok', 'cancelled'])
      const { asyncDispose } = Symbol as { readonly asyncDispose?: symbol }
      has(asyncDispose === undefined || asyncDispose in executor, '`await using`')
      has(!('undefined' in executor), 'no method called "undefined"')
    },
  },
]
