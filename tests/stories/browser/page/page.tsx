// The page of the shop: a tool that reads its state, a form, and an approval.
import { useState, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { connect } from 'toolwright/client/browser'
import { ToolClientProvider, useApprovals, useClientCalls, useClientTool, useToolCalls } from 'toolwright/react/hooks'

function Shop(): ReactNode {
  const [lamps, setLamps] = useState(1)
  useClientTool('read_cart', () => ({ lamps })) // the state of now
  const forms = useClientCalls('ask_address')
  const { pending, decide } = useApprovals()
  const orders = useToolCalls().filter(({ toolName, status }) => toolName === 'place_order' && status !== undefined)
  return (
    <>
      <h1>Lamps</h1>
      <p>
        <button onClick={() => setLamps(lamps + 1)}>Add a lamp</button> {lamps} in the cart
      </p>
      <button onClick={() => void fetch('/agent', { method: 'POST' })}>Let the agent order</button>
      {forms.map(({ call, respond }) => (
        <form
          key={call.invocationId}
          action={async (fields) => respond({ city: fields.get('city') }).catch((error: Error) => alert(error.message))}
        >
          <p>Where to?</p>
          <input name="city" aria-label="City" required /> <button>Ship there</button>
        </form>
      ))}
      {pending.map(({ invocationId, waiting }) => (
        <div className="asks" key={invocationId}>
          <p>{waiting?.prompt}</p>
          <button onClick={() => void decide(invocationId, 'allow')}>Yes</button>
          <button onClick={() => void decide(invocationId, 'deny')}>No</button>
        </div>
      ))}
      <ul>
        {orders.map(({ invocationId, content, status, error }) => (
          <li key={invocationId}>{content?.[0]?.type === 'text' ? content[0].text : (error?.message ?? status)}</li>
        ))}
      </ul>
    </>
  )
}

const page = <Shop />
createRoot(document.querySelector('#shop')!).render(
  <ToolClientProvider client={connect('/api')}>{page}</ToolClientProvider>,
)
