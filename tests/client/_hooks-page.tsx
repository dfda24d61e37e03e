// A page whose components approve, answer a tool with their state, and have a form.
import { StrictMode, useState, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { connect } from 'toolwright/client/browser'
import {
  ToolClientProvider,
  useApprovals,
  useClientCalls,
  useClientTool,
  useToolCall,
  useToolCalls,
} from 'toolwright/react/hooks'

function Approvals(): ReactNode {
  const { calls, decide } = useApprovals()
  return calls.map(({ invocationId, waiting }) => (
    <button
      key={invocationId}
      className="allow"
      onClick={() => void decide(invocationId, 'allow', { note: 'by hand' })}
    >
      {waiting?.prompt}
    </button>
  ))
}

function Look(): ReactNode {
  const [count, setCount] = useState(0)
  useClientTool<{ at: string }>('look', ({ at }) => `${at}: ${count}`)
  return (
    <button id="count" onClick={() => setCount(count + 1)}>
      {count}
    </button>
  )
}

function Declared(): ReactNode {
  useClientTool('page_title', () => document.title, { name: 'page_title', description: 'Reads the title of the page' })
  return null
}

function Forms(): ReactNode {
  const [issue, setIssue] = useState('')
  const calls = useClientCalls<{ question: string; pin: string }>('form')
  return calls.map(({ args, call, respond, fail }) => (
    <fieldset key={call.invocationId}>
      <legend>
        {args.question} {args.pin}
      </legend>
      <button
        className="wrong"
        onClick={() => void respond({ name: 5 }).catch((error: Error) => setIssue(error.message))}
      />
      <button className="right" onClick={() => void respond({ email: 'ada@example.com' })} />
      <button className="fail" onClick={() => void fail('The user gave it up')} />
      <output>{issue}</output>
    </fieldset>
  ))
}

function Last(): ReactNode {
  const [newest] = useToolCalls()
  const same = useToolCall(newest?.invocationId ?? '')
  return <p id="last">{same?.status}</p>
}

function Page(): ReactNode {
  const [isOpen, setOpen] = useState(true)
  return (
    <>
      <button id="toggle" onClick={() => setOpen(!isOpen)} />
      {isOpen && <Forms />}
      <Approvals />
      <Look />
      <Declared />
      <Last />
    </>
  )
}

const client = connect('/api')
let registrations = 0
const tool = client.tool.bind(client)
client.tool = (...parameters) => (registrations++, tool(...parameters))
Object.assign(window, { client, registrations: () => registrations })
const place = document.body.appendChild(document.createElement('main'))
createRoot(place).render(
  <StrictMode>
    <ToolClientProvider client={client}>
      <Page />
    </ToolClientProvider>
  </StrictMode>,
)
