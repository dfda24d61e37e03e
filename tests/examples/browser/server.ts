// A shop whose agent needs the page: `npm run demo`. It has a form filled in, reads the cart, and waits for a yes.
import { createExecutor, tool } from 'toolwright'
import { httpClients } from 'toolwright/client/http'
import { listen } from 'toolwright/client/node'
import { inspector } from 'toolwright/devtools/inspector'
import { memoryJournal } from 'toolwright/journals/memory'
import { z } from 'zod'

const inPage = { type: 'client', requiresResponse: true, timeout: 3_600_000 } as const
const address = z.object({ city: z.string().min(2) })
const askAddress = tool({ ...inPage, name: 'ask_address', description: 'Asks where to ship', outputSchema: address })
const readCart = tool({ ...inPage, name: 'read_cart', description: 'Reads how many lamps are in the cart' })
const placeOrder = tool({
  name: 'place_order',
  description: 'Orders lamps, at 40 euros each',
  inputSchema: address.extend({ lamps: z.number().int().positive() }),
  requiresConfirmation: true,
  confirmationMessage: ({ lamps, city }) => `Order ${lamps} lamps for ${lamps * 40} euros, to ${city}?`,
  handler: ({ lamps, city }) => `${lamps} lamps are on their way to ${city}`,
})
const executor = createExecutor({ tools: [askAddress, readCart, placeOrder], use: [memoryJournal()] })
const { fetch } = httpClients({ executor, authorize: () => ({ session: 'shop', name: 'a customer' }), base: '/api' })
const { url } = await listen(fetch, { files: `${import.meta.dirname}/page/dist` })
console.log(`The shop is at ${url}, its calls are at ${(await inspector({ executor, canCall: true }).listen()).url}`)

async function ask(name: string, args: object = {}): Promise<object> {
  const { content } = await executor.calls.settled(await executor.execute({ name, args }, { session: 'shop' }))
  return content[0]?.type === 'json' ? Object(content[0].data) : {}
}
for (;;) await ask('place_order', { ...(await ask('ask_address')), ...(await ask('read_cart')) }) // as a model would
