import { createContext, createElement, useContext, type ReactNode } from 'react'
import { ToolRegistry } from '../../index.ts'
import { InvalidConfigurationError } from '../../errors.ts'
import { reporterOf } from '../../extension.ts'
import { createContainer, flush, update } from './_host.ts'
import type { ErrorState, Recovery, TickState, ToolLifecycle } from './_lifecycle.ts'
import type { Version } from './_version.ts'

/** The options of a tool root. */
export interface ToolRootOptions {
  /** Where the mounted tools go. Default: a new registry. */
  readonly registry?: ToolRegistry
  /**
   * Takes what lifecycle methods throw, and what components throw in a later render. If no error boundary catches that, all
   * tools of the root are unmounted. Default: `console.error`.
   */
  readonly report?: (error: unknown) => void
}

/** A headless React root, whose tree is a list of tools. Its methods from `start` on are for the application's loop. */
export interface ToolRoot {
  /** Give it to `createExecutor` as `tools`. */
  readonly registry: ToolRegistry
  /**
   * Renders an element, and mounts its tools before it returns.
   *
   * @throws What a component throws, and `E_TOOL_ALREADY_REGISTERED` if a name is taken. Then the root has no tools.
   */
  render(element: ReactNode): void
  /** Unmounts all tools. */
  unmount(): void
  /** Commits state that was set. Without it, React does in the next microtask. */
  flush(): void
  /** Tells the tools that the loop starts. */
  start(): Promise<void>
  /** Tells the tools that the loop is about to call the model. Resolves once what they changed is committed. */
  tickStart(state: TickState): Promise<void>
  /** Tells the tools that the model has answered. */
  tickEnd(state: TickState): Promise<void>
  /** Tells the tools that the messages have changed. */
  messagesChanged(messages: readonly unknown[]): Promise<void>
  /**
   * Tells the tools how they are told to the model.
   *
   * @param compiled Such as `format.definitions(executor.tools())`.
   */
  afterCompile(compiled: readonly unknown[], state: TickState, context?: unknown): Promise<void>
  /** Tells the tools that the loop is over. */
  complete(final?: unknown): Promise<void>
  /** Asks all tools how to go on after an error. Returns the first recovery, in the order of the tools. */
  error(state: ErrorState): Promise<Recovery | undefined>
}

/** Renders components, registers their tools, and tells them what the application's loop does. */
export class Root implements ToolRoot {
  readonly registry: ToolRegistry
  readonly report: (error: unknown) => void
  readonly #container = createContainer(
    (error) => this.#fail(error),
    (error) => this.report(error),
  )
  readonly #mounted = new Set<Version>()
  readonly #mounting = new Set<Promise<unknown>>()
  readonly #listeners = new Set<() => void>()
  #tick: TickState | undefined
  /** The errors of the render that is under way. */
  #failures: unknown[] | undefined

  constructor({ registry = new ToolRegistry(), report }: ToolRootOptions) {
    this.registry = registry
    this.report = reporterOf(report)
  }

  render(element: ReactNode): void {
    const failures: unknown[] = (this.#failures = [])
    try {
      update(this.#container, createElement(RootContext, { value: this }, element))
    } finally {
      this.#failures = undefined
    }
    if (failures.length > 0) throw failures[0]
  }

  unmount(): void {
    update(this.#container, null)
  }

  flush(): void {
    flush()
  }

  async start(): Promise<void> {
    await this.#tell((hooks) => hooks.onStart?.(this.registry))
  }

  async tickStart(state: TickState): Promise<void> {
    this.#showTick(state)
    await this.#tell((hooks) => hooks.onTickStart?.(this.registry, state))
  }

  async tickEnd(state: TickState): Promise<void> {
    this.#showTick(state)
    await this.#tell((hooks) => hooks.onTickEnd?.(this.registry, state))
  }

  async messagesChanged(messages: readonly unknown[]): Promise<void> {
    await this.#tell((hooks) => hooks.onMessagesChanged?.(this.registry, messages))
  }

  async afterCompile(compiled: readonly unknown[], state: TickState, context?: unknown): Promise<void> {
    await this.#tell((hooks) => hooks.onAfterCompile?.(this.registry, compiled, state, context))
  }

  async complete(final?: unknown): Promise<void> {
    await this.#tell((hooks) => hooks.onComplete?.(this.registry, final))
  }

  async error(state: ErrorState): Promise<Recovery | undefined> {
    const answers = await this.#tell((hooks) => hooks.onError?.(this.registry, state))
    const recoveries = answers.filter((answer) => answer !== undefined && answer !== null)
    for (const answer of recoveries) if (!isRecovery(answer)) this.report(noRecovery())
    return recoveries.find(isRecovery)
  }

  /** Registers the tool of a component. Returns what unmounts it. */
  mount(version: Version): () => void {
    const undo = this.registry.add(version.tool)
    this.#mounted.add(version)
    const mounting = this.#ask(version, (hooks) => hooks.onMount?.(this.registry))
    this.#mounting.add(mounting)
    void mounting.finally(() => this.#mounting.delete(mounting))
    return () => {
      undo()
      this.#mounted.delete(version)
      void this.#ask(version, (hooks) => hooks.onUnmount?.(this.registry))
    }
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  readonly tick = (): TickState | undefined => this.#tick

  #fail(error: unknown): void {
    if (this.#failures === undefined) this.report(error)
    else this.#failures.push(error)
  }

  #showTick(state: TickState): void {
    this.#tick = state
    for (const listener of this.#listeners) listener()
    flush()
  }

  /** Tells all mounted tools at once, waits for them, and commits what they changed. Returns their answers in order. */
  async #tell(call: (hooks: ToolLifecycle) => unknown): Promise<unknown[]> {
    await Promise.all(this.#mounting)
    const answers = await Promise.all(Array.from(this.#mounted, (version) => this.#ask(version, call)))
    flush()
    return answers
  }

  async #ask({ component }: Version, call: (hooks: ToolLifecycle) => unknown): Promise<unknown> {
    try {
      return await call(component)
    } catch (error) {
      this.report(error)
      return undefined
    }
  }
}

const RootContext = createContext<Root | null>(null)

function isRecovery(answer: unknown): answer is Recovery {
  return typeof answer === 'object' && answer !== null && 'continue' in answer && typeof answer.continue === 'boolean'
}

function noRecovery(): InvalidConfigurationError {
  return new InvalidConfigurationError('`onError` returns nothing, or { continue: true | false, recoveryMessage? }.')
}

/** Returns the root of the component that calls. */
export function useRoot(name: string): Root {
  const root = useContext(RootContext)
  if (root !== null) return root
  throw new InvalidConfigurationError(
    `${name} works in components that a tool root renders: createToolRoot().render(<Agent />).`,
  )
}
