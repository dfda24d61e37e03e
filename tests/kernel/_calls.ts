import { tool, type ContentBlock, type Tool, type ToolContext, type ToolEvent, type ToolResult } from 'toolwright'
import type { ToolExecutor } from 'toolwright'
import { loadEngine } from './_inside.ts'

// The first tool with a raw schema would wait for it, and tests could not count the turns until its handler runs.
await loadEngine()

/** A promise that is settled from outside. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>
  readonly resolve: (value: Value) => void
  readonly reject: (reason: unknown) => void
}

export function deferred<Value = void>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => {}
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<Value>((resolveIt, rejectIt) => {
    resolve = resolveIt
    reject = rejectIt
  })
  return { promise, resolve, reject }
}

export const never: Promise<never> = new Promise<never>(() => {})

/** Lets everything run that waits for nothing but its turn. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

type Handler = (input: never, context: ToolContext) => unknown

/** A tool that takes any object; further options may be anything, as an untyped author would write them. */
export function work(name: string, handler: Handler, options: object = {}): Tool {
  return tool({
    name,
    description: `The tool ${name}`,
    inputSchema: { type: 'object' },
    handler: handler as never,
    ...options,
  })
}

/** A tool whose calls write when they begin and end. */
export function notingTool(log: string[], name: string, options: object): Tool {
  const handler = async (): Promise<void> => {
    log.push(name)
    await pause(2)
    log.push(`${name} ends`)
  }
  return work(name, handler, options)
}

/** The words that a model is shown. */
export function text({ content }: { readonly content: readonly ContentBlock[] }): string {
  return content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join('\n')
}

/** What a result says of the outcome, in one line. */
export function outcome({ status, effect, error, skipped }: ToolResult): string {
  return [status, effect, ...(error ? [error.code] : []), ...(skipped ? ['skipped'] : [])].join(' ')
}

/** The one json block of a result. */
export function data({ content }: ToolResult): unknown {
  const block = content.find(({ type }) => type === 'json')
  return block?.type === 'json' ? block.data : undefined
}

/** Every event of an executor, as they come. */
export function heard(executor: ToolExecutor): ToolEvent[] {
  const events: ToolEvent[] = []
  executor.on('*', (event) => void events.push(event))
  return events
}

export function names(events: readonly ToolEvent[]): string {
  return events.map(({ event }) => event).join(' ')
}

/** Waits for a promise for so long; what hangs is a failure of its own. */
export async function soon<Value>(promise: Promise<Value>, milliseconds = 30_000): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came within ${milliseconds} ms`)), milliseconds)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** An object of which nothing can be asked without an error, which is thrown as itself. */
export function hostile(): object {
  const object: object = new Proxy(
    {},
    new Proxy(
      {},
      {
        get: () => () => {
          throw object // oxlint-disable-line typescript/only-throw-error -- the point of it
        },
      },
    ),
  )
  return object
}

export function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

export function sink(): { readonly reports: unknown[]; readonly report: (error: unknown) => void } {
  const reports: unknown[] = []
  return { reports, report: (error) => void reports.push(error) }
}
