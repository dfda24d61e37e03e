import type { RefObject, VNode } from 'preact'
import { useCallback, useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { CallDetails } from './call.tsx'
import type { ToolPage } from '../_calls.ts'
import { client, loadTools } from './client.ts'
import { List } from './list.tsx'
import { lookOf } from './look.ts'
import { NewCall } from './new-call.tsx'

const connectionWords = { open: 'Live', connecting: 'Connecting…', refused: 'Not allowed' }

/** Renders again whenever the connection or a call has changed, once for each frame of the screen. */
function useClient(): void {
  const [, again] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    let frame = 0
    const stop = client.subscribe(() => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(() => again(0))
    })
    again(0)
    return () => {
      stop()
      cancelAnimationFrame(frame)
    }
  }, [])
}

/** Focuses at once, so that the next key goes there, or after the next frame if the element is not shown yet. */
function focusOn({ current }: RefObject<HTMLElement | null>): void {
  current?.focus()
  if (document.activeElement !== current) requestAnimationFrame(() => current?.focus())
}

/** The page: the list of calls, and the one that is chosen. */
export function App(): VNode {
  useClient()
  // What is chosen stays chosen while calls come in: a button must not become that of another call.
  const [chosen, setChosen] = useState<string>()
  const [isReading, setReading] = useState(false)
  const [isCalling, setCalling] = useState(false)
  const list = useRef<HTMLDivElement>(null)
  const search = useRef<HTMLInputElement>(null)
  const calls = client.calls()
  const waiting = calls.filter((call) => call.waiting !== undefined)
  const first = waiting[0] ?? calls[0]
  const call = calls.find(({ invocationId }) => invocationId === chosen)
  if (call === undefined && first !== undefined && chosen === undefined) setChosen(first.invocationId)

  const count = calls.filter((one) => one.waiting?.reason === 'approval').length
  useEffect(() => {
    document.title = count === 0 ? 'Toolwright' : `(${count}) Toolwright`
  }, [count])

  const choose = useCallback((id: string, isOpened: boolean) => {
    setChosen(id)
    setCalling(false)
    if (isOpened) setReading(true)
  }, [])
  const leave = useCallback(() => {
    setReading(false)
    setCalling(false)
    focusOn(list)
  }, [])

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = (event.target as Element).matches('input, textarea, select')
      if (event.key === '/' && !isTyping) {
        event.preventDefault()
        setReading(false)
        focusOn(search)
      }
      if (event.key === 'Escape') leave()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [leave])

  const { state } = client
  const [tools, setTools] = useState<ToolPage>()
  useEffect(() => {
    if (state === 'open') loadTools().then(setTools, () => {}) // then there is no button
  }, [state])
  return (
    <>
      <header>
        <h1>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M2 14V6a6 6 0 0 1 12 0v8h-3V6a3 3 0 0 0-6 0v8z" />
          </svg>
          Toolwright
        </h1>
        <span class={`state ${state}`} role="status">
          {connectionWords[state]}
        </span>
        <span class="grow" />
        {count > 0 && (
          <button
            class="count"
            onClick={() => {
              const next = waiting.find((one) => one.waiting?.reason === 'approval')
              if (next !== undefined) choose(next.invocationId, true)
            }}
          >
            {count} to approve
          </button>
        )}
        {state !== 'refused' && tools?.canCall && (
          <button
            onClick={() => {
              setCalling(true)
              setReading(true)
            }}
          >
            Call a tool
          </button>
        )}
      </header>
      {state === 'refused' ? (
        <main class="alone">
          <Refused words={client.refusal?.code === 'E_PROTOCOL' ? client.refusal.message : undefined} />
        </main>
      ) : (
        <main class={calls.length === 0 && !isCalling ? 'alone' : isReading ? 'reading' : ''}>
          <List calls={calls} chosen={isCalling ? undefined : chosen} choose={choose} focus={list} search={search} />
          <section
            class="detail"
            hidden={calls.length === 0 && !isCalling}
            aria-label={isCalling ? 'New call' : 'Call'}
          >
            <button class="back" onClick={leave}>
              ← All calls
            </button>
            {isCalling && tools !== undefined ? (
              <NewCall page={tools} called={(id) => choose(id, true)} />
            ) : call === undefined ? (
              chosen !== undefined && <p class="hint">The call is on its way.</p>
            ) : (
              <CallDetails key={call.invocationId} call={call} look={lookOf(call)} />
            )}
          </section>
        </main>
      )}
    </>
  )
}

/** @param words What to do, if it is not the token that is missing. */
function Refused({ words }: { readonly words: string | undefined }): VNode {
  if (words !== undefined) return <p class="empty">{words}</p>
  return (
    <div class="empty">
      <h2>This page may not look yet</h2>
      <p>
        Open the link that the command printed. It ends with <code>#token=…</code>, and each start of the server has a
        new one.
      </p>
    </div>
  )
}
