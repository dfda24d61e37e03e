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

/** The text of `--help` for them. */
export const passageHelp: string = `\
  --timeout MS      limit for calls of tools without their own; 0: no limit (default 30000)
  --events          print every event as one line of JSON on stderr
  --fail-on-error   exit 1 if a call did not end ok
  -h, --help`

/**
 * Makes the executor of a command.
 *
 * @param isAttended Whether stdin is free to ask a person.
 * @param extensions Those that bring more tools, or a journal.
 */
export function openPassage(
  tools: ToolRegistry,
  options: Given,
  host: Host,
  isAttended: boolean,
  extensions: readonly Extension[] = [],
): ToolExecutor {
  const { stdin, stderr } = host
  const use: Extension[] = [...extensions]
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

/** Returns the exit code for results. An error result is an answer too, so it fails only on request. */
export function exitCode(results: readonly ToolResult[], options: Given): number {
  return options.flag('fail-on-error') && results.some(({ status }) => status !== 'ok') ? 1 : 0
}

/** Returns the message with its cause. Reports go to the operator, who needs the cause; results never contain it. */
function withCause(error: unknown): string {
  const cause: unknown = isToolError(error) ? error.cause : undefined
  return cause === undefined ? wordsOf(error) : `${wordsOf(error)} Cause: ${wordsOf(cause)}`
}
