import { readFileSync } from 'node:fs'
import { tool, type Tool, type ToolCall } from 'toolwright'
import type { Reconciled } from 'toolwright/extension'
import { leaveTrace } from './_killed.ts'

/** How many payments a process makes in a round. */
export const paymentsOfRound = 6

const kinds = ['pay', 'pay_and_lose', 'decline'] as const

export type Kind = (typeof kinds)[number]

/** The payment of an index: the same in the process that dies and in the one that looks after it. */
export function paymentOf(round: number, index: number): { call: ToolCall; invocationId: string; kind: Kind } {
  const kind = kinds[(round + index) % kinds.length] ?? 'pay'
  return { call: { name: kind, args: { amount: index } }, invocationId: `round ${round} payment ${index}`, kind }
}

/** The payments in the books of the bank, by their idempotency keys. */
export function paymentsIn(bank: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of readFileSync(bank, 'utf8').split('\n').filter(Boolean)) {
    counts.set(line, (counts.get(line) ?? 0) + 1)
  }
  return counts
}

/**
 * Tools that pay by a line on the disk, and can be asked whether they have. The bank keeps no idempotency keys itself, so that a
 * second payment shows.
 *
 * @param moment Told at each moment at which a process may die.
 */
export function bankTools(bank: string, moment: () => void = () => {}): Tool[] {
  const inputSchema = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] } as const
  const reconcile = (_input: unknown, { invocationId }: { readonly invocationId: string }): Reconciled =>
    paymentsIn(bank).has(invocationId) ? { effect: 'completed', result: `paid ${invocationId}` } : { effect: 'none' }
  function pay(invocationId: string): string {
    leaveTrace(bank, invocationId, moment)
    return `paid ${invocationId}`
  }
  const common = { description: 'Pays', inputSchema, reconcile }
  return [
    tool({ ...common, name: 'pay', handler: (_, { invocationId }) => pay(invocationId) }),
    tool({
      ...common,
      name: 'pay_and_lose',
      handler: (_, { invocationId }): string => {
        pay(invocationId)
        throw new Error('the answer was lost')
      },
    }),
    tool({
      ...common,
      name: 'decline',
      handler: (): string => {
        moment()
        throw new Error('the connection was lost')
      },
    }),
  ]
}
