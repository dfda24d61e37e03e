import { isToolError, type ToolExecutor, type ToolResult, type WaitingCall } from '../index.ts'
import { UsageError, type Command, type CommandLine } from './arguments.ts'
import { shownId } from './calls.ts'
import { printAnswer, terminalLine, printText } from './host.ts'
import { journalOptions, openExistingJournal } from './journal.ts'
import { exitCode, openExecutor, executionHelp, executionOptions } from './execution.ts'

/** `toolwright decide`: answers a call that waits for approval, and runs it if it is allowed. */
export const decideCommand: Command = {
  name: 'decide',
  help: `\
Usage: toolwright decide <module> <invocationId> allow|deny --journal FILE [options]

Answers a call that waits for approval, as toolwright calls --waiting lists it, and runs
it here if it is allowed. The module exports its tool, unchanged since the call asked.
The policies and values of the program that made the call do not apply here, unless the
module exports its executor. Of several who answer, one wins; the others get
E_APPROVAL_INVALID, and exit code 2.

  --journal FILE    the SQLite file that has the call; left out if the module exports an
                    executor, which has a journal of its own
  --note TEXT       a message: to the model if the call is denied, else to the record
  --by NAME         who decides, for the record (default user)
  --session NAME    refuse a call of another session
  --json            print the whole result as JSON
${executionHelp}`,
  options: {
    ...executionOptions,
    ...journalOptions,
    note: { type: 'string' },
    by: { type: 'string' },
    session: { type: 'string' },
    json: { type: 'boolean' },
  },
  takes: [3, 3],

  async perform(options, host) {
    const [path = '', invocationId = '', decision = ''] = options.positionals
    if (decision !== 'allow' && decision !== 'deny') {
      throw new UsageError(`A decision is allow or deny, got "${decision}".`)
    }
    const { executor } = await openExecutor(path, options, host, false, () => openExistingJournal(options))
    try {
      const { signal } = host
      const result = await executor.calls.decide(await findWaitingCall(invocationId, executor, options), decision, {
        signal,
        ...decisionOptions(options, { note: 'note', by: 'decidedBy', session: 'session' }),
      })
      if (options.flag('json')) await printAnswer(host, result)
      else await printText(host.stdout, `${decisionLine(result)}\n`)
      return exitCode([result], options)
    } finally {
      await executor.close()
    }
  },
}

/** Returns the options that are given, by other names. */
function decisionOptions(
  options: CommandLine,
  names: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(names).map(([option, name]) => [name, options.text(option)] as const)
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** @throws {UsageError} if no such call waits for approval. */
async function findWaitingCall(
  invocationId: string,
  executor: ToolExecutor,
  options: CommandLine,
): Promise<WaitingCall> {
  const session = options.text('session')
  const [call] = await executor.calls.waiting({ invocationId, ...(session !== undefined && { session }) })
  if (call?.reason === 'approval') return call
  const what = call === undefined ? await whyNot(invocationId, executor, session) : 'waits for the answer of a client'
  throw new UsageError(
    `The call ${shownId(invocationId)} ${what}. List calls with toolwright calls.`,
    'E_APPROVAL_INVALID',
  )
}

async function whyNot(id: string, executor: ToolExecutor, session: string | undefined): Promise<string> {
  try {
    const { state, session: callSession, expiresAt } = await executor.calls.get(id)
    if (session === undefined || callSession === session) {
      return expiresAt === undefined ? `waits for no approval: it is ${state}` : 'has expired'
    }
  } catch (error) {
    if (!isToolError(error) || error.retryable) throw error
  }
  return session === undefined ? 'is not in the journal' : `is not in the journal, or not of session "${session}"`
}

function decisionLine({ invocationId, status, content }: ToolResult): string {
  const texts = content.map((block) => ('text' in block ? block.text : undefined) ?? `[${block.type}]`)
  return `${shownId(invocationId)}  ${status}  ${terminalLine(texts.join(' '))}`
}
