import type { ParseArgsOptionsConfig } from 'node:util'
import {
  createExecutor,
  isToolError,
  type Extension,
  type ToolDefinition,
  type ToolExecutor,
  type ToolResult,
} from '../index.ts'
import { terminalAnswers, type AwaitAnswers } from './answers.ts'
import { UsageError, type CommandLine } from './arguments.ts'
import { eventLines } from './events.ts'
import { note, thrownMessage, type Host } from './host.ts'
import { loadModule, type Loaded } from './module.ts'
import { terminalApprover, view } from './terminal.ts'

/** The options of every command that runs calls. */
export const executionOptions: ParseArgsOptionsConfig = {
  timeout: { type: 'string' },
  events: { type: 'boolean' },
  'fail-on-error': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
}

const { 'fail-on-error': _, ...others } = executionOptions
/** The options of commands that serve, and end with no result. */
export const servingOptions: ParseArgsOptionsConfig = others

/** The text of `--help` for them. */
export const executionHelp: string = `\
  --timeout MS      limit for calls of tools without their own; 0: no limit (default 30000)
  --events          print every event as one line of JSON on stderr
  --fail-on-error   exit 1 if a call did not end ok
  -h, --help`

/** The options that an executor of the module's own has already. */
const executorOptions = ['timeout', 'concurrency', 'journal', 'openapi', 'workspace', 'task']

/** What runs the calls of a command. */
export interface Execution {
  readonly executor: ToolExecutor
  readonly tools: readonly ToolDefinition[]
  /** The module. Missing if the command line names none. */
  readonly loaded: Loaded | undefined
  /** Asks the person at the terminal about the calls that wait for approval. Returns all results. */
  readonly answered: AwaitAnswers
}

/**
 * Loads a module, and makes the executor of a command for its tools. If the module exports an executor, uses that.
 *
 * @param path Without a path there are only the tools of extensions.
 * @param isAttended Whether stdin is free to ask a person.
 * @param extensions Opens those that bring more tools, or a journal.
 * @throws {UsageError} as `loadModule`; if an option does not go with the module's executor.
 */
export async function openExecutor(
  path: string | undefined,
  options: CommandLine,
  host: Host,
  isAttended: boolean,
  extensions: () => Promise<readonly Extension[]> = async () => [],
): Promise<Execution> {
  const { stdin, stderr } = host
  const loaded = path === undefined ? undefined : await loadModule(path, host)
  const { tools = [], executor: own } = loaded ?? {}
  const observer = options.flag('events') ? eventLines(host) : stderr.isTTY === true ? view(host) : undefined
  const isAsking = isAttended && stdin.isTTY === true && stderr.isTTY === true
  if (own !== undefined) {
    const option = executorOptions.find((name) => options.text(name) !== undefined)
    if (option !== undefined) {
      await own.close()
      throw new UsageError(
        `${path} exports an executor, and --${option} is part of its configuration. Leave it out, or export the tools alone.`,
      )
    }
    if (observer !== undefined) own.on('*', observer)
    return {
      executor: own,
      tools,
      loaded,
      answered: isAsking ? terminalAnswers(own, host) : async (results) => [...results],
    }
  }
  const use: Extension[] = [...(await extensions())]
  if (observer !== undefined) use.push({ observers: [observer] })
  if (isAsking) use.push(terminalApprover(host))
  const concurrency = options.count('concurrency', 1)
  const timeout = options.count('timeout', 0)
  const executor = createExecutor({
    tools,
    use,
    ...(concurrency === undefined ? undefined : { concurrency }),
    ...(timeout === undefined ? undefined : { timeout }),
    report: (error) => note(host, withCause(error)),
  })
  return { executor, tools, loaded, answered: async (results) => [...results] }
}

/** Returns the exit code for results. An error result is an answer too, so it fails only on request. */
export function exitCode(results: readonly ToolResult[], options: CommandLine): number {
  return options.flag('fail-on-error') && results.some(({ status }) => status !== 'ok') ? 1 : 0
}

/** Returns the message with its cause. Reports go to the operator, who needs the cause; results never contain it. */
function withCause(error: unknown): string {
  const cause: unknown = isToolError(error) ? error.cause : undefined
  return cause === undefined ? thrownMessage(error) : `${thrownMessage(error)} Cause: ${thrownMessage(cause)}`
}
