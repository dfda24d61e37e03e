import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { CallView } from '../../../client/protocol.ts'
import { ApprovalForm } from './approval.tsx'
import { Artifact } from './artifact.tsx'
import { client, timelines } from './client.ts'
import { Countdown } from './countdown.tsx'
import { isOpen, type CallKind } from './look.ts'
import { clock, durationText, JsonView, onOneLine, Text, visibleMarks } from './text.tsx'

/** Asks for the part of a call that lists and streams do not have, each time that its state changes. */
function useWhole(call: CallView): CallView {
  const [fullCall, setFullCall] = useState<CallView>()
  const { invocationId, state, status, waiting } = call
  useEffect(() => {
    let isHere = true
    client.call(invocationId).then(
      (view) => isHere && setFullCall(view),
      () => {}, // what is known is shown
    )
    return () => {
      isHere = false
    }
  }, [invocationId, state, status, waiting === undefined])
  if (fullCall === undefined) return call
  const { content = fullCall.content, truncated = fullCall.truncated, auditTrail = fullCall.auditTrail } = call
  return { ...call, ...(content && { content }), ...(truncated && { truncated }), ...(auditTrail && { auditTrail }) }
}

/** One call: what it asks, its args, progress, result and timeline. */
export function CallDetails({
  call,
  look: [kind, word],
}: {
  readonly call: CallView
  readonly look: readonly [CallKind, string]
}): VNode {
  const fullCall = useWhole(call)
  const { toolName, invocationId, callId, id, session, effect, createdAt, durationMs, waiting, error } = fullCall
  const { status, approval, progress = [], content = [], artifact } = fullCall
  return (
    <article>
      <div class="title">
        <h2 tabIndex={-1}>
          <Text of={toolName} />
        </h2>
        <span class={`word ${kind}`}>{word}</span>
        {isOpen(call) && <Cancel id={invocationId} />}
      </div>
      <p class="facts">
        {[
          clock(createdAt),
          durationMs !== undefined && durationText(durationMs),
          effect !== undefined && !isOpen(call) && `effect ${effect}`,
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {waiting?.reason === 'approval' && <ApprovalForm call={fullCall} waiting={waiting} />}
      {waiting?.reason === 'client' && clientWait(waiting)}
      {approval !== undefined && personsAnswer(approval)}
      {error !== undefined && (
        <Part title="Error">
          <div class="card error">
            <code>{visibleMarks(error.code)}</code>
            <p>
              <Text of={error.message} />
            </p>
          </div>
        </Part>
      )}
      <Part title="Args">
        <pre tabIndex={0}>{argsShown(fullCall)}</pre>
      </Part>
      {progress.length > 0 && (
        <Part title={`Progress · ${progress.length === 50 ? 'the last 50' : progress.length}`}>
          <ol class="moments" tabIndex={0}>
            {progress.map(({ type, data, timestamp }) => (
              <TimelineEntry key={timestamp} at={timestamp - createdAt} name={type} note={dataText(data)} />
            ))}
          </ol>
        </Part>
      )}
      {content.length > 0 && (
        <Part title={resultTitle(fullCall)}>
          {content.map((block, order) => (
            <pre key={order} tabIndex={0}>
              {block.type === 'text' ? (
                <Text of={block.text} />
              ) : (
                <JsonView of={block.type === 'json' ? block.data : block} />
              )}
            </pre>
          ))}
        </Part>
      )}
      {status === 'ok' && content.length === 0 && artifact?.handle === undefined && (
        <Part title="Result">
          <p class="facts">Only a server with a journal has the results of calls that are over.</p>
        </Part>
      )}
      {artifact?.handle !== undefined && <Artifact key={artifact.handle} about={artifact} handle={artifact.handle} />}
      <Part title="Timeline">
        <ol class="moments line">
          {timelines.of(fullCall).map(({ at, name, note }, order) => (
            <TimelineEntry key={order} at={at - createdAt} name={name} note={note} />
          ))}
        </ol>
      </Part>
      <dl class="ids">
        <Id name="Session" value={session} />
        <Id name="Invocation" value={invocationId} />
        {callId !== null && <Id name="Call id" value={callId} />}
        {id !== undefined && <Id name="Provider's id" value={String(id)} />}
      </dl>
    </article>
  )
}

/** A call that a page is to answer, and the page that holds it. */
function clientWait({ lease, expiresAt }: NonNullable<CallView['waiting']>): VNode {
  return (
    <div class="card page">
      <p class="prompt">Waits for a page that answers it</p>
      <p class="facts">
        {lease !== undefined && lease.until > client.now() ? (
          <>
            Held by <code>{onOneLine(lease.holder, 40)}</code> · <Countdown until={lease.until} words="renews within" />
          </>
        ) : (
          'No page holds it'
        )}{' '}
        · <Countdown until={expiresAt} />
      </p>
    </div>
  )
}

/** What a person said. */
function personsAnswer({ decision, decidedBy, note }: NonNullable<CallView['approval']>): VNode {
  return (
    <p class={`card said ${decision}`}>
      {decision === 'allow' ? 'Approved' : 'Denied'}
      {decidedBy !== undefined && ` by ${onOneLine(decidedBy, 64)}`}
      {note !== undefined && (
        <>
          : <Text of={note} />
        </>
      )}
    </p>
  )
}

function argsShown({ args, argsPreview }: CallView): ComponentChildren {
  if (argsPreview !== undefined) return <Text of={argsPreview} />
  return args === undefined ? 'not known here' : <JsonView of={args} />
}

function resultTitle({ truncated, artifact, error }: CallView): string {
  if (truncated) return 'Result, its beginning'
  return artifact?.handle === undefined && error === undefined ? 'Result' : 'Result, as the model reads it'
}

function dataText(data: unknown): string {
  return typeof data === 'string' ? data : (JSON.stringify(data) ?? '')
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }): VNode {
  return (
    <section class="part">
      <h3>{title}</h3>
      {children}
    </section>
  )
}

function TimelineEntry({
  at,
  name,
  note,
}: {
  readonly at: number
  readonly name: string
  readonly note: string
}): VNode {
  return (
    <li>
      <span class="at">+{durationText(Math.max(0, at))}</span>
      <span class="what">{onOneLine(name, 64)}</span>
      <span class="note">
        <Text of={note.slice(0, 2_000)} />
      </span>
    </li>
  )
}

function Id({ name, value }: { readonly name: string; readonly value: string }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <code>
          <Text of={value} />
        </code>
      </dd>
    </div>
  )
}

function Cancel({ id }: { readonly id: string }): VNode {
  const [words, setWords] = useState('Cancel')
  return (
    <button
      class="danger"
      disabled={words === 'Cancelling…'}
      onClick={() => {
        setWords('Cancelling…')
        client
          .cancel(id, 'Cancelled in the inspector.')
          .catch((error: Error) => setWords(`Cancel: ${onOneLine(error.message, 80)}`))
      }}
    >
      {words}
    </button>
  )
}
