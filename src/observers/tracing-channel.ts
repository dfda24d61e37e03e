/**
 * Publishes events on `node:diagnostics_channel`. This observer must not publish the token of a waiting call, and must not build
 * anything for a channel without subscribers.
 *
 * @module
 */
import { channel } from 'node:diagnostics_channel'
import type { Extension, ToolEvent, ToolEventName } from '../index.ts'
import type { Observer } from '../extension.ts'

/** The message to subscribers: the event without its `token`, in one object that they share. */
export type TracedEvent = ToolEvent extends infer Event
  ? Event extends ToolEvent
    ? Omit<Event, 'token'>
    : never
  : never

type WaitingEvent = ToolEvent & { readonly token?: string }

/**
 * The name of the diagnostics channel of each event.
 *
 * @example
 * ```ts
 * import { subscribe } from 'node:diagnostics_channel'
 * import { createExecutor, tool } from 'toolwright'
 * import { channelNames, tracingChannel } from 'toolwright/observers/tracing-channel'
 *
 * for (const name of Object.values(channelNames)) subscribe(name, () => console.log(name))
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')], use: [tracingChannel()] })
 * await executor.execute({ name: 'now' }) // toolwright:call:received, toolwright:tool:start, …
 * ```
 */
export const channelNames: { readonly [Name in ToolEventName]: `toolwright:${Name}` } = {
  'call:received': 'toolwright:call:received',
  'call:waiting': 'toolwright:call:waiting',
  'call:repaired': 'toolwright:call:repaired',
  'call:blocked': 'toolwright:call:blocked',
  'call:resumed': 'toolwright:call:resumed',
  'tool:start': 'toolwright:tool:start',
  'tool:progress': 'toolwright:tool:progress',
  'tool:end': 'toolwright:tool:end',
  'call:settled': 'toolwright:call:settled',
}

/**
 * Returns an observer that publishes each event on the diagnostics channel `toolwright:<event>`, such as
 * `toolwright:call:settled`.
 *
 * Events of one call have the same `invocationId`; `seq` is their order. Values are published unchanged, and `error` with its
 * cause. If a subscriber throws, Node raises an uncaught exception. The call does not fail.
 *
 * @example
 * ```ts
 * import { subscribe } from 'node:diagnostics_channel'
 * import { createExecutor } from 'toolwright'
 * import { channelNames, tracingChannel, type TracedEvent } from 'toolwright/observers/tracing-channel'
 *
 * const executor = createExecutor({ use: [tracingChannel()] })
 * subscribe(channelNames['call:settled'], (message) => {
 *   const event = message as TracedEvent
 *   console.log(event.toolName, event.timestamp)
 * })
 * ```
 * @see https://nodejs.org/api/diagnostics_channel.html
 * @experimental
 */
export function tracingChannel(): Extension & { readonly observers: readonly [Observer] } {
  const channels = new Map(Object.entries(channelNames).map(([event, name]) => [event, channel(name)]))
  return {
    observers: [
      (event) => {
        const eventChannel = channels.get(event.event)
        if (eventChannel === undefined || !eventChannel.hasSubscribers) return
        // Copy descriptors, not values: a lazy field of an event is computed only if a subscriber reads it.
        const { token: _token, ...properties } = Object.getOwnPropertyDescriptors<WaitingEvent>(event)
        eventChannel.publish(Object.defineProperties({}, properties))
      },
    ],
  }
}
