import type { ToolCallSnapshot, WaitingCall } from '../index.ts'
import type { Command } from './arguments.ts'
import { printAnswer, terminalJson, terminalLine, printText } from './host.ts'
import { journalOptions, withRecords } from './journal.ts'

/** `toolwright calls`: lists the calls of a journal. */
export const callsCommand: Command = {
  name: 'calls',
  help: `\
Usage: toolwright calls --journal FILE [options]

Lists the calls of a journal, newest first, one on each line: its invocationId, its
state, its time, its tool, and its args, secrets masked. A call that waits for an answer
has its question too. Needs no module, and runs nothing.

  --journal FILE    the SQLite file that has the calls
  --waiting         only calls that wait for an answer and have not expired
  --session NAME    only calls of this session
  --limit N         how many at most (default 50; with --waiting: all)
  --json            print all that is known of them as JSON
  -h, --help`,
  options: {
    ...journalOptions,
    waiting: { type: 'boolean' },
    session: { type: 'string' },
    limit: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
  takes: [0, 0],

  async perform(options, host) {
    const session = options.text('session')
    const limit = options.count('limit', 1)
    const query = session === undefined ? {} : { session }
    const listed = await withRecords(options, host, async (executor) =>
      options.flag('waiting')
        ? (await executor.calls.waiting(query)).slice(0, limit)
        : executor.calls.list(limit === undefined ? query : { ...query, limit }),
    )
    if (options.flag('json')) await printAnswer(host, listed)
    else await printText(host.stdout, listed.map((call) => `${listedLine(call)}\n`).join(''))
    return 0
  },
}

function listedLine(call: WaitingCall | ToolCallSnapshot): string {
  if (!('state' in call)) {
    const { invocationId, reason, createdAt, toolName, prompt, why, args } = call
    return callLine(
      invocationId,
      `waits for ${reason}`,
      createdAt,
      toolName,
      terminalJson(args),
      questionLines(prompt, why),
    )
  }
  const { id, state, status, createdAt, name, inputPreview, prompt, approval } = call
  const ended = status === undefined || status === 'waiting' ? state : `${state} ${status}`
  return callLine(
    id,
    ended,
    createdAt,
    name,
    inputPreview,
    prompt === undefined ? [] : questionLines(prompt, approval.why),
  )
}

function questionLines(prompt: string, why: string | undefined): readonly string[] {
  return why === undefined ? [terminalLine(prompt, 300)] : [terminalLine(prompt, 300), `(${terminalLine(why, 300)})`]
}

function callLine(
  id: string,
  state: string,
  createdAt: number,
  name: string,
  args: string,
  more: readonly string[],
): string {
  const time = new Date(createdAt).toISOString()
  return [shownId(id), state, time, terminalLine(name, 64), terminalLine(args, 300), ...more].join('  ')
}

/** Returns an id as one word. An id that a shell would split is in quotes. */
export function shownId(id: string): string {
  return /^[\w.:@/-]+$/.test(id) ? id : terminalJson(id)
}
