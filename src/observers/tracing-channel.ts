/**
 * Events for whoever listens in the process. This leaf publishes on `node:diagnostics_channel` and knows no subscriber: it
 * never publishes the token of a call that waits, and builds nothing where nobody subscribed.
 *
 * @module
 */
import { channel } from 'node:diagnostics_channel'
import type { Extension, Observer, ToolEvent, ToolEventName } from '../index.ts'

/** What subscribers receive: the event without its `token`, in an object that they share. */
export type TracedEvent = ToolEvent extends infer Event
  ? Event extends ToolEvent
    ? Omit<Event, 'token'>
    : never
  : never

type Paused = ToolEvent & { readonly token?: string }

/** The channel of each event. */
export const channelNames: { readonly [Name in ToolEventName]: `toolwright:${Name}` } = {
  'call:received': 'toolwright:call:received',
  'call:paused': 'toolwright:call:paused',
  'call:resumed': 'toolwright:call:resumed',
  'tool:start': 'toolwright:tool:start',
  'tool:progress': 'toolwright:tool:progress',
  'tool:end': 'toolwright:tool:end',
  'call:settled': 'toolwright:call:settled',
}

/**
 * Publishes each event on the diagnostics channel `toolwright:<event>`, such as `toolwright:call:settled`.
 *
 * `invocationId` tells which events belong together, `seq` their order. Values are handed on as they are, and `error` with its
 * cause. Node raises what a subscriber throws as an uncaught exception, and not as a fault of the call.
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
        const its = channels.get(event.event)
        if (its === undefined || !its.hasSubscribers) return
        // Properties, and not their values: what an event makes when it is read is made for a subscriber that reads it.
        const { token: _token, ...properties } = Object.getOwnPropertyDescriptors<Paused>(event)
        its.publish(Object.defineProperties({}, properties))
      },
    ],
  }
}
