import type { RefObject, VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { CallView } from '../../../client/protocol.ts'
import { client } from './client.ts'
import { lookOf, matchesWords, type CallKind } from './look.ts'
import { clock, durationText, jsonOnLine, onOneLine, visibleMarks } from './text.tsx'

const filters: readonly (readonly [kind: CallKind | 'all', word: string])[] = [
  ['all', 'All'],
  ['waits', 'Waiting'],
  ['runs', 'Running'],
  ['ok', 'Ok'],
  ['failed', 'Failed'],
]
/** The most calls that are shown at once. */
const mostRows = 500

interface ListProps {
  readonly calls: readonly CallView[]
  readonly chosen: string | undefined
  readonly choose: (id: string, isOpened: boolean) => void
  readonly focus: RefObject<HTMLDivElement | null>
  readonly search: RefObject<HTMLInputElement | null>
}

/** The list of calls: those that wait first, then the others, newest first. */
export function List({ calls, chosen, choose, focus, search }: ListProps): VNode {
  const [find, setFind] = useState('')
  const [only, setOnly] = useState<CallKind | 'all'>('all')
  const [isMore, setMore] = useState(true)
  const isEmpty = calls.length === 0
  const words = find.toLowerCase().split(/\s+/)
  const counts = useMemo(() => countByKind(calls), [calls])
  const found = calls.filter((call) => (only === 'all' || lookOf(call)[0] === only) && matchesWords(call, words))
  const waiting = found.filter((call) => call.waiting !== undefined)
  const others = found.filter((call) => call.waiting === undefined)
  const visibleCalls = [...waiting, ...others].slice(0, mostRows)
  const index = visibleCalls.findIndex(({ invocationId }) => invocationId === chosen)

  function onKeyDown(event: KeyboardEvent): void {
    const steps: Record<string, number> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      Home: 0,
      End: visibleCalls.length - 1,
      PageDown: index + 10,
      PageUp: index - 10,
    }
    const step = steps[event.key]
    if (event.key === 'Enter' && index >= 0) {
      choose(chosen ?? '', true)
      requestAnimationFrame(() => document.querySelector<HTMLElement>('.detail h2')?.focus())
    } else if (step === undefined) return
    const next = visibleCalls[Math.max(0, Math.min(visibleCalls.length - 1, step ?? index))]
    if (next === undefined) return
    event.preventDefault()
    choose(next.invocationId, event.key === 'Enter')
    requestAnimationFrame(() => document.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }))
  }

  const rows = (part: readonly CallView[], from: number): VNode[] =>
    part.map((call, order) => (
      <CallRow
        key={call.invocationId}
        call={call}
        id={`call-${from + order}`}
        isChosen={call.invocationId === chosen}
        choose={choose}
      />
    ))
  return (
    <section class="list" aria-label="Calls">
      <div class="tools" hidden={isEmpty}>
        <input
          ref={search}
          type="search"
          aria-label="Search calls"
          placeholder="Search tools, args, ids  ( / )"
          value={find}
          onInput={(event) => setFind(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') focus.current?.focus()
            if (event.key === 'Escape') setFind('')
          }}
        />
        <div class="filters" role="group" aria-label="Show">
          {filters.map(([kind, word]) => (
            <button key={kind} aria-pressed={only === kind} onClick={() => setOnly(kind)}>
              {word} <span>{counts[kind]}</span>
            </button>
          ))}
        </div>
      </div>
      {visibleCalls.length > 0 && (
        <div
          ref={focus}
          class="rows"
          role="listbox"
          tabIndex={0}
          aria-label="Calls, newest first"
          aria-activedescendant={index < 0 ? undefined : `call-${index}`}
          onKeyDown={onKeyDown}
        >
          {waiting.length > 0 && (
            <div role="group" aria-label="Waiting">
              {rows(visibleCalls.slice(0, waiting.length), 0)}
            </div>
          )}
          {visibleCalls.length > waiting.length && (
            <div role="group" aria-label="Others">
              {rows(visibleCalls.slice(waiting.length), waiting.length)}
            </div>
          )}
        </div>
      )}
      {isEmpty ? (
        <NoCalls />
      ) : visibleCalls.length === 0 ? (
        <div class="empty">
          <h2>No call is like that</h2>
          <button
            onClick={() => {
              setFind('')
              setOnly('all')
            }}
          >
            Show all {calls.length}
          </button>
        </div>
      ) : (
        isMore &&
        calls.length >= 200 && (
          <button class="more" onClick={() => void client.more().then(setMore, () => {})}>
            Load older calls
          </button>
        )
      )}
    </section>
  )
}

function NoCalls(): VNode {
  const { hello } = client
  if (hello === undefined) return <div class="empty" />
  const names = hello.tools.map(({ name }) => name)
  return (
    <div class="empty">
      <h2>No calls yet</h2>
      <p>They appear here the moment an agent makes them.</p>
      {names.length > 0 && (
        <>
          <p>{names.length === 1 ? 'This tool is' : `These ${names.length} tools are`} served:</p>
          <ul>
            {names.slice(0, 12).map((name) => (
              <li key={name}>
                <code>{visibleMarks(name)}</code>
              </li>
            ))}
            {names.length > 12 && <li>and {names.length - 12} more</li>}
          </ul>
        </>
      )}
    </div>
  )
}

interface RowProps {
  readonly call: CallView
  readonly id: string
  readonly isChosen: boolean
  readonly choose: (id: string, isOpened: boolean) => void
}

function CallRow({ call, id, isChosen, choose }: RowProps): VNode {
  const [kind, word] = lookOf(call)
  const { toolName, invocationId, args, argsPreview, createdAt, durationMs, waiting } = call
  return (
    <div
      role="option"
      id={id}
      aria-selected={isChosen}
      class={`row ${kind}`}
      onClick={() => choose(invocationId, true)}
    >
      <span class="name">{onOneLine(toolName, 64)}</span>
      <time>{clock(createdAt)}</time>
      <span class="args">
        {waiting?.reason === 'approval' ? onOneLine(waiting.prompt) : visibleMarks(argsPreview ?? jsonOnLine(args))}
      </span>
      <span class={`word ${kind}`}>
        {word}
        {kind !== 'waits' && durationMs !== undefined && <span> {durationText(durationMs)}</span>}
      </span>
    </div>
  )
}

function countByKind(calls: readonly CallView[]): Record<CallKind | 'all', number> {
  const counts = { all: calls.length, waits: 0, runs: 0, ok: 0, failed: 0 }
  for (const call of calls) counts[lookOf(call)[0]]++
  return counts
}
