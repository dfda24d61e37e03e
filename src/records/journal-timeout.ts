import { limited } from '../kernel/call/deadline.ts'
import { close } from '../kernel/run/generator.ts'
import { isToolError, JournalError, type ToolError } from '../kernel/errors.ts'
import { Pace } from '../kernel/json/pace.ts'

/** How long a journal may take to answer, in milliseconds. */
const patience = 30_000

/** Waits for the journal, but not for ever, and reads its answer. */
export async function awaited<Value, Next>(
  answer: Value | PromiseLike<Value>,
  next: (value: Value) => Next | PromiseLike<Next>,
): Promise<Next> {
  const given = await limited(answer, patience, unanswered, boxed).catch((cause: unknown) => {
    throw unwritten(cause)
  })
  return next(given.value)
}

function boxed<Value>(value: Value): { readonly value: Value } {
  return { value }
}

/** What a journal lists, each waited for as any answer; where nobody wants more, the list is asked to close. */
export async function* listed<Value>(list: AsyncIterable<Value>): AsyncGenerator<Value, void, undefined> {
  const iterator = list[Symbol.asyncIterator]()
  const pace = new Pace()
  try {
    for (;;) {
      const step = await awaited(iterator.next(), ({ done, value }) => ({ done, value }))
      if (step.done === true) return
      yield step.value
      await pace.step()
    }
  } finally {
    close(iterator)
  }
}

function unanswered(): JournalError {
  return new JournalError('The journal did not answer in time.', { retryable: true })
}

/** Of what is not the journal's own error the words stay here: they may name hosts, files and secrets. */
export function unwritten(cause: unknown): ToolError {
  if (isToolError(cause) && cause.code === 'E_JOURNAL') return cause
  return new JournalError('The journal failed.', { cause, retryable: true })
}
