import { existsSync } from 'node:fs'
import { cassetteOf } from '../testing/cassettes.ts'
import { journalHead } from '../testing/cassettes/_lines.ts'
import { UsageError, type Command } from './arguments.ts'
import { printText, terminalJson } from './host.ts'

/** `toolwright cassette`: prints the calls of a session of a journal as a tape. */
export const cassetteCommand: Command = {
  name: 'cassette',
  help: `\
Usage: toolwright cassette <journal.sqlite> --session NAME > tape.jsonl

Prints the calls of a session as a tape, which a test or toolwright replay takes. They come
out as the model was told. A tape holds data of your users: their args and results, but for
what tools declare as secrets. Exits with 2 if the session has no calls.

  --session NAME    the session whose calls to print
  -h, --help`,
  options: {
    session: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
  takes: [1, 1],

  async perform(options, host) {
    const [file = ''] = options.positionals
    const session = options.text('session')
    if (session === undefined) throw new UsageError('--session is missing. Give the session whose calls to print.')
    if (!existsSync(file)) throw new UsageError(`There is no file ${file}. Give the journal of the calls.`)
    const { sqliteJournal } = await import('../journals/sqlite.ts') // it needs a Node.js with SQLite
    const journal = sqliteJournal(file)
    try {
      let isEmpty = true
      for await (const call of cassetteOf(journal, { session })) {
        if (isEmpty) await printText(host.stdout, `${terminalJson(journalHead)}\n`)
        isEmpty = false
        await printText(host.stdout, `${terminalJson(call)}\n`)
      }
      if (isEmpty) throw new UsageError(`${file} has no settled call of the session "${session}".`)
      return 0
    } finally {
      await journal.close()
    }
  },
}
