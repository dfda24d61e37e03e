import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor, memoryStore, tool, type Extension, type Tool, type ToolExecutor } from 'toolwright'
import { fleet, type Dispatcher, type FleetOptions } from 'toolwright/distributed/fleet'
import { createWorker, type Worker, type WorkerOptions } from 'toolwright/distributed/worker'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { expect, onTestFinished, vi } from 'vitest'

const soon = { timeout: 60_000, interval: 10 }

/** A place that callers and workers share: a journal, a store, and what reaches the workers. */
export interface Ground {
  readonly tools: readonly Tool[]
  readonly dispatcher: Dispatcher | undefined
  readonly use: () => Extension[]
}

/** Tools that tell on which side they run, and one for each promise about what may run again. */
export function toolsOf(ran: string[] = []): Tool[] {
  const note = (name: string): ((args: unknown, context: { invocationId: string }) => { ran: string }) => {
    return (_args, { invocationId }) => {
      ran.push(invocationId)
      return { ran: name }
    }
  }
  const inputSchema = { type: 'object', properties: { i: { type: 'number' } } } as const
  return [
    tool({ name: 'charge', description: 'Charges', inputSchema, handler: note('charge') }),
    tool({
      name: 'lookup',
      description: 'Looks up',
      inputSchema,
      traits: { idempotent: true },
      handler: note('lookup'),
    }),
  ]
}

/** A ground on one SQLite file, which is gone after the test. */
export function sqliteGround(tools: readonly Tool[], dispatcher: Dispatcher | undefined): Ground {
  const directory = mkdtempSync(join(tmpdir(), 'toolwright-fleet-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const store = memoryStore()
  const file = join(directory, 'calls.db')
  return { tools, dispatcher, use: () => [sqliteJournal(file), { store }] }
}

export function callerOn(ground: Ground, options: FleetOptions = {}, more: readonly Extension[] = []): ToolExecutor {
  const mounted = fleet({ ...(ground.dispatcher && { dispatcher: ground.dispatcher }), ...options })
  const executor = createExecutor({ tools: ground.tools, use: [...ground.use(), mounted, ...more] })
  onTestFinished(() => executor.close())
  return executor
}

export function workerOn(
  ground: Ground,
  options: Partial<WorkerOptions> = {},
  more: readonly Extension[] = [],
): Worker & { readonly executor: ToolExecutor } {
  const executor = createExecutor({ tools: ground.tools, use: [...ground.use(), ...more] })
  const worker = createWorker({
    executor,
    ...(ground.dispatcher && { dispatcher: ground.dispatcher }),
    queues: { default: 8 },
    sweepEvery: 100,
    resendAfter: 200,
    ...options,
  })
  onTestFinished(() => worker.close())
  return { ...worker, executor }
}

/** A tool whose handler ends when it is cancelled, and what tells of it. */
export function cancellable(): {
  readonly tools: Tool[]
  readonly started: Promise<void>
  readonly aborted: Promise<void>
} {
  const [started, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const wait = tool('wait', (_args, { signal }) => {
    started.resolve()
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted.resolve()
        reject(new Error('aborted'))
      })
    })
  })
  return { tools: [wait], started: started.promise, aborted: aborted.promise }
}

/** Cancels a call that a worker runs, and waits until its caller, its handler and its record know. */
export async function cancelOn(caller: ToolExecutor, started: Promise<void>, aborted: Promise<void>): Promise<void> {
  const leaving = new AbortController()
  const asked = caller.execute({ name: 'wait' }, { session: 's', invocationId: 'a', signal: leaving.signal })
  await started
  leaving.abort()
  expect(await asked).toMatchObject({ status: 'cancelled', effect: 'unknown' })
  await aborted
  await vi.waitFor(async () => expect((await caller.calls.get('a')).status).toBe('cancelled'), soon)
}
