/**
 * Hooks for pages over a client of `toolwright/client/browser`. They need React alone.
 *
 * @module
 */
import {
  createContext,
  createElement,
  useCallback,
  useContext,
  useEffect,
  useInsertionEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
  type ReactNode,
} from 'react'
import type { WireError } from '../client/browser.ts'
import type { Answer, CallView, ClientHandler, ToolClient } from '../client/protocol.ts'
import type { Tool } from '../index.ts'
import type { ClientToolDescription } from '../extension.ts'

/** A call of a client tool that a form answers. */
export interface ClientCall<Args = unknown> {
  /** The args, unmasked. */
  readonly args: Args
  readonly call: CallView
  /** Answers the call. An answer that does not fit rejects, and the call still waits. @throws A `WireError`. */
  readonly respond: (value: unknown) => Promise<void>
  /** Answers the call with a failure, in words for the model. @throws A `WireError`. */
  readonly fail: (message: string) => Promise<void>
}

type LeasedCall = Omit<ClientCall, 'call'> & { readonly invocationId: string; readonly release: () => unknown }

const ToolClientContext = createContext<ToolClient | undefined>(undefined)
const noItems: readonly never[] = []
const noCalls = (): readonly never[] => noItems

/**
 * Gives a client to the components within, which the hooks of this module find there.
 *
 * @example
 * ```tsx
 * import type { ReactNode } from 'react'
 * import { connect } from 'toolwright/client/browser'
 * import { ToolClientProvider } from 'toolwright/react/hooks'
 *
 * const client = connect('/api/tools') // one for the page, made outside of components
 *
 * export function App({ children }: { children: ReactNode }) {
 *   return <ToolClientProvider client={client}>{children}</ToolClientProvider>
 * }
 * ```
 */
export function ToolClientProvider({ client, children }: { client: ToolClient; children?: ReactNode }): ReactNode {
  return createElement(ToolClientContext, { value: client }, children)
}

/**
 * Returns the client of the provider, for what no other hook does.
 *
 * @throws `Error` outside of a `ToolClientProvider`.
 * @example
 * ```tsx
 * import { useToolClient } from 'toolwright/react/hooks'
 *
 * export function Stop({ invocationId }: { invocationId: string }) {
 *   const client = useToolClient()
 *   return <button onClick={() => void client.cancel(invocationId, 'The user stopped it')}>Stop</button>
 * }
 * ```
 */
export function useToolClient(): ToolClient {
  const client = useContext(ToolClientContext)
  if (client !== undefined) return client
  throw new Error('Put a <ToolClientProvider client={connect(url)}> around what uses tools.')
}

/**
 * Returns the known calls, newest first; with a filter, those that it takes. Renders again when they change.
 *
 * @param filter Default: all calls. Define it outside of the component: the array is the same until the calls or the filter change.
 * @throws `Error` outside of a `ToolClientProvider`.
 * @example
 * ```tsx
 * import type { CallView } from 'toolwright/client/protocol'
 * import { useToolCalls } from 'toolwright/react/hooks'
 *
 * const isRunning = ({ state }: CallView) => state === 'EXECUTING'
 *
 * export function Running() {
 *   const names = useToolCalls(isRunning).map(({ toolName }) => toolName)
 *   return <p>{names.length === 0 ? 'Nothing runs.' : names.join(', ')}</p>
 * }
 * ```
 */
export function useToolCalls(filter?: (call: CallView) => boolean): readonly CallView[] {
  const client = useToolClient()
  const subscribe = useCallback((listener: () => void) => client.subscribe(listener), [client])
  const calls = useSyncExternalStore(subscribe, () => client.calls(), noCalls)
  return useMemo(() => (filter === undefined ? calls : calls.filter(filter)), [calls, filter])
}

/**
 * Returns a call, if the page knows it. Renders again when the calls change.
 *
 * @throws `Error` outside of a `ToolClientProvider`.
 * @example
 * ```tsx
 * import { useToolCall } from 'toolwright/react/hooks'
 *
 * export function Progress({ invocationId }: { invocationId: string }) {
 *   const call = useToolCall(invocationId)
 *   const newest = call?.progress?.at(-1) // what the handler has yielded or emitted last
 *   return <p>{call === undefined ? 'Not known here' : `${call.toolName}: ${String(newest?.data ?? call.state)}`}</p>
 * }
 * ```
 */
export function useToolCall(invocationId: string): CallView | undefined {
  return useToolCalls().find((call) => call.invocationId === invocationId)
}

const waitsForApproval = ({ waiting }: CallView): boolean => waiting?.reason === 'approval'

/**
 * Returns the state of the connection. On a server it is `'connecting'`.
 *
 * @throws `Error` outside of a `ToolClientProvider`.
 * @example
 * ```tsx
 * import { useToolClientState } from 'toolwright/react/hooks'
 *
 * export function Connection() {
 *   const state = useToolClientState()
 *   return state === 'open' ? null : <p>{state === 'refused' ? 'Sign in again.' : 'Connecting…'}</p>
 * }
 * ```
 */
export function useToolClientState(): ToolClient['state'] {
  const client = useToolClient()
  const subscribe = useCallback((listener: () => void) => client.subscribe(listener), [client])
  return useSyncExternalStore(
    subscribe,
    () => client.state,
    () => 'connecting',
  )
}

/** The calls that wait for approval, and what decides on them. */
export interface Approvals {
  /** Newest first, unless the options say otherwise. */
  readonly calls: readonly CallView[]
  /** Resolves with `undefined` if another answer was first: the call does not wait any more. @throws A `WireError`. */
  readonly decide: (...parameters: Parameters<ToolClient['decide']>) => Promise<Answer | undefined>
}

/**
 * Returns the calls that wait for approval, and what decides on them.
 *
 * @param options `oldestFirst`: whether the call that has waited longest comes first. Default: `false`.
 * @throws `Error` outside of a `ToolClientProvider`.
 * @example
 * ```tsx
 * import { useApprovals } from 'toolwright/react/hooks'
 *
 * export function Approvals() {
 *   const { calls, decide } = useApprovals({ oldestFirst: true })
 *   return calls.map(({ invocationId, waiting }) => (
 *     <p key={invocationId}>
 *       {waiting?.prompt}
 *       <button onClick={() => void decide(invocationId, 'allow')}>Allow</button>
 *       <button onClick={() => void decide(invocationId, 'deny', { note: 'Not today' })}>Deny</button>
 *     </p>
 *   ))
 * }
 * ```
 */
export function useApprovals({ oldestFirst = false }: { readonly oldestFirst?: boolean } = {}): Approvals {
  const client = useToolClient()
  const newest = useToolCalls(waitsForApproval)
  const calls = useMemo(() => (oldestFirst ? newest.toReversed() : newest), [newest, oldestFirst])
  const decide = useCallback<Approvals['decide']>(
    async (...parameters) => {
      try {
        return await client.decide(...parameters)
      } catch (error) {
        const isLate = (error as WireError).code === 'E_APPROVAL_INVALID'
        const call = isLate ? await client.call(parameters[0]).catch(() => {}) : undefined
        if (call === undefined || call.waiting !== undefined) throw error
        return undefined
      }
    },
    [client],
  )
  return { calls, decide }
}

/**
 * Answers the calls of a client tool for as long as the component is mounted. The handler of the newest render runs, with the
 * state of now.
 *
 * @param tool The name of the tool, or the tool itself, whose schemas then check in the page too.
 * @param handler Default: the tool's own.
 * @param description Declares the tool to the server, if the server lets pages declare tools.
 * @throws `Error` outside of a `ToolClientProvider`, or if the page has a handler for the tool already.
 * @example
 * ```tsx
 * import { useState } from 'react'
 * import { useClientTool } from 'toolwright/react/hooks'
 *
 * export function Cart() {
 *   const [items, setItems] = useState(['tea'])
 *   useClientTool('read_cart', () => items) // the model gets what is in the cart now
 *   return <button onClick={() => setItems([...items, 'milk'])}>Add milk</button>
 * }
 * ```
 */
export function useClientTool<Args = unknown>(
  tool: string | Tool,
  handler?: ClientHandler<Args>,
  description?: ClientToolDescription,
): void {
  const client = useToolClient()
  const newest = useRef(handler)
  useInsertionEffect(() => void (newest.current = handler))
  const isOwn = handler === undefined
  const descriptionText = description && JSON.stringify(description)
  useEffect(() => {
    const run: ClientHandler<Args> = (args, context) => newest.current?.(args, context)
    return client.tool(
      tool,
      isOwn ? undefined : run,
      descriptionText === undefined ? undefined : JSON.parse(descriptionText),
    )
  }, [client, tool, isOwn, descriptionText])
}

/** The calls of one client tool that wait for forms. They outlive a component that is mounted anew, as StrictMode does. */
class Forms {
  readonly #client: ToolClient
  readonly #name: string
  readonly #listeners = new Set<() => void>()
  #open: readonly LeasedCall[] = noItems
  #remove = (): void => {}

  constructor(client: ToolClient, name: string) {
    this.#client = client
    this.#name = name
  }

  readonly open = (): readonly LeasedCall[] => this.#open

  readonly subscribe = (listener: () => void): (() => void) => {
    if (this.#listeners.size === 0) this.#remove = this.#client.tool(this.#name, this.#wait)
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#remove()
      queueMicrotask(this.#releaseUnseen) // StrictMode mounts again at once
    }
  }

  /** Gives the calls back if no form shows them, so that another page, or a form that is mounted later, takes them. */
  readonly #releaseUnseen = (): void => {
    if (this.#listeners.size === 0) for (const { release } of this.#open) release()
  }

  /** Keeps a call open, and its lease, until it is over, its form is gone or another page has it. */
  readonly #wait: ClientHandler = (args, { invocationId, signal, release }) => {
    let isAnswering = false
    const close = (): void => this.#show(this.#open.filter((call) => call.invocationId !== invocationId))
    const answer = async (sent: Promise<unknown>): Promise<void> => {
      isAnswering = true
      try {
        await sent
        close()
      } finally {
        isAnswering = false
        this.#releaseUnseen()
      }
    }
    const form: LeasedCall = {
      invocationId,
      args,
      respond: (value) => answer(this.#client.respond(invocationId, value)),
      fail: (message) => answer(this.#client.fail(invocationId, message)),
      release: () => isAnswering || release(), // a form may close as soon as it is sent
    }
    this.#show([...this.#open, form])
    this.#releaseUnseen() // it may be gone since the lease was asked for
    return new Promise((resolve) => {
      const end = (): void => {
        close()
        resolve(undefined)
      }
      if (signal.aborted) end()
      else signal.addEventListener('abort', end)
    })
  }

  #show(open: readonly LeasedCall[]): void {
    this.#open = open
    for (const listener of this.#listeners) listener()
  }
}

const formsOf = new WeakMap<ToolClient, Map<string, Forms>>()

/**
 * Returns the calls of a client tool that this page has reserved, for forms. The page reserves them when the component is
 * mounted.
 *
 * @param name The name of the tool. No `useClientTool` may have it.
 * @throws `Error` outside of a `ToolClientProvider`, or if the page has a handler for the tool already.
 * @example
 * ```tsx
 * import { useClientCalls } from 'toolwright/react/hooks'
 *
 * export function Questions() {
 *   const questions = useClientCalls<{ text: string }>('ask_user')
 *   return questions.map(({ args, call, respond, fail }) => (
 *     <p key={call.invocationId}>
 *       {args.text}
 *       <button onClick={() => void respond('yes')}>Yes</button>
 *       <button onClick={() => void fail('The user does not want to answer.')}>Not now</button>
 *     </p>
 *   ))
 * }
 * ```
 */
export function useClientCalls<Args = unknown>(name: string): readonly ClientCall<Args>[] {
  const client = useToolClient()
  const forms = useMemo(() => {
    const clientForms = formsOf.get(client) ?? new Map<string, Forms>()
    formsOf.set(client, clientForms)
    const found = clientForms.get(name) ?? new Forms(client, name)
    clientForms.set(name, found)
    return found
  }, [client, name])
  const open = useSyncExternalStore(forms.subscribe, forms.open, noCalls)
  const calls = useToolCalls()
  return useMemo(
    () =>
      open.flatMap(({ invocationId, args, respond, fail }) => {
        const call = calls.find((one) => one.invocationId === invocationId)
        return call === undefined ? [] : [{ args: args as Args, call, respond, fail }]
      }),
    [open, calls],
  )
}
