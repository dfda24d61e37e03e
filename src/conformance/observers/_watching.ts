import { createExecutor, type Extension, type Tool, type ToolEvent, type ToolExecutor } from '../../index.ts'
import type { Repair } from '../../extension.ts'

/** The names of all events. */
export const watchedEvents = [
  'call:received',
  'call:repaired',
  'call:blocked',
  'call:waiting',
  'call:resumed',
  'tool:start',
  'tool:progress',
  'tool:end',
  'call:settled',
] as const

/** Fields of events of which the suites make anything, beside their texts. */
export const oddFields = [
  'callId',
  'seq',
  'timestamp',
  'args',
  'input',
  'data',
  'type',
  'error',
  'result',
  'meta',
  'prompt',
  'steps',
  'keys',
  'gate',
  'behind',
] as const

/** What a terminal obeys or a reader is deceived by, and what breaks a line. */
export const evil = '\u001b[2J\u009b31m\r\n\u0007\u202e\u2066\u2028\ufeff\u{e0041}\ud800"\\'

/** An executor with an extension, and all that happened in it. */
export interface Watching {
  readonly executor: ToolExecutor
  readonly events: readonly ToolEvent[]
  readonly reports: readonly unknown[]
}

/** Args that are no JSON, and that the executor repairs. */
export const repairable = '{"a":1,}'

const repairOf: Repair = ({ args }) =>
  args === repairable ? { args: { a: 1 }, steps: [{ step: 'trailing-comma', path: [] }] } : undefined

/** Makes an executor that is watched beside the extension. */
export function watching(extension: Extension, ...tools: Tool[]): Watching {
  const events: ToolEvent[] = []
  const reports: unknown[] = []
  const use = [extension, { repair: repairOf }]
  const executor = createExecutor({ tools, use, report: (error) => void reports.push(error) })
  for (const name of watchedEvents) executor.on(name, (event) => void events.push(event))
  return { executor, events, reports }
}

/** Makes an object of which nothing can be asked without an error. */
export function unreadable(): object {
  return new Proxy(
    {},
    new Proxy(
      {},
      {
        get: () => () => {
          throw new Error('unreadable')
        },
      },
    ),
  )
}

/** Makes values that JSON does not hold. */
export function oddities(): readonly unknown[] {
  const circle: unknown[] = []
  circle.push(circle)
  return [
    circle,
    [undefined],
    5n,
    Symbol('a'),
    () => {},
    undefined,
    Number.NaN,
    new Error(evil),
    new Date(Number.NaN),
    new Map([[1, 2]]),
    Object.create(null),
  ]
}

/** Makes values that fight back, or that are larger or deeper than any log wants. */
export function extremes(): readonly unknown[] {
  let deep: unknown = 'deep'
  for (let depth = 0; depth < 20_000; depth++) deep = { deep }
  return [
    deep,
    unreadable(),
    Object.assign([], { length: 4_000_000_000 }),
    {
      toJSON: () => {
        throw new Error('no')
      },
    },
    Array.from({ length: 200_000 }, () => ({ a: 'b' })),
    'x'.repeat(10_000_000),
    { ['k'.repeat(1_000_000)]: 1 },
    new Uint8Array(1_000_000),
  ]
}
