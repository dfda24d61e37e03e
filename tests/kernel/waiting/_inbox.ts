import { createExecutor, type ExecutorOptions, type ToolExecutor, type ToolResult, type WaitingCall } from 'toolwright'
import { expect, onTestFinished } from 'vitest'
import { work } from '../_calls.ts'
import { databases } from '../_databases.ts'
import { places, type Place } from '../_journals.ts'

/** Every journal that is at hand, by name. */
export const everyPlace: readonly (readonly [string, () => Place])[] = [
  ...places,
  ...databases.filter(([name]) => name === 'Postgres'),
]

/** Two executors on one journal, as of two processes. */
export interface Pair {
  readonly asking: ToolExecutor
  readonly answering: ToolExecutor
  /** What ran, by the args. */
  readonly ran: unknown[]
  readonly place: Place
}

export function pairOn(place: Place, options: ExecutorOptions = {}): Pair {
  const ran: unknown[] = []
  const open = (): ToolExecutor => {
    const executor = createExecutor({ tools: toolsOf(ran), use: [place.open()], report: () => {}, ...options })
    onTestFinished(() => executor.close())
    return executor
  }
  return { asking: open(), answering: open(), ran, place }
}

export function toolsOf(ran: unknown[]): ReturnType<typeof work>[] {
  const schema = { type: 'object', properties: { email: { type: 'string' } }, required: ['email'] }
  return [
    work('deploy', (input) => (ran.push(input), 'deployed'), {
      requiresConfirmation: true,
      confirmationMessage: 'Deploy?',
      secrets: ['/key'],
    }),
    work('form', () => 1, { type: 'client', requiresResponse: true, timeout: 60_000, outputSchema: schema }),
    work('quick', () => 1, { type: 'client', requiresResponse: true, timeout: 20 }),
    work('runs', () => new Promise(() => {})),
  ]
}

export function ask(executor: ToolExecutor, name = 'deploy', session = 's', args: object = {}): Promise<ToolResult> {
  return executor.execute({ id: 'x', name, args }, { session })
}

/** The only call that waits. */
export async function only(executor: ToolExecutor, query: { session?: string } = {}): Promise<WaitingCall> {
  const waiting = await executor.calls.waiting(query)
  expect(waiting).toHaveLength(1)
  return waiting[0]!
}

export const invalid = { code: 'E_APPROVAL_INVALID' }
