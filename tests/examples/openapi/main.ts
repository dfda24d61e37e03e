// An agent orders for two people. The calls stand here as a model would send them.
import { createExecutor } from 'toolwright'
import { cached, credential } from 'toolwright/imports/credentials'
import { openapiTools } from 'toolwright/imports/openapi'
import { document, openShop } from './shop.ts'

const shop = await openShop()
// Your store of tokens. It is asked when a call runs.
const account = credential('account', {
  mint: cached(async ({ principal }) => `token-of-${principal}`, { until: () => Date.now() + 60_000 }),
})
const api = await openapiTools(document, {
  baseUrl: shop.url,
  auth: { account },
  fixed: { '/body/shop': 'oslo' }, // the model neither sees nor sets it
})
const executor = createExecutor({ use: [api] })
for (const [principal, item] of [
  ['ada', 'coffee'],
  ['ada', 'tea'],
  ['bob', 'milk'],
] as const) {
  const { status, effect, content } = await executor.execute(
    { name: 'createOrder', args: { body: { item } } },
    { principal },
  )
  console.log(principal, status, effect, JSON.stringify(content))
}
const { value } = await executor.execute({ name: 'listOrders' }, { principal: 'ada' })
console.log('ada', value)
await executor.close()
shop.close()
