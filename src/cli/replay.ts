import { existsSync } from 'node:fs'
import { replay } from '../testing/cassettes.ts'
import { UsageError, type Command } from './arguments.ts'
import { note, printText, terminalJson } from './host.ts'
import { loadModule } from './module.ts'

/** `toolwright replay`: makes the calls of a tape again, and prints what comes out differently. */
export const replayCommand: Command = {
  name: 'replay',
  help: `\
Usage: toolwright replay <tape.jsonl> <module> [options]

Makes the calls of a tape again, in order, with the tools of a module, and prints a line
of JSON for each difference: { tool, args, pointer, before, after }. Tools that the module
calls readonly run for real, the others answer from the tape. Calls that a person answered,
whose args are masked, or whose handler did not run are skipped. Policies of an executor
that the module exports do not apply. Exits with 1 if something differs.

  --all               run every tool, also those that change something
  --ignore POINTER    a JSON Pointer of what is not compared, such as /content; may come
                      several times
  -h, --help`,
  options: {
    all: { type: 'boolean' },
    ignore: { type: 'string', multiple: true },
    help: { type: 'boolean', short: 'h' },
  },
  takes: [2, 2],

  async perform(options, host) {
    const [tape = '', path = ''] = options.positionals
    if (!existsSync(tape)) throw new UsageError(`There is no file ${tape}. Give a tape, and then a module.`)
    const wrong = options.texts('ignore').find((pointer) => !pointer.startsWith('/'))
    if (wrong !== undefined) throw new UsageError(`--ignore takes a JSON Pointer such as /content, got "${wrong}".`)
    const loaded = await loadModule(path, host)
    try {
      const run = replay(tape, loaded.tools, { all: options.flag('all'), ignore: options.texts('ignore') })
      let step = await run.next()
      for (; step.done !== true; step = await run.next()) {
        await printText(host.stdout, `${terminalJson(step.value)}\n`)
      }
      const { same, different, skipped } = step.value
      note(host, `${same} the same, ${different} different, ${skipped} skipped.`)
      return different === 0 ? 0 : 1
    } finally {
      await loaded.executor?.close()
    }
  },
}
