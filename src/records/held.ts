import type { Kernel } from '../kernel/kernel.ts'
import type { Recorder } from '../kernel/ports.ts'
import type { Fence, Journal } from './journal.ts'
import { JournalRecorder } from './recorder.ts'
import type { ToolCallRecord } from '../kernel/call/record.ts'

/** The most paused calls that an executor without a journal holds. */
const mostHeld = 10_000

/** Makes the recorder of an executor without a journal. It keeps calls only while they are paused. */
export function heldCalls(kernel: Kernel): Recorder {
  return new JournalRecorder(heldJournal(), kernel)
}

/** Makes a journal of paused calls. A call that resumes leaves it. If it is full, the oldest call is dropped. */
function heldJournal(): Journal {
  const held = new Map<string, { readonly record: ToolCallRecord; readonly fence: Fence }>()
  return {
    isDurable: false,
    claim(record, owner) {
      if (held.has(record.id)) return null
      const fence = { owner, number: 0 }
      held.set(record.id, { record, fence })
      for (const oldest of held.keys()) {
        if (held.size <= mostHeld) break
        held.delete(oldest)
      }
      return fence
    },
    write: () => true, // the call has resumed, so its record is not kept
    read(invocationId) {
      const found = held.get(invocationId)
      const { reason, expiresAt = Infinity } = found?.record.journal?.awaits ?? {}
      // An expired approval is found once, for its error. A late answer of a client still ends its call.
      if (reason === 'approval' && Date.now() > expiresAt) held.delete(invocationId)
      return found ?? null
    },
    takeOver: (invocationId, _fence, owner) => (held.delete(invocationId) ? { owner, number: 1 } : null),
    async *unfinished() {},
    beat() {},
  }
}
