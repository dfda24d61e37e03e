import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ToolEvent, ToolEventName } from 'toolwright'
import { channelNames, tracingChannel, type TracedEvent } from 'toolwright/observers/tracing-channel'
import { afterEach, describe, expect, test } from 'vitest'
import { observerConformance, testTool, watching, type Watched } from '../conformance/observers.ts'

const undo: (() => void)[] = []
afterEach(() => {
  for (const each of undo.splice(0)) each()
})

function listen(name: ToolEventName, hear: (message: TracedEvent) => void): void {
  const listener = (message: unknown): void => hear(message as TracedEvent)
  subscribe(channelNames[name], listener)
  undo.push(() => void unsubscribe(channelNames[name], listener))
}

function watched(): Watched {
  const said: unknown[] = []
  for (const name of Object.keys(channelNames) as ToolEventName[]) {
    listen(name, (message) => void said.push(sayable(message)))
  }
  return { extension: tracingChannel(), said }
}

/** What JSON can hold of a message. */
function sayable(message: TracedEvent): unknown {
  const said: Record<string, unknown> = {}
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(message))) {
    said[name] = typeof value === 'string' || typeof value === 'number' ? value : typeof value
  }
  return said
}

observerConformance('tracingChannel', watched, { writesLines: false })

describe('tracingChannel', () => {
  test('has a channel for each event, named after it', () => {
    expect(channelNames).toEqual(
      Object.fromEntries(Object.keys(channelNames).map((name) => [name, `toolwright:${name}`])),
    )
    expect(Object.keys(channelNames).length).toBe(9)
  })

  test('publishes to whoever subscribed, and to nobody who did not', async () => {
    const heard: TracedEvent[] = []
    listen('tool:end', (message) => void heard.push(message))
    const { executor, events } = watching(
      tracingChannel(),
      testTool(() => 'done'),
    )
    await executor.execute({ name: 'work' })
    expect(heard).toEqual(events.filter(({ event }) => event === 'tool:end'))
  })

  test('hears of subscribers that come later, and of those that leave', async () => {
    const { executor } = watching(
      tracingChannel(),
      testTool(() => 'done'),
    )
    await executor.execute({ name: 'work' })
    const heard: TracedEvent[] = []
    listen('call:settled', (message) => void heard.push(message))
    await executor.execute({ name: 'work' })
    expect(heard).toMatchObject([{ event: 'call:settled', status: 'ok' }])
    undo.pop()?.()
    await executor.execute({ name: 'work' })
    expect(heard.length).toBe(1)
  })

  test('builds nothing where nobody subscribed', () => {
    const reads: PropertyKey[] = []
    const event = new Proxy({ event: 'call:waiting', token: 'x' } as unknown as ToolEvent, {
      get: (target, key) => {
        reads.push(key)
        return Reflect.get(target, key) as unknown
      },
      ownKeys: (target) => {
        reads.push('every key')
        return Reflect.ownKeys(target)
      },
    })
    tracingChannel().observers[0](event)
    expect(reads).toEqual(['event'])
    listen('call:waiting', () => {})
    tracingChannel().observers[0](event)
    expect(reads).toContain('every key')
  })

  test('hands on the error with its cause', async () => {
    const fault = new Error('no')
    const heard: unknown[] = []
    listen('call:settled', (message) => void heard.push('error' in message ? message.error?.cause : undefined))
    const { executor } = watching(
      tracingChannel(),
      testTool(() => {
        throw fault
      }),
    )
    await executor.execute({ name: 'work' })
    expect(heard).toEqual([fault])
  })

  test('what a subscriber writes to a message reaches no other observer', async () => {
    listen('call:settled', (message) => void Object.assign(message, { status: 'denied' }))
    const { executor, events } = watching(
      tracingChannel(),
      testTool(() => 'done'),
    )
    expect(await executor.execute({ name: 'work' })).toMatchObject({ status: 'ok' })
    expect(events.at(-1)).toMatchObject({ status: 'ok' })
  })
})
