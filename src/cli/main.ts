import { isToolError } from '../index.ts'
import { commandLine, UsageError, type Command } from './arguments.ts'
import { callCommand } from './call.ts'
import { callsCommand } from './calls.ts'
import { cassetteCommand } from './cassette.ts'
import { checkCommand } from './check.ts'
import { decideCommand } from './decide.ts'
import { packageVersion } from './files.ts'
import { note, printText, thrownMessage, type Host } from './host.ts'
import { idCommand } from './id.ts'
import { initCommand } from './init.ts'
import { inspectCommand } from './inspect.ts'
import { listCommand } from './list.ts'
import { lockCommand } from './lock.ts'
import { mcpCommand } from './mcp.ts'
import { pruneCommand } from './prune.ts'
import { replayCommand } from './replay.ts'
import { runCommand } from './run.ts'
import { skillsCommand } from './skills.ts'

const commands: ReadonlyMap<string, Command> = new Map(
  [
    initCommand,
    skillsCommand,
    runCommand,
    callCommand,
    listCommand,
    idCommand,
    mcpCommand,
    inspectCommand,
    checkCommand,
    lockCommand,
    callsCommand,
    decideCommand,
    pruneCommand,
    replayCommand,
    cassetteCommand,
  ].map((command) => [command.name, command]),
)

const help = `\
Usage: toolwright <command> …

  init [folder]                        writes tools, a program that uses them, and a test
  skills --into <folder>               copies skills for coding agents into a folder
  run <module> [message.json | -]      runs the calls of a message, and prints the reply
  call <module> <tool> [args-json]     runs one call, and prints its result
  list <module>                        prints the definitions of the tools
  check <module>                       prints what the schemas lose with each provider
  lock <module>                        writes the definitions to a file, or compares them
  id <tool> <args-json>                prints the callId of a call
  mcp <module> [--http PORT]           serves the tools to clients of the Model Context Protocol
  mcp --workspace DIR                  serves tools for the files and commands of a directory
  mcp --openapi FILE                   serves an API that has an OpenAPI document
  inspect <module> [--port PORT]       shows calls in a browser, and answers those that wait
  calls --journal FILE                 lists the calls of a journal, or those that wait
  decide <module> <id> allow|deny      answers a call of a journal that waits for approval
  prune --journal FILE --before WHEN   deletes old calls from a journal
  replay <tape.jsonl> <module>         makes recorded calls again, and prints what differs
  cassette <journal> --session NAME    prints the calls of a journal as a tape

  -h, --help       also after a command
  -v, --version

A module is any JavaScript or TypeScript file that exports tools, or an executor. Then
its policies, journal, approver and limits apply. --format takes formats that it exports
too. The answer goes to stdout, everything else to stderr. Exit codes: 0 if every call
has settled, 1 if a call did not end ok and --fail-on-error is set, a schema lost what
--fail-on names, a locked tool changed, a replayed call differs, or the answer could not
be written, 2 if the usage is wrong, or a module, message, journal, tape or lock file
cannot be read, or no such call waits.
`

/**
 * Runs the command that the command line names. Prints an error on one line of stderr.
 *
 * @param words The command line, without the program.
 * @returns the exit code.
 */
export async function main(words: readonly string[], host: Host): Promise<number> {
  const [name = '', ...rest] = words
  try {
    if (name === '--help' || name === '-h') return await say(host, help)
    if (name === '--version' || name === '-v') return await say(host, `${packageVersion()}\n`)
    const command = commands.get(name)
    if (command === undefined) {
      const what = name === '' ? 'A command is missing' : `There is no command "${name}"`
      throw new UsageError(`${what}. Known are ${[...commands.keys()].join(', ')}; see toolwright --help.`)
    }
    if (asksForHelp(rest)) return await say(host, `${command.help}\n`)
    return await command.perform(commandLine(command, rest), host)
  } catch (error) {
    const isTyped = error instanceof UsageError || isToolError(error)
    note(host, isTyped ? [error.code, error.message].filter(Boolean).join(': ') : thrownMessage(error))
    return isTyped ? 2 : 1
  }
}

/** Returns whether help is asked for. If so, the other arguments are not checked. */
function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end < 0 ? undefined : end).some((word) => word === '--help' || word === '-h')
}

async function say({ stdout }: Host, text: string): Promise<number> {
  await printText(stdout, text)
  return 0
}
