import { checkOptions, Known, type Middleware, type Policy, type Validated } from '../extension.ts'
import type { Extension, ExecutorOptions, ToolDefinition } from '../index.ts'
import { whenReady } from '../kernel/json/thenable.ts'
import type { FakeHandler } from './fakes.ts'
import { partOf, requireExecutorOptions } from './_parts.ts'

/** A call of a dry run that no schema and no policy refused. */
export interface DryCall {
  readonly tool: string
  /** The args as the schema returns them. If the tool has secrets, its args with secrets masked. */
  readonly args: unknown
  readonly callId: string
  readonly session: string
  /** Whether the tool ran, since it changes nothing. */
  readonly hasRun: boolean
}

/** A question that a person would have been asked. */
export interface DryQuestion {
  readonly tool: string
  readonly prompt: string
  /** Why a policy asks. */
  readonly why: string | undefined
}

/** What `dryRun` returns: the options of an executor, and what its calls would do. */
export interface DryRun {
  /** The options of an executor that changes nothing. */
  readonly options: ExecutorOptions
  /** The calls that would run, in order. */
  readonly calls: readonly DryCall[]
  /** What people would be asked, in order. */
  readonly questions: readonly DryQuestion[]
}

/** The options of `dryRun`: what tools return that do not run. */
export interface DryRunOptions {
  /** What answers for tools that do not run, by their names. A function must change nothing itself. Default: words. */
  readonly simulate?: Readonly<Record<string, FakeHandler>>
}

/**
 * Makes options of an executor that does what a loop would do, without doing it. Schemas refuse and policies decide and count as
 * ever. Tools run that your application calls `readonly`. All others answer by words, with the effect `none`, or by `simulate`.
 *
 * What remembers is left out, so that a dry run uses up no `invocationId`: the journal, the store, the fleet, and the runners of
 * types of your own. No person is asked: each question is noted, and allowed. Tools of MCP servers never run, whatever they say of
 * themselves. A client tool with an `outputSchema` is denied, unless `simulate` answers for it.
 *
 * @param options The options of the application's executor. They are not changed. Closing the executor closes their extensions.
 * @param dry `simulate`: what answers in place of tools.
 * @throws `E_INVALID_CONFIGURATION` if `options` are none, or `simulate` has something else than functions.
 * @example
 * ```ts
 * import { createExecutor, type ExecutorOptions, tool } from 'toolwright'
 * import { dryRun } from 'toolwright/testing'
 *
 * const mail = tool('mail', ({ to }: { to: string }) => `sent to ${to}`)
 * const production: ExecutorOptions = { tools: [mail] }
 *
 * const { options, calls } = dryRun(production)
 * const { content } = await createExecutor(options).execute({ name: 'mail', args: { to: 'ada' } })
 * console.log(content) // [ { type: 'text', text: 'Dry run: mail was not run. Nothing has changed.' } ]
 * console.log(calls[0]?.args) // { to: 'ada' }
 * ```
 * @experimental
 */
export function dryRun(options: ExecutorOptions, dry: DryRunOptions = {}): DryRun {
  requireExecutorOptions('dryRun', options)
  checkOptions('dryRun', dry, {
    simulate: { expected: 'an object of functions', accepts: isObjectOfFunctions },
  })
  const simulated = new Map(Object.entries(dry.simulate ?? {}))
  const calls: DryCall[] = []
  const questions: DryQuestion[] = []

  const note = ({ tool, input, callId, session, redactor }: Validated, hasRun: boolean): void => {
    calls.push({ tool: tool.name, args: redactor === undefined ? input : redactor.args(), callId, session, hasRun })
  }
  const words = ({ tool }: Validated): string => `Dry run: ${tool.name} was not run. Nothing has changed.`

  const middleware: Middleware = async (call, context, next) => {
    const isReal = mayRun(call.tool)
    note(call, isReal)
    if (isReal) return next()
    const simulate = simulated.get(call.tool.name)
    if (simulate !== undefined) return simulate(dryInput(call), context)
    // No value may be made up for an output schema, so the words stand without one.
    throw new Known({ status: 'ok', effect: 'none', content: [{ type: 'text', text: words(call) }] })
  }
  const clients: Policy = {
    name: 'dry run',
    decide(call, context) {
      const { type } = call.tool
      if (type !== 'client' && (type !== 'provider' || call.call.result !== undefined)) return undefined
      note(call, false)
      const simulate = simulated.get(call.tool.name)
      if (simulate !== undefined) return whenReady(simulate(dryInput(call), context), (result) => ({ result }))
      return call.tool.outputSchema === undefined ? { result: words(call) } : { decision: 'deny', reason: words(call) } // no value may be made up
    },
    evaluate: () => undefined,
  }
  const first: Extension = {
    middleware: [middleware],
    approver: {
      async ask({ toolName, prompt, why }) {
        questions.push({ tool: toolName, prompt, why })
        return { decision: 'allow', decidedBy: 'dry run' }
      },
    },
  }
  const extensions = (options.use ?? []).map((extension) => partOf(extension, (member) => leftOutOfDryRun.has(member)))
  return { options: { ...options, use: [first, ...extensions, { policies: [clients] }] }, calls, questions }
}

function dryInput({ input }: Validated): Readonly<Record<string, unknown>> {
  return input as Readonly<Record<string, unknown>>
}

/** What remembers, asks, or runs elsewhere. */
const leftOutOfDryRun: ReadonlySet<keyof Extension> = new Set([
  'approver',
  'store',
  'records',
  'elsewhere',
  'runners',
] as const)

/** Whether a tool changes nothing by the word of the application. An output has no effect at all. */
function mayRun({ type, traits }: ToolDefinition): boolean {
  return type === 'output' || (type === 'server' && traits.readonly)
}

function isObjectOfFunctions(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).every((member) => typeof member === 'function')
}
