import { createExecutor, type ExecutorOptions, type Tool, type ToolContext, type ToolExecutor } from 'toolwright'
import type { Reconciled, ReconcileContext } from 'toolwright/extension'
import { onTestFinished } from 'vitest'
import { never, work } from '../_calls.ts'
import type { Place } from '../_journals.ts'

/** What the bank says if it is asked. Default: what it knows. */
type Saying = (input: { readonly amount: number }, context: ReconcileContext) => unknown

/** A bank, which survives the processes that ask it for payments. */
export class Bank {
  readonly #timeout: number

  /** @param timeout Of a payment, in milliseconds. */
  constructor(timeout = 40) {
    this.#timeout = timeout
  }

  /** The payments by their idempotency keys. */
  readonly paid: Map<string, number> = new Map()
  /** What `reconcile` was asked. */
  readonly asked: { readonly input: unknown; readonly context: ReconcileContext }[] = []
  /** How the handler ends, once it has paid. Default: never. */
  after: () => unknown = (): unknown => never
  /** Whether the handler pays before it ends. */
  pays = true
  says: Saying = (_input, { invocationId }) => this.known(invocationId)

  known(invocationId: string): Reconciled {
    const amount = this.paid.get(invocationId)
    return amount === undefined ? { effect: 'none' } : { effect: 'completed', result: { receipt: `paid ${amount}` } }
  }

  pay(options: object = {}): Tool {
    const inputSchema = {
      type: 'object',
      properties: { amount: { type: 'number' }, card: { type: 'string' } },
      required: ['amount'],
    }
    const handler = ({ amount }: { amount: number }, { invocationId }: ToolContext): unknown => {
      if (this.pays) this.paid.set(invocationId, (this.paid.get(invocationId) ?? 0) + amount)
      return this.after()
    }
    const reconcile: Saying = (input, context) => {
      this.asked.push({ input, context })
      return this.says(input, context)
    }
    return work('pay', handler, { inputSchema, timeout: this.#timeout, reconcile, ...options })
  }
}

/** An executor of a process of its own, as far as a journal can tell. */
export function processOn(place: Place, tools: readonly Tool[], options: ExecutorOptions = {}): ToolExecutor {
  const executor = createExecutor({ tools, use: [place.open()], report: () => {}, ...options })
  onTestFinished(() => executor.close())
  return executor
}
