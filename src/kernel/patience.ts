import { CallDeadline } from './deadline.ts'
import { close } from './drain.ts'
import { isToolError, JournalError, type ToolError } from './errors.ts'

/** How long a journal may take to answer, in milliseconds. */
const patience = 30_000

/** Waits for the journal, but not for ever. */
export async function awaited<Value>(answer: PromiseLike<Value>): Promise<Value> {
  const deadline = new CallDeadline(patience, undefined)
  try {
    return await deadline.within(answer)
  } catch (cause) {
    throw unwritten(cause)
  } finally {
    deadline.end()
  }
}

/** What a journal lists, each waited for as any answer; where nobody wants more, the list is asked to close. */
export async function* listed<Value>(list: AsyncIterable<Value>): AsyncGenerator<Value, void, undefined> {
  const iterator = list[Symbol.asyncIterator]()
  try {
    for (;;) {
      const step = await awaited(iterator.next())
      if (step.done === true) return
      yield step.value
    }
  } finally {
    close(iterator)
  }
}

/** Of what is not the journal's own error the words stay here: they may name hosts, files and secrets. */
export function unwritten(cause: unknown): ToolError {
  if (isToolError(cause) && cause.code === 'E_JOURNAL') return cause
  const words = isToolError(cause) && cause.code === 'E_TOOL_TIMEOUT' ? 'did not answer in time' : 'failed'
  return new JournalError(`The journal ${words}.`, { cause, retryable: true })
}
