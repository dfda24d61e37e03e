// The page of the shop: a tool that reads its state, a form, and an approval.
import { useState, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { connect } from 'toolwright/client/browser'
import { ToolClientProvider, useApprovals, useClientCalls, useClientTool, useToolCalls } from 'toolwright/react/hooks'

function Shop(): ReactNode {
  const [lamps, setLamps] = useState(1)
  useClientTool('read_cart', () => ({ lamps })) // the state of now
  const forms = useClientCalls('ask_address')
  const { calls, decide } = useApprovals()
  const orders = useToolCalls(({ toolName }) => toolName === 'place_order')
  return (
    <>
      <h1>Lamps</h1>
      <button onClick={() => setLamps(lamps + 1)}>Add a lamp</button> {lamps} in the cart
      {forms.map(({ call, respond }) => (
        <form key={call.invocationId} action={(fields) => respond(Object.fromEntries(fields)).catch(alert)}>
          <input name="city" aria-label="City" placeholder="Where to?" required /> <button>Ship there</button>
        </form>
      ))}
      {calls.map(({ invocationId, waiting }) => (
        <section key={invocationId}>
          <p>{waiting?.prompt}</p>
          <button onClick={() => void decide(invocationId, 'allow')}>Yes</button>
          <button onClick={() => void decide(invocationId, 'deny')}>No</button>
        </section>
      ))}
      {orders.map(({ invocationId, content, error }) => (
        <p key={invocationId}>{content?.[0]?.type === 'text' ? content[0].text : error?.message}</p>
      ))}
    </>
  )
}

createRoot(document.querySelector('main')!).render(
  <ToolClientProvider client={connect('/api')}>
    <Shop />
  </ToolClientProvider>,
)
