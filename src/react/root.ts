/**
 * Tools as React components, on a server. What is mounted is in the registry; handlers see the state of now.
 *
 * @module
 */
import {
  createElement,
  Fragment,
  useInsertionEffect,
  useLayoutEffect,
  useRef,
  useSyncExternalStore,
  type ComponentType,
  type FunctionComponent,
  type ReactNode,
} from 'react'
import {
  tool,
  type InputOf,
  type OutputOf,
  type Schema,
  type SpooledArtifact,
  type Tool as MadeTool,
  type ToolConfig,
  type ToolContext,
  type ToolOptions,
  type ToolType,
} from '../index.ts'
import type { CheckedHandlerField } from '../extension.ts'
import type { TickState, ToolChildren, ToolLifecycle } from './root/_lifecycle.ts'
import { Root, useRoot, type ToolRoot, type ToolRootOptions } from './root/_root.ts'
import { versionOf, type ComponentTool, type Seat } from './root/_version.ts'

export type { ErrorState, Recovery, TickState, ToolChildren, ToolLifecycle } from './root/_lifecycle.ts'
export type { ToolRoot, ToolRootOptions } from './root/_root.ts'

/** What differs from a tool that is made already. Its schemas and its handler stay. */
export type ToolOverrides = Partial<ToolOptions> & ToolLifecycle

/**
 * Makes a headless root: it renders React components on a server, and has the tools of those that are mounted.
 *
 * @param options `registry` gets the tools (default: a new one); `report` gets what components throw later (default:
 * `console.error`).
 * @example
 * ```ts
 * import { createElement, useState } from 'react'
 * import { createExecutor } from 'toolwright'
 * import { createToolRoot, useTool } from 'toolwright/react/root'
 *
 * function Counter() {
 *   const [count, setCount] = useState(0)
 *   useTool({ name: 'count', description: 'Counts the calls', handler: () => (setCount(count + 1), count) })
 *   return null
 * }
 * const root = createToolRoot()
 * root.render(createElement(Counter))
 * const executor = createExecutor({ tools: root.registry })
 * ```
 */
export function createToolRoot(options: ToolRootOptions = {}): ToolRoot {
  return new Root(options)
}

/**
 * Has a tool in the registry for as long as the component is mounted. The handler, and every other function, is that of the
 * newest render. If what a model is shown of the tool changes, such as its description or a schema, it becomes another tool, and
 * approvals that wait for it are void.
 *
 * @param config The config of the tool, or a tool that is made already; and functions that the application's loop calls.
 * @param overrides What differs from a tool that is made already.
 * @throws `E_INVALID_CONFIGURATION` outside of a tool root; `E_INVALID_INITIAL_TOOL_VALUE` if the config is wrong.
 * @example
 * ```tsx
 * import { useState } from 'react'
 * import { createExecutor } from 'toolwright'
 * import { createToolRoot, useTool } from 'toolwright/react/root'
 *
 * function Cart() {
 *   const [items, setItems] = useState<readonly string[]>([])
 *   useTool({
 *     name: 'add_item',
 *     description: `Adds an item. The cart has: ${items.join(', ') || 'nothing'}`,
 *     inputSchema: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
 *     handler: ({ item }) => setItems([...items, item]),
 *   })
 *   return null
 * }
 *
 * const root = createToolRoot()
 * root.render(<Cart />)
 * const executor = createExecutor({ tools: root.registry })
 * await executor.execute({ name: 'add_item', args: { item: 'tea' } })
 * console.log(executor.tools()[0]?.description) // Adds an item. The cart has: tea
 * ```
 */
export function useTool<
  const Input extends Schema | undefined = undefined,
  Result = unknown,
  Progress = never,
  const Output extends Schema | undefined = undefined,
  Artifact extends SpooledArtifact = SpooledArtifact,
  const Type extends ToolType | (string & {}) = 'server',
>(
  config: ToolConfig<Input, OutputOf<Input>, Output, Artifact, Type> &
    CheckedHandlerField<Type, Input, Output, Result, Progress> &
    ToolLifecycle,
): void
export function useTool(definition: MadeTool, overrides?: ToolOverrides): void
export function useTool(config: unknown, overrides: ToolOverrides = {}): void {
  useComponent('useTool', (typeof config === 'function' ? { ...overrides, tool: config } : config) as ComponentTool)
}

function useComponent(name: string, own: ComponentTool): void {
  const root = useRoot(name)
  const ref = useRef<Seat>(undefined)
  const seat = (ref.current ??= { isMounted: false, version: undefined })
  const version = versionOf(own, seat)
  useInsertionEffect(() => {
    version.component = own
    seat.version = version
  })
  useInsertionEffect(() => {
    seat.isMounted = true
    return () => void (seat.isMounted = false)
  }, [seat])
  useLayoutEffect(() => root.mount(version), [root, version])
}

/**
 * Returns the state that the application's loop gave to the newest tick, or `undefined` before the first. Renders again with each
 * tick.
 *
 * @throws `E_INVALID_CONFIGURATION` outside of a tool root.
 * @example
 * ```tsx
 * import { createToolRoot, Tool, useTickState } from 'toolwright/react/root'
 *
 * function Agent() {
 *   const messages = useTickState()?.messages ?? []
 *   const shorten = <Tool name="shorten" description="Makes the conversation shorter" handler={() => 'done'} />
 *   return messages.length > 20 && shorten // the model is shown it once it is of use
 * }
 *
 * const root = createToolRoot()
 * root.render(<Agent />)
 * await root.tickStart({ messages: Array.from({ length: 30 }) })
 * console.log(root.registry.has('shorten')) // true
 * ```
 */
export function useTickState(): TickState | undefined {
  const { subscribe, tick } = useRoot('useTickState')
  return useSyncExternalStore(subscribe, tick, tick)
}

/**
 * Is a tool, for as long as it is mounted: `<Tool tool={refund} requiresConfirmation />`, or a config as `tool` takes it.
 * What stands in its place are its children, and what `render` returns.
 *
 * @throws `E_INVALID_CONFIGURATION` outside of a tool root; `E_INVALID_INITIAL_TOOL_VALUE` if the config is wrong.
 * @example
 * ```tsx
 * import { tool } from 'toolwright'
 * import { createToolRoot, Tool } from 'toolwright/react/root'
 *
 * const refund = tool({ name: 'refund', description: 'Refunds an order', handler: () => 'refunded' })
 *
 * const root = createToolRoot()
 * root.render(
 *   <Tool tool={refund} requiresConfirmation>
 *     <Tool name="policy" description="Returns the rules of refunds" handler={() => 'Within 30 days.'} />
 *   </Tool>,
 * )
 * console.log(root.registry.list().map(({ name }) => name)) // [ 'policy', 'refund' ]
 * ```
 */
export function Tool(props: ToolOverrides & ToolChildren & { readonly tool: MadeTool }): ReactNode
export function Tool<
  const Input extends Schema | undefined = undefined,
  Result = unknown,
  Progress = never,
  const Output extends Schema | undefined = undefined,
  Artifact extends SpooledArtifact = SpooledArtifact,
  const Type extends ToolType | (string & {}) = 'server',
>(
  props: ToolConfig<Input, OutputOf<Input>, Output, Artifact, Type> &
    CheckedHandlerField<Type, Input, Output, Result, Progress> &
    ToolLifecycle &
    ToolChildren & { readonly tool?: undefined },
): ReactNode
export function Tool(props: unknown): ReactNode {
  const { render, children } = props as ToolChildren
  useComponent('<Tool>', props as ComponentTool)
  return createElement(ToolPlace, { children, ...(render && { render }) })
}

function ToolPlace({ render, children }: ToolChildren): ReactNode {
  const { registry } = useRoot('<Tool>')
  const state = useTickState()
  return createElement(Fragment, null, children, render?.(registry, state))
}

/**
 * Returns the component of a tool, whose properties differ from the tool's own options.
 *
 * @param definition A tool that is made already. Its schemas and its handler stay.
 * @example
 * ```tsx
 * import { tool } from 'toolwright'
 * import { component, createToolRoot } from 'toolwright/react/root'
 *
 * const Refund = component(tool({ name: 'refund', description: 'Refunds an order', handler: () => 'refunded' }))
 *
 * const root = createToolRoot()
 * root.render(<Refund requiresConfirmation />)
 * console.log(root.registry.get('refund')?.requiresConfirmation) // true
 * ```
 */
export function component(definition: MadeTool): FunctionComponent<ToolOverrides & ToolChildren> {
  const Made: FunctionComponent<ToolOverrides & ToolChildren & { readonly tool: MadeTool }> = Tool
  const Component: FunctionComponent<ToolOverrides & ToolChildren> = (props) =>
    createElement(Made, { ...props, tool: definition })
  Component.displayName = definition.name
  return Component
}

/** What the component of a sub-agent gets: the args of the call. */
export interface ComponentProps<Input> {
  readonly input: Input
}

/** A sub-agent at work: its tools, and the call that it answers. */
export interface ComponentRun<Input> {
  /** The root that renders the component. Its `start` was called, its `complete` will be. */
  readonly root: ToolRoot
  readonly input: Input
  readonly context: ToolContext
}

/** The config of `componentTool`. */
export interface ComponentToolConfig<Input extends Schema, Result> extends ToolOptions<OutputOf<Input>> {
  /** Has the tools of the sub-agent. */
  readonly component: ComponentType<ComponentProps<OutputOf<Input>>>
  /** The application's loop: calls the model with `root.registry` until there is an answer, and returns it. */
  readonly run: (agent: ComponentRun<OutputOf<Input>>) => Result | Promise<Result>
  /** Default: `{ prompt }`, a text. */
  readonly inputSchema?: Input
}

type Prompt = {
  readonly type: 'object'
  readonly properties: { readonly prompt: { readonly type: 'string' } }
  readonly required: readonly ['prompt']
}

/**
 * Makes a tool of a component: a sub-agent with tools of its own. Each call has a root of its own, which is unmounted when
 * the call ends.
 *
 * @throws `E_INVALID_INITIAL_TOOL_VALUE` naming every field that is wrong.
 * @example
 * ```tsx
 * import { createExecutor } from 'toolwright'
 * import { componentTool, Tool } from 'toolwright/react/root'
 *
 * const research = componentTool({
 *   name: 'research',
 *   description: 'Researches a question',
 *   component: ({ input }) => <Tool name="look_up" description={`Looks up: ${input.prompt}`} handler={() => 'tea'} />,
 *   async run({ root, context: { session, signal } }) {
 *     // Here a loop would call the model with the tools of the root.
 *     const agent = createExecutor({ tools: root.registry })
 *     return (await agent.execute({ name: 'look_up' }, { session, signal })).content
 *   },
 * })
 * console.log(await research({ prompt: 'What to drink?' })) // [ { type: 'text', text: 'tea' } ]
 * ```
 */
export function componentTool<const Input extends Schema = Prompt, Result = unknown>(
  config: ComponentToolConfig<Input, Result>,
): MadeTool<InputOf<Input>, Result, unknown, SpooledArtifact, OutputOf<Input>> {
  const { component: Component, run, inputSchema = promptSchema as never, ...options } = config
  return tool({
    ...options,
    inputSchema,
    async handler(input: OutputOf<Input>, context: ToolContext): Promise<Result> {
      const root = createToolRoot()
      const unmount = (): void => root.unmount()
      context.signal.addEventListener('abort', unmount, { once: true })
      try {
        root.render(createElement(Component, { input }))
        await root.start()
        const result = await run({ root, input, context })
        await root.complete(result)
        return result
      } finally {
        context.signal.removeEventListener('abort', unmount)
        unmount()
      }
    },
  } as never)
}

const promptSchema: Prompt & { readonly additionalProperties: false } = {
  type: 'object',
  properties: { prompt: { type: 'string' } },
  required: ['prompt'],
  additionalProperties: false,
}
