import type { ParseArgsOptionsConfig } from 'node:util'
import {
  createExecutor,
  isToolError,
  type Extension,
  type ToolExecutor,
  type ToolRegistry,
  type ToolResult,
} from '../index.ts'
import type { Given } from './arguments.ts'
import { eventLines } from './events.ts'
import { note, wordsOf, type Host } from './host.ts'
import { terminalApprover, view } from './terminal.ts'

/** The options of every command that runs calls. */
export const passageOptions: ParseArgsOptionsConfig = {
  timeout: { type: 'string' },
  events: { type: 'boolean' },
  'fail-on-error': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
}

/** What `--help` says of them. */
export const passageHelp: string = `\
  --timeout MS      what a call may take whose tool does not say; 0: no limit (default 30000)
  --events          every event as one line of JSON on stderr
  --fail-on-error   exit 1 if a call did not come out ok
  -h, --help`

/**
 * Makes the executor of a command.
 *
 * @param isAttended Whether nothing else is read from stdin, so that a person can be asked there.
 */
export function openPassage(tools: ToolRegistry, options: Given, host: Host, isAttended: boolean): ToolExecutor {
  const { stdin, stderr } = host
  const use: Extension[] = []
  if (options.flag('events')) use.push({ observers: [eventLines(host)] })
  else if (stderr.isTTY === true) use.push({ observers: [view(host)] })
  if (isAttended && stdin.isTTY === true && stderr.isTTY === true) use.push(terminalApprover(host))
  const concurrency = options.count('concurrency', 1)
  const timeout = options.count('timeout', 0)
  return createExecutor({
    tools,
    use,
    ...(concurrency === undefined ? undefined : { concurrency }),
    ...(timeout === undefined ? undefined : { timeout }),
    report: (error) => note(host, withCause(error)),
  })
}

/** The exit code for what became of the calls: a result is an answer, also one that tells of an error. */
export function exitCode(results: readonly ToolResult[], options: Given): number {
  return options.flag('fail-on-error') && results.some(({ status }) => status !== 'ok') ? 1 : 0
}

/** What is reported is no result's: here alone, whoever can mend it is told of the cause as well. */
function withCause(error: unknown): string {
  const cause: unknown = isToolError(error) ? error.cause : undefined
  return cause === undefined ? wordsOf(error) : `${wordsOf(error)} Cause: ${wordsOf(cause)}`
}
