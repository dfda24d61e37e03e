import { appendFileSync } from 'node:fs'
import process from 'node:process'
import { createExecutor, tool, type Tool, type ToolExecutor } from 'toolwright'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { permissions } from 'toolwright/policies/permissions'
import { z } from 'zod'

// What a handler does can be seen after the process has ended.
const { RAN = '/dev/null', JOURNAL } = process.env

const drop: Tool = tool('drop', () => {
  appendFileSync(RAN, 'dropped\n')
  return 'dropped'
})
const pay = tool({
  name: 'pay',
  description: 'Pays',
  // The args become larger than an event may have.
  inputSchema: z.object({
    to: z
      .string()
      .transform((to) => to.repeat(10))
      .optional(),
  }),
  requiresConfirmation: true,
  handler: () => 'paid',
}) as unknown as Tool

export const tools: readonly Tool[] = [drop, pay, tool('beside', () => 'beside')]
export const executor: ToolExecutor = createExecutor({
  tools: [drop, pay, tool('slow', () => new Promise(() => {}))],
  timeout: 20,
  use: [
    permissions({ mode: 'auto', autoDenyTools: ['drop'] }),
    ...(JOURNAL === undefined ? [] : [sqliteJournal(JOURNAL)]),
  ],
})
export default executor
