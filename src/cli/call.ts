import type { Command } from './arguments.ts'
import { readInput } from './document.ts'
import { printAnswer } from './host.ts'
import { journalOptions, openJournal } from './journal.ts'
import { exitCode, openExecutor, executionHelp, executionOptions } from './execution.ts'

/** `toolwright call`: runs one call by the user, and prints its whole result. */
export const callCommand: Command = {
  name: 'call',
  help: `\
Usage: toolwright call <module> <tool> [args-json | -] [options]

Runs one tool of the module for you, also if it is for models only, and prints the
result as JSON. Reads the args from stdin if they are -.

  --journal FILE    keep the call in an SQLite file; toolwright decide answers it if it
                    waits
${executionHelp}`,
  options: { ...journalOptions, ...executionOptions },
  takes: [2, 3],

  async perform(options, host) {
    const [path = '', name = '', argsText] = options.positionals
    const { executor, answered } = await openExecutor(path, options, host, argsText !== '-', () => openJournal(options))
    try {
      const args = argsText === '-' ? await readInput('-', host) : argsText
      const results = await answered([await executor.execute({ name, args }, { caller: 'user', signal: host.signal })])
      await printAnswer(host, results[0])
      return exitCode(results, options)
    } finally {
      await executor.close()
    }
  },
}
