import { createExecutor, tool } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { records as recordsOf, type Journal } from 'toolwright/records'
import { same, wait, words } from '../_assert.ts'
import type { Case } from '../run.ts'

export const records: readonly Case[] = [
  {
    name: 'journals: memory, one run for two calls, and recovery',
    async run() {
      let runs = 0
      const executor = createExecutor({ tools: [tool('t', () => ++runs)], use: [memoryJournal()] })
      const once = { invocationId: 'i', session: 's' }
      await executor.execute({ name: 't' }, once)
      const again = await executor.execute({ name: 't' }, once)
      same([runs, words(again), (await executor.calls.get('i')).state], [1, '1', 'COMPLETED'])
      await executor.calls.recover()
      await executor.close()
    },
  },
  {
    name: 'journals: a call that runs long gives signs of life, and no other executor seals it',
    async run() {
      const kept = memoryJournal()
      let beats = 0
      const journal: Journal = {
        ...kept.journal,
        isDurable: true,
        beat: async (owner) => {
          beats++
          return kept.journal.beat(owner)
        },
      }
      const tools = [tool('quick', () => 1), tool('slow', () => wait(5_600).then(() => 'done'))]
      const executor = createExecutor({ tools, use: [recordsOf(journal)] })
      await executor.execute({ name: 'quick' })
      const running = executor.execute({ name: 'slow' })
      await wait(5_300)
      const other = createExecutor({ tools, use: [recordsOf(journal)] })
      const { sealed } = await other.calls.recover({ staleAfter: 5_000 })
      same([beats >= 2, sealed.length, (await running).status], [true, 0, 'ok'])
    },
  },
]
