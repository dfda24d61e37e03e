// A shop whose agent needs the page: `npm run demo`. It asks for the cart, has a form filled in, and waits for a yes.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor, tool } from 'toolwright'
import { httpClients } from 'toolwright/client/http'
import { nodeListener } from 'toolwright/client/node'
import { inspector } from 'toolwright/devtools/inspector'
import { memoryJournal } from 'toolwright/journals/memory'
import { createServer } from 'vite'
import { z } from 'zod'

const inPage = { type: 'client', requiresResponse: true, timeout: 3_600_000 } as const
const cart = tool({ ...inPage, name: 'read_cart', description: 'Reads how many lamps are in the cart' })
const form = z.object({ city: z.string().min(2) })
const address = tool({ ...inPage, name: 'ask_address', description: 'Asks where to ship', outputSchema: form })
const order = tool({
  name: 'place_order',
  description: 'Orders lamps, at 40 euros each',
  inputSchema: z.object({ lamps: z.number().int().positive(), city: z.string() }),
  requiresConfirmation: true,
  confirmationMessage: ({ lamps, city }) => `Order ${lamps} lamps for ${lamps * 40} euros, to ${city}?`,
  handler: ({ lamps, city }) => `${lamps} lamps are on their way to ${city}`,
})
const executor = createExecutor({ tools: [cart, address, order], use: [memoryJournal()] })
const { fetch } = httpClients({ executor, authorize: () => ({ session: 'shop', name: 'a customer' }), base: '/api' })

async function ask(name: string, args: object = {}): Promise<object> {
  const { content } = await executor.settled(await executor.execute({ name, args }, { session: 'shop' }))
  return content.reduce((all, block) => (block.type === 'json' ? Object.assign(all, block.data) : all), {})
}

// In place of a model: one call after the other, the last with the answers to those before it.
const agent = async (): Promise<object> =>
  ask('place_order', { ...(await ask('read_cart')), ...(await ask('ask_address')) })

const counter = nodeListener(fetch)
const vite = await createServer({
  root: join(import.meta.dirname, 'page'),
  configFile: false,
  cacheDir: join(tmpdir(), `toolwright-demo-${process.pid}`),
  server: { port: Number(process.env['PORT'] ?? 5173) },
  resolve: { dedupe: ['react'], conditions: ['@toolwright/source', 'module', 'browser'] },
  plugins: [
    {
      name: 'counter',
      configureServer: ({ middlewares }) =>
        void middlewares.use('/api', counter).use('/agent', (_, reply) => (void agent(), reply.end())),
    },
  ],
})
await vite.listen()
const { url } = await inspector({ executor, canCall: true }).listen()
console.log(`The shop is at ${vite.resolvedUrls?.local[0]}, and its calls are at ${url}`)
