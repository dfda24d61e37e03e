import type { ReactNode } from 'react'
import type { ToolRegistry } from '../../index.ts'

/** What the application's loop says of a model call. Applications merge their own fields into this interface. */
export interface TickState {
  readonly [field: string]: unknown
  readonly messages: readonly unknown[]
}

/** What the application's loop says of an error. Applications merge their own fields into this interface. */
export interface ErrorState {
  readonly [field: string]: unknown
  readonly error: unknown
}

/** How the application's loop may go on after an error. */
export interface Recovery {
  /** Whether to go on at all. */
  readonly continue: boolean
  /** A message for the model. */
  readonly recoveryMessage?: string
  /** Changes the tools before the loop goes on. The loop calls it. */
  modifications?(registry: ToolRegistry): void | Promise<void>
}

/**
 * What a mounted tool hears of the application's loop, in the order in which the tools were mounted. The loop waits for all of them.
 * What one throws is reported, and ends nothing.
 */
export interface ToolLifecycle {
  /** The tool is in the registry. The next call of the loop waits for its promise. */
  onMount?(registry: ToolRegistry): void | Promise<void>
  /** The tool is no longer in the registry. */
  onUnmount?(registry: ToolRegistry): void | Promise<void>
  /** The loop starts. */
  onStart?(registry: ToolRegistry): void | Promise<void>
  /** The loop is about to call the model. */
  onTickStart?(registry: ToolRegistry, state: TickState): void | Promise<void>
  /** The model has answered. */
  onTickEnd?(registry: ToolRegistry, state: TickState): void | Promise<void>
  /** The messages have changed. */
  onMessagesChanged?(registry: ToolRegistry, messages: readonly unknown[]): void | Promise<void>
  /** The tools are compiled to the definitions of a provider. */
  onAfterCompile?(
    registry: ToolRegistry,
    compiled: readonly unknown[],
    state: TickState,
    context: unknown,
  ): void | Promise<void>
  /** The loop is over. */
  onComplete?(registry: ToolRegistry, final: unknown): void | Promise<void>
  /** The loop met an error. The first recovery that a tool returns is the answer of `root.error`. */
  onError?(registry: ToolRegistry, state: ErrorState): Recovery | void | Promise<Recovery | void>
}

/** What stands in the place of a tool: more tools. */
export interface ToolChildren {
  readonly children?: ReactNode
  /** Renders more tools. It gets the state of the newest tick, once there was one. */
  readonly render?: (registry: ToolRegistry, state: TickState | undefined) => ReactNode
}
