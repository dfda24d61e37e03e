import { useEffect, useState, type ReactNode } from 'react'
import { isOver, type CallView, type WireEvent } from 'toolwright/client/protocol'
import { useToolCalls, useToolClient, useToolClientState } from 'toolwright/react/hooks'
import { decisionsOf, type Decision } from './decisions.ts'

/** A round of the agent has three calls. The inspector has those before it. */
const shownCalls = 3

/** Three columns: what the model says, what the kernel decides, and what the page shows. Below is the inspector. */
export function Story({ children }: { readonly children: ReactNode }): ReactNode {
  const calls = useToolCalls()
  const events = useEvents()
  const connection = useToolClientState()
  const [newest, ...earlier] = calls.slice(0, shownCalls)
  const stepOf = (call: CallView): ReactNode => (
    <Step
      key={call.invocationId}
      call={call}
      number={calls.length - calls.indexOf(call)}
      isNewest={call === newest}
      events={events.get(call.invocationId) ?? []}
    />
  )
  return (
    <>
      <header>
        <h1>A shop whose agent asks the page</h1>
        <p>
          A script stands in for the model. All else is real: each line is an event of the executor, or a state of its
          record, read over its HTTP API.
        </p>
        <p className={`state ${connection}`}>{connection === 'open' ? 'Connected' : 'Connecting…'}</p>
      </header>
      <div className="columns">
        {newest !== undefined && stepOf(newest)}
        <section className="shows" aria-labelledby="shows">
          <h2 id="shows">The page shows</h2>
          <div className="card shop">
            <h3>Lamps</h3>
            {children}
          </div>
          <p className="sentence" aria-live="polite">
            {sentenceOfPage(newest)}
          </p>
        </section>
        {earlier.map(stepOf)}
      </div>
      <section aria-labelledby="inspector">
        <h2 id="inspector">The inspector shows the same calls</h2>
        <p>
          It is a part of the package, and sees every call of the executor. <a href="/calls">Open it alone</a>
        </p>
        <iframe src="/calls" title="Inspector" />
      </section>
    </>
  )
}

interface StepProperties {
  readonly call: CallView
  readonly number: number
  readonly isNewest: boolean
  readonly events: readonly WireEvent[]
}

/** One call: what the model said and reads, and what the kernel did in between. */
function Step({ call, number, isNewest, events }: StepProperties): ReactNode {
  const client = useToolClient()
  const { toolName, args, content, error, auditTrail, waiting } = useWholeCall(call)
  const about = client.hello?.tools.find(({ name }) => name === toolName)
  const whole = { ...call, ...(auditTrail && { auditTrail }) }
  const decisions = decisionsOf(whole, events, about?.type === 'client')
  const look = waiting !== undefined ? 'waits' : error !== undefined ? 'failed' : isOver(call) ? 'ok' : 'runs'
  return (
    <section className={`step ${look}`} aria-label={`Step ${number}`}>
      <div className="says">
        {isNewest && <h2>The model says</h2>}
        <div className="card">
          <h3>Step {number}</h3>
          <p className="sentence">{sentenceOfModel(about?.title ?? `call ${toolName}`)}</p>
          <pre>
            <small>calls</small> {toolName} {JSON.stringify(args)}
          </pre>
          {content?.map((block, order) => (
            <pre key={order}>
              <small>reads</small>{' '}
              {block.type === 'text' ? block.text : JSON.stringify(block.type === 'json' ? block.data : block)}
            </pre>
          ))}
        </div>
      </div>
      <div className="decides">
        {isNewest && <h2>The kernel decides</h2>}
        <div className="card">
          {isNewest ? (
            <Decisions of={decisions} />
          ) : (
            <>
              <details>
                <summary>What came before</summary>
                <Decisions of={decisions.slice(0, -1)} />
              </details>
              <Decisions of={decisions.slice(-1)} />
            </>
          )}
        </div>
      </div>
    </section>
  )
}

function Decisions({ of }: { readonly of: readonly Decision[] }): ReactNode {
  return (
    <ol>
      {of.map(({ name, after, sentence }, order) => (
        <li key={order}>
          <code>{name}</code> <small>+{durationText(after)}</small>
          <span className="sentence">{sentence}</span>
        </li>
      ))}
    </ol>
  )
}

function durationText(milliseconds: number): string {
  return milliseconds < 1_000 ? `${Math.max(0, milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`
}

function sentenceOfModel(title: string): string {
  return `The model wants to ${title.replace(/^./, (first) => first.toLowerCase())}.`
}

function sentenceOfPage(newest: CallView | undefined): string {
  if (newest === undefined) return 'The page waits until the model calls a tool.'
  if (newest.waiting?.reason === 'client')
    return `The page holds ${newest.toolName}: the call goes on once the page answers.`
  if (newest.waiting?.reason === 'approval') return `The page asks you: ${newest.toolName} runs only after a yes.`
  return `The page shows what comes of ${newest.toolName}.`
}

/** The events of each call that this page has seen. */
function useEvents(): ReadonlyMap<string, readonly WireEvent[]> {
  const client = useToolClient()
  const [events, setEvents] = useState<ReadonlyMap<string, readonly WireEvent[]>>(new Map())
  useEffect(
    () =>
      client.subscribe((event) => {
        if (event === undefined) return
        setEvents((before) => {
          const { invocationId } = event
          return new Map(before).set(invocationId, [...(before.get(invocationId) ?? []), event])
        })
      }),
    [client],
  )
  return events
}

/** A call with its content and its audit trail, which no stream has: they are asked for whenever its state changes. */
function useWholeCall(call: CallView): CallView {
  const client = useToolClient()
  const [whole, setWhole] = useState(call)
  const { invocationId, state, status, waiting } = call
  const isWaiting = waiting !== undefined
  useEffect(() => {
    let isShown = true
    client.call(invocationId).then(
      (view) => isShown && setWhole(view),
      () => {}, // what is known is shown
    )
    return () => {
      isShown = false
    }
  }, [client, invocationId, state, status, isWaiting])
  return { ...whole, ...call }
}
