import type { Command } from './arguments.ts'
import { readInput } from './document.ts'
import { printAnswer } from './host.ts'
import { journalOptions, openJournal } from './journal.ts'
import { openApiHelp, openApiOptions, openDocument } from './openapi.ts'
import { UsageError } from './arguments.ts'
import { exitCode, openExecutor, executionHelp, executionOptions } from './execution.ts'

/** `toolwright call`: runs one call by the user, and prints its whole result. */
export const callCommand: Command = {
  name: 'call',
  help: `\
Usage: toolwright call <module> <tool> [args-json | -] [options]
       toolwright call --openapi <file> <tool> [args-json | -] [options]

Runs one tool of the module for you, also if it is for models only, and prints the
result as JSON. Reads the args from stdin if they are -.

  --journal FILE    keep the call in an SQLite file; toolwright decide answers it if it
                    waits
${openApiHelp}
${executionHelp}`,
  options: { ...openApiOptions, ...journalOptions, ...executionOptions },
  takes: [1, 3],

  async perform(options, host) {
    const document = await openDocument(options, host)
    const [path, name = '', argsText] =
      document === undefined ? options.positionals : [undefined, ...options.positionals]
    if (name === '')
      throw new UsageError(
        'Something is missing. Usage: toolwright call <module> <tool> [args-json | -] [options]. See toolwright call --help.',
      )
    const { executor, answered } = await openExecutor(path, options, host, argsText !== '-', async () => [
      ...(document === undefined ? [] : [document]),
      ...(await openJournal(options)),
    ])
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
