import { sha256 } from '#sha256'
import { limited } from '../kernel/call/limited.ts'
import { closing } from '../kernel/run/stream.ts'
import { Pace } from '../kernel/run/pace.ts'
import { isToolError, JournalError, type ToolError } from '../kernel/errors.ts'
import type { Recorder } from '../kernel/recorder.ts'
import type { Journal } from './journal.ts'

/** How long a journal may take to answer, in milliseconds. */
const journalTimeout = 30_000
/** Errors of which a journal says nothing. */
const unread = new WeakSet<ToolError>()

/** Waits for the journal's answer, for a limited time, and passes it to `next`. */
export async function awaitJournal<Value, Next>(
  answer: Value | PromiseLike<Value>,
  next: (value: Value) => Next | PromiseLike<Next>,
): Promise<Next> {
  const outcome = await limited(answer, journalTimeout, journalTimeoutError, boxed).catch((cause: unknown) => {
    throw journalErrorOf(cause)
  })
  return next(outcome.value)
}

function boxed<Value>(value: Value): { readonly value: Value } {
  return { value }
}

/** Yields what a journal lists, with the same time limit for each item. Closes the list if the consumer stops early. */
export async function* listJournal<Value>(list: AsyncIterable<Value>): AsyncGenerator<Value, void, undefined> {
  const iterator = list[Symbol.asyncIterator]()
  const pace = new Pace()
  try {
    for (;;) {
      const step = await awaitJournal(iterator.next(), ({ done, value }) => ({ done, value }))
      if (step.done === true) return
      yield step.value
      await pace.step()
    }
  } finally {
    void closing(iterator)
  }
}

/** Returns what notes in a journal who does what, if the journal can. A scope may be any text. */
export function effectClaimsOf(journal: Journal): Recorder['claimEffect'] {
  const claimEffect = journal.claimEffect?.bind(journal)
  return claimEffect && (async (scope, ...claim) => awaitClaim(async () => claimEffect(sha256(scope), ...claim)))
}

async function awaitClaim(claim: () => Promise<string>): Promise<string> {
  return awaitJournal(claim(), String)
}

function journalTimeoutError(): JournalError {
  return new JournalError('The journal did not answer in time.', { retryable: true })
}

/** Wraps an error of a journal, unless it is `E_JOURNAL`. Its message is left out: it may name hosts, files and secrets. */
export function journalErrorOf(cause: unknown): ToolError {
  if (isToolError(cause) && cause.code === 'E_JOURNAL') return cause
  const error = new JournalError('The journal failed.', { cause, retryable: true })
  unread.add(error)
  return error
}

/** Whether a journal says of its failure that it may pass. */
export function isMomentary(error: unknown): boolean {
  return isToolError(error) && error.code === 'E_JOURNAL' && error.retryable && !unread.has(error)
}
