import type { Command } from './arguments.ts'
import { readDocument } from './document.ts'
import { formatHelp, formatsWith } from './formats.ts'
import { printAnswer, note, thrownMessage, type Host } from './host.ts'
import { journalOptions, openJournal } from './journal.ts'
import { openApiHelp, openApiOptions, openDocument } from './openapi.ts'
import { UsageError } from './arguments.ts'
import { exitCode, openExecutor, executionHelp, executionOptions } from './execution.ts'

/** `toolwright run`: runs the calls of a message, and prints the reply. */
export const runCommand: Command = {
  name: 'run',
  help: `\
Usage: toolwright run <module> [message.json | -] [options]
       toolwright run --openapi <file> [message.json | -] [options]

Runs the calls of one assistant message, or of a provider's whole response, with the
tools that the module exports, and prints the reply in the same format. Reads stdin if
there is no file. Calls that need approval are confirmed at the terminal. Without a
terminal, or if stdin is read, they are answered as waiting.

  ${formatHelp}
                    (default: the format that the message is in)
  --concurrency N   how many calls run at a time (default 3)
  --journal FILE    keep the calls in an SQLite file; toolwright decide answers those
                    that wait
${openApiHelp}
${executionHelp}`,
  options: {
    format: { type: 'string' },
    concurrency: { type: 'string' },
    ...openApiOptions,
    ...journalOptions,
    ...executionOptions,
  },
  takes: [0, 2],

  async perform(options, host) {
    const document = await openDocument(options, host)
    const [path, source = '-'] = document === undefined ? options.positionals : [undefined, ...options.positionals]
    if (path === undefined && document === undefined) {
      throw new UsageError(
        'Something is missing. Usage: toolwright run <module> [message.json | -] [options]. See toolwright run --help.',
      )
    }
    const named = options.text('format')
    const execution = await openExecutor(path, options, host, source !== '-', async () => [
      ...(document === undefined ? [] : [document]),
      ...(await openJournal(options)),
    ])
    const { executor, loaded } = execution
    const tools = document?.tools() ?? execution.tools
    try {
      const formats = formatsWith(loaded, host)
      const forced = named === undefined ? undefined : formats.named(named)
      const message = await readDocument(source, host)
      const format = forced ?? formats.of(message)
      const calls = format.calls(message, tools)
      if (calls.length === 0) {
        note(host, `the message, read as ${format.name}, has no call to run here.`)
        return 0
      }
      const settled = await executor.executeToolCalls(calls, { caller: 'model', signal: host.signal })
      const results = await execution.answered(settled)
      const reply = replyOf(() => format.results(results, message), host)
      // The calls have run: what they gave is not lost with a format that fails.
      await printAnswer(host, reply ?? results)
      return reply === undefined ? 1 : exitCode(results, options)
    } finally {
      await executor.close()
    }
  },
}

/** Returns the reply. If the format fails, tells it on stderr, and returns nothing. */
function replyOf(make: () => unknown, host: Host): unknown {
  try {
    return make()
  } catch (error) {
    note(host, `${thrownMessage(error)} The results stand on stdout as they are.`)
    return undefined
  }
}
