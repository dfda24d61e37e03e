import { tool, type Tool } from 'toolwright'
import { z } from 'zod'

/** How often each handler has run: what the kernel refuses does not count here. */
export const runs: { transfer: number } = { transfer: 0 }

const getForecast = tool({
  name: 'get_forecast',
  description: 'Weather forecast for a city',
  inputSchema: z.object({ city: z.string(), days: z.number().int().min(1).max(5) }),
  handler: ({ city, days }) => `${city}, ${days} days: rain`,
})

const transfer = tool({
  name: 'transfer',
  description: 'Transfers money to a person',
  inputSchema: z.object({ to: z.string(), amount: z.number().positive() }),
  requiresConfirmation: true,
  confirmationMessage: ({ to, amount }) => `Transfer $${amount} to ${to}?`,
  handler: ({ to, amount }) => {
    runs.transfer++
    return `Transferred $${amount} to ${to}.`
  },
})

const requests = 161_000
const failing = 98_765

const readLog = tool({
  name: 'read_log',
  description: 'The log of the shop',
  handler: () => {
    const lines = Array.from({ length: requests }, (_, order) =>
      order === failing ? `POST /orders/${order} 503 after 30,000 ms` : `GET /orders/${order} 200 in 12 ms`,
    )
    return lines.join('\n')
  },
})

export const tools: readonly Tool[] = [getForecast, transfer, readLog]
