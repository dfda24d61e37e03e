import type { Command } from './arguments.ts'
import { readText } from './document.ts'
import { answer } from './host.ts'
import { journalOptions, openJournal } from './journal.ts'
import { loadTools } from './module.ts'
import { exitCode, openPassage, passageHelp, passageOptions } from './passage.ts'

/** `toolwright call`: runs one call by the user, and prints its whole result. */
export const call: Command = {
  name: 'call',
  help: `\
Usage: toolwright call <module> <tool> [args-json | -] [options]

Runs one tool of the module for you, also if it is for models only, and prints the
result as JSON. Reads the args from stdin if they are -.

  --journal FILE    keep the call in an SQLite file; toolwright decide answers it if it
                    waits
${passageHelp}`,
  options: { ...journalOptions, ...passageOptions },
  takes: [2, 3],

  async perform(options, host) {
    const [path = '', name = '', given] = options.positionals
    const tools = await loadTools(path, host)
    const executor = openPassage(tools, options, host, given !== '-', await openJournal(options))
    try {
      const args = given === '-' ? await readText('-', host) : given
      const result = await executor.execute({ name, args }, { caller: 'user', signal: host.signal })
      await answer(host, result)
      return exitCode([result], options)
    } finally {
      await executor.close()
    }
  },
}
