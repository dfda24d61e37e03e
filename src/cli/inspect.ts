import process from 'node:process'
import { unlessTaken, UsageError, type Command } from './arguments.ts'
import { untilInterrupted, note, printText, thrownMessage } from './host.ts'
import { journalOptions, openJournal } from './journal.ts'
import { memoryJournal } from '../journals/memory.ts'
import { openExecutor, executionHelp, servingOptions } from './execution.ts'

const inspectTokenVariable = 'TOOLWRIGHT_INSPECT_TOKEN'

/** `toolwright inspect`: shows the calls of a module's tools in a browser. */
export const inspectCommand: Command = {
  name: 'inspect',
  help: `\
Usage: toolwright inspect <module> [--port PORT] [--journal FILE] [options]

Serves a page that shows calls as they happen: their args, progress, results, artifacts
and timelines. It approves and denies calls that wait, and makes calls of its own. With a
journal it also shows and answers the calls of other processes, such as those of
toolwright run --journal. Prints the address, whose token is what opens the page: a new
one each time, or that of the variable ${inspectTokenVariable}.

  --port PORT       listen on 127.0.0.1 (default 4984); 0: any port that is free
  --journal FILE    keep the calls in an SQLite file, which other processes may share
${executionHelp.replace(/^ {2}--fail-on-error.*\n/m, '')}`,
  options: { ...servingOptions, ...journalOptions, port: { type: 'string' } },
  takes: [1, 1],

  async perform(options, host) {
    const [path = ''] = options.positionals
    const port = options.count('port', 0) ?? 4_984
    if (port > 65_535) throw new UsageError(`--port takes a port of at most 65535, got "${port}".`)
    const { inspector } = await import('../devtools/inspector.ts')
    const { executor } = await openExecutor(path, options, host, false, async () => {
      const journal = await openJournal(options)
      // Without a file the results of calls that are over are kept in memory, so that the page has them.
      return journal.length > 0 ? journal : [memoryJournal()]
    })
    try {
      const report = (error: unknown): void => note(host, thrownMessage(error))
      const token = process.env[inspectTokenVariable]
      const inspecting = inspector({ executor, canCall: true, report, ...(token && { token }) })
      const { url, close } = await inspecting.listen({ port })
      try {
        await printText(host.stdout, `${url}\n`)
        await untilInterrupted(host)
      } finally {
        await close()
      }
      return 0
    } catch (error) {
      throw unlessTaken(error, port, 'port')
    } finally {
      await executor.close()
    }
  },
}
