import { useState, type ReactNode, type SubmitEvent } from 'react'
import type { CallView, ToolClient } from 'toolwright/client/protocol'

/** Asks where to ship. What the kernel refuses stays in the form, with the reason. */
export function AddressForm({ respond }: { readonly respond: (value: unknown) => Promise<void> }): ReactNode {
  const [refusal, setRefusal] = useState('')
  const send = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    respond(Object.fromEntries(new FormData(event.currentTarget))).catch((error: Error) => setRefusal(error.message))
  }
  return (
    <form className="ask" onSubmit={send}>
      <p>The agent asks where to ship. The call waits for this form.</p>
      <input name="city" aria-label="City" placeholder="Where to?" required /> <button>Ship there</button>
      {refusal !== '' && <p role="alert">{refusal}</p>}
    </form>
  )
}

type Decide = (decision: Parameters<ToolClient['decide']>[1]) => Promise<unknown>

/** Asks for a yes or a no. */
export function Approval({ call, decide }: { readonly call: CallView; readonly decide: Decide }): ReactNode {
  return (
    <section className="ask" aria-label="Approval">
      <p>
        <strong>{call.waiting?.prompt}</strong>
      </p>
      <p>No order is placed before you agree.</p>
      <button onClick={() => void decide('allow')}>Yes</button> <button onClick={() => void decide('deny')}>No</button>
    </section>
  )
}

/** Says what became of the orders, newest first. */
export function Orders({ orders }: { readonly orders: readonly CallView[] }): ReactNode {
  const outcomes = orders.flatMap(({ invocationId, state, content, error }) => {
    const text = content?.[0]?.type === 'text' ? content[0].text : error?.message
    const look = state === 'COMPLETED' ? 'ok' : 'failed'
    return text === undefined ? [] : [{ invocationId, look, text }]
  })
  if (outcomes.length === 0) return null
  return (
    <ul className="orders">
      {outcomes.slice(0, 3).map(({ invocationId, look, text }) => (
        <li key={invocationId} className={look}>
          {text}
        </li>
      ))}
    </ul>
  )
}
