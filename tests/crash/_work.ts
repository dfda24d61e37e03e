import { tool, type Extension, type Tool, type ToolCall } from 'toolwright'
import type { Journal } from 'toolwright/records'
import { postgresJournal } from 'toolwright/journals/postgres'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { leaveTrace } from './_killed.ts'

/** Where records lie: one of the durable journals, said in words that fit into a command line. */
export interface Place {
  readonly journal: 'sqlite' | 'postgres'
  /** A file, or a connection string. */
  readonly location: string
  readonly schema: string
}

export function openJournal({ journal, location, schema }: Place): Extension & { readonly journal: Journal } {
  return journal === 'sqlite' ? sqliteJournal(location) : postgresJournal(location, { schema })
}

/** How many calls a process makes in a round. */
export const callsOfRound = 49

const kinds = ['write', 'write', 'slow', 'fail', 'ask', 'write', 'ask_and_answer'] as const

/** The call of an index: the same in the process that dies and in the one that looks after it. */
export function callOf(round: number, index: number): { call: ToolCall; invocationId: string; isAnswered: boolean } {
  const kind = kinds[(round + index) % kinds.length] ?? 'write'
  const name = kind === 'ask_and_answer' ? 'ask' : kind
  return {
    call: { name, args: { index } },
    invocationId: `round ${round} call ${index}`,
    isAnswered: kind === 'ask_and_answer',
  }
}

/**
 * Tools whose handlers leave a line on the disk: that they ran is a fact that no crash takes back.
 *
 * @param moment Told at each moment at which a process may die.
 */
export function toolsOn(traces: string, moment: () => void = () => {}): Tool[] {
  /** Of no two runs the same, so that a second one cannot pass for the first. */
  function outcome(index: number): unknown {
    return { run: crypto.randomUUID(), filling: 'x'.repeat((index * 37) % 2_000) }
  }

  return [
    tool('write', ({ index }: { index: number }, context) => {
      leaveTrace(traces, context.invocationId, moment)
      return outcome(index)
    }),
    tool('slow', async ({ index }: { index: number }, context) => {
      leaveTrace(traces, context.invocationId, moment)
      await new Promise((resolve) => setTimeout(resolve, index % 11))
      moment()
      return outcome(index)
    }),
    tool('fail', (_: { index: number }, context) => {
      leaveTrace(traces, context.invocationId, moment)
      throw new Error(`failed as ${crypto.randomUUID()}`)
    }),
    tool({
      name: 'ask',
      description: 'Asks before it writes',
      inputSchema: { type: 'object', properties: { index: { type: 'integer' } }, required: ['index'] },
      requiresConfirmation: true,
      handler: ({ index }, context) => {
        leaveTrace(traces, context.invocationId, moment)
        return outcome(index)
      },
    }),
  ]
}
