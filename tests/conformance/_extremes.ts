import { content, createExecutor, tool, type Extension, type Tool, type ToolContext, type ToolEvent } from 'toolwright'
import { ToolDeniedError, ToolFailure } from 'toolwright/errors'
import type { Repair, ToolCallRecord } from 'toolwright/extension'
import { expect } from 'vitest'

const megabyte = 1_048_576
const long = 'x'.repeat(3 * megabyte)
const issues = Array.from({ length: 100_000 }, (_, index) => ({ message: long, path: ['rows', index, long] }))
const throwing = (make: () => unknown) => (): never => {
  throw make()
}
const schema = (validate: (value: unknown) => unknown): object => ({
  inputSchema: { '~standard': { version: 1, vendor: 'own', validate } },
  jsonSchema: {},
})
const image = { type: 'image', data: 'aGk='.repeat(megabyte), mimeType: long }

/** What handlers, validators and policies can say too much with, by the name of the tool. */
const floods: Record<string, readonly [handler: (input: never, context: ToolContext) => unknown, options?: object]> = {
  small: [() => 'small'],
  throws_long_words: [throwing(() => new Error(long))],
  throws_a_long_name: [throwing(() => Object.assign(new Error(long), { name: long }))],
  fails_with_advice: [throwing(() => new ToolFailure(long, { recommendations: Array.from(issues, () => long) }))],
  throws_many_issues: [throwing(() => new ToolDeniedError(long, { issues, recommendations: [long] }))],
  finds_many_issues: [() => 1, schema(() => ({ issues }))],
  grows_its_input: [() => 'grown', schema(() => ({ value: { long } }))],
  gives_a_picture: [() => content([image] as never)],
  gives_a_long_text: [() => long, { inlineLimit: Infinity }],
  gives_much_json: [() => [long, { long }], { inlineLimit: Infinity }],
  breaks_its_promise: [() => 1, { outputSchema: schema(() => ({ issues }))['inputSchema' as never] }],
  tells_much: [
    async function* (_: never, { emit }: ToolContext) {
      emit(long, { long })
      yield long
      yield await Promise.resolve([long])
      return 'told'
    },
  ],
  asks_in_long_words: [() => 'asked', { confirmationMessage: long, requiresConfirmation: true }],
  asks_about_much: [() => 'asked'],
  is_denied_in_long_words: [() => 1],
  is_denied_with_a_long_result: [() => 1],
  touches_much: [
    async () => new Promise((resolve) => setImmediate(resolve)),
    { conflicts: () => Array.from({ length: 255 }, (_, index) => `a/${'x'.repeat(1_000)}${index}`).concat('a') },
  ],
  takes_large_args: [() => 'taken', { requiresConfirmation: true }],
}

function toolOf(name: string): Tool {
  const [handler, options] = floods[name]!
  return tool({ name, description: 'Says too much', inputSchema: { type: 'object' }, handler, ...options } as never)
}

const policy = {
  name: 'long',
  decide: ({ name }: { name: string }) => {
    if (name === 'asks_about_much') return { decision: 'ask', reason: long, meta: { long } } as const
    if (name === 'is_denied_in_long_words') return { decision: 'deny', reason: long } as const
    if (name === 'is_denied_with_a_long_result') return { decision: 'deny', toolResult: long } as const
    return undefined
  },
}

/** Repairs a text that is no JSON, in more steps than are told. */
const repairAtLength: Repair = ({ args }) => {
  if (args !== '{') return undefined
  const path = Array.from({ length: 99 }, () => long)
  return { args: {}, steps: Array.from({ length: 99 }, () => ({ step: long, path })) }
}

/** Makes an executor that is called in every way that could make its records and events large; gives all that was told. */
export async function flood(use: readonly Extension[]): Promise<readonly ToolEvent[]> {
  const events: ToolEvent[] = []
  const observers = [(event: ToolEvent) => void events.push(event)]
  const tools = Object.keys(floods).map(toolOf)
  const executor = createExecutor({
    tools,
    use: [...use, { policies: [policy], observers, repair: repairAtLength }],
    report: () => {},
  })
  const calls = [
    ...Object.keys(floods).map((name) => ({ id: 'i'.repeat(60_000), name, args: {} as unknown })),
    { id: 'a', name: 'takes_large_args', args: { text: 'x'.repeat(250_000) } },
    { id: 'a', name: 'small', args: JSON.stringify({ long }) },
    { id: 'a', name: 'small', args: { long: [long] } },
    { id: 'a', name: 'small', args: Object.assign([], { length: 4_000_000_000 }) },
    { id: 'a', name: 'small', args: '{' },
    { id: 'a', name: long },
    { id: long, name: 'small' },
  ]
  for (const call of calls) {
    const { token } = await executor.execute(call)
    if (token !== undefined) await executor.calls.decide(token, 'allow', { note: long, decidedBy: long })
  }
  await Promise.all([1, 2].map(() => executor.execute({ name: 'touches_much' })))
  await executor.close()
  return events
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

/** A record of any time: what it keeps beside the args has an end, and the args it keeps only while its call waits. */
export function requireBoundedRecord({ input, journal, ...record }: ToolCallRecord): void {
  const { awaits, ...kept } = journal ?? {}
  expect(sizeOf({ ...record, ...kept, ...awaits, text: undefined }), record.name).toBeLessThanOrEqual(megabyte)
  expect(sizeOf(input), record.name).toBeLessThanOrEqual(262_144 + 2)
  expect(sizeOf(awaits?.text ?? ''), record.name).toBeLessThanOrEqual(2 * 262_144)
  if (record.status !== undefined && record.status !== 'waiting') expect(awaits).toBeUndefined()
}

export function requireBoundedEvent(event: ToolEvent): void {
  expect(sizeOf({ ...event, args: undefined, input: undefined }), event.toolName).toBeLessThanOrEqual(megabyte)
  for (const args of ['args', 'input'] as const) {
    expect(sizeOf((event as { args?: unknown; input?: unknown })[args]), event.toolName).toBeLessThanOrEqual(
      262_144 + 2,
    )
  }
}
