// A shop whose agent needs the page: `npm run demo`. It has a form filled in, reads the cart, and waits for a yes.
import { createExecutor, tool } from 'toolwright'
import { httpClients } from 'toolwright/client/http'
import { memoryJournal } from 'toolwright/journals/memory'
import { z } from 'zod'
import { listenWithInspector } from './inspected.ts'

const inPage = { type: 'client', requiresResponse: true, timeout: 3_600_000, description: 'Asks the page' } as const
const address = z.object({ city: z.string().min(2) })
const askAddress = tool({ ...inPage, name: 'ask_address', title: 'Ask where to ship', outputSchema: address })
const readCart = tool({ ...inPage, name: 'read_cart', title: 'Read how many lamps are in the cart' })
const placeOrder = tool({
  name: 'place_order',
  title: 'Order the lamps, at 40 euros each',
  description: 'Orders lamps',
  inputSchema: address.extend({ lamps: z.number().int().positive() }),
  requiresConfirmation: true,
  confirmationMessage: ({ lamps, city }) => `Order ${lamps} lamps for ${lamps * 40} euros, to ${city}?`,
  handler: ({ lamps, city }) => `${lamps} lamps are on their way to ${city}`,
})
const executor = createExecutor({ tools: [askAddress, readCart, placeOrder], use: [memoryJournal()] })
const { fetch } = httpClients({ executor, authorize: () => ({ session: 'shop', name: 'a customer' }), base: '/api' })
const { url, calls } = await listenWithInspector({ executor, fetch, files: `${import.meta.dirname}/page/dist` })
console.log(`The shop is at ${url}, its calls are at ${calls}`)

async function ask(name: string, args: object = {}): Promise<object> {
  const { content } = await executor.calls.settled(await executor.execute({ name, args }, { session: 'shop' }))
  return content[0]?.type === 'json' ? Object(content[0].data) : {}
}
for (;;) await ask('place_order', { ...(await ask('ask_address')), ...(await ask('read_cart')) }) // as a model would
