import { computeCallId, parseJson } from '../index.ts'
import type { Command } from './arguments.ts'
import { readInput } from './document.ts'
import { printText } from './host.ts'

/** `toolwright id`: prints the content identity of a call, without running it. */
export const idCommand: Command = {
  name: 'id',
  help: `\
Usage: toolwright id <tool> <args-json | ->

Prints the callId of a call: 64 hexadecimal digits, the same for the same tool and args
on every machine. Give the tool's own name, not an alias. Reads the args from stdin if
they are -.

  -h, --help`,
  options: { help: { type: 'boolean', short: 'h' } },
  takes: [2, 2],

  async perform({ positionals }, host) {
    const [name = '', argsText = ''] = positionals
    const text = argsText === '-' ? await readInput('-', host) : argsText
    // As in a call, empty text means no args.
    await printText(host.stdout, `${computeCallId(name, /^\s*$/.test(text) ? {} : parseJson(text))}\n`)
    return 0
  },
}
