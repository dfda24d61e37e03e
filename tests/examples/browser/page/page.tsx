// The page of the shop: a tool that reads its state, a form, and an approval.
import { useState, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { connect } from 'toolwright/client/browser'
import { ToolClientProvider, useApprovals, useClientCalls, useClientTool, useToolCalls } from 'toolwright/react/hooks'
import { AddressForm, Approval, Orders } from './shop.tsx'
import { Story } from './story.tsx'

function Shop(): ReactNode {
  const [lamps, setLamps] = useState(1)
  useClientTool('read_cart', () => ({ lamps })) // the state of now
  const forms = useClientCalls('ask_address')
  const { calls, decide } = useApprovals()
  const orders = useToolCalls(({ toolName }) => toolName === 'place_order')
  return (
    <>
      <p className="cart">
        <button onClick={() => setLamps(lamps + 1)}>Add a lamp</button> {lamps} in the cart
      </p>
      {forms.map(({ call, respond }) => (
        <AddressForm key={call.invocationId} respond={respond} />
      ))}
      {calls.map((call) => (
        <Approval key={call.invocationId} call={call} decide={(decision) => decide(call.invocationId, decision)} />
      ))}
      <Orders orders={orders} />
    </>
  )
}

createRoot(document.querySelector('main')!).render(
  <ToolClientProvider client={connect('/api')}>
    <Story>
      <Shop />
    </Story>
  </ToolClientProvider>,
)
