import { expect, test, vi } from 'vitest'
import type { Bus } from '../extension.ts'
import { waitOptions } from './_waiting.ts'

/** Tests what every bus promises, between two who have opened it. */
export function testBus(open: () => Promise<readonly [sender: Bus, receiver: Bus] | undefined>): void {
  const soon = waitOptions(20_000, 20)

  /** Sends until a message arrives: a subscription may take a while to begin. */
  async function begun(sender: Bus, receiver: Bus, topic: string): Promise<void> {
    const messages: string[] = []
    const end = receiver.subscribe(topic, (message) => void messages.push(message))
    await vi.waitFor(() => {
      if (messages.length > 0) return
      sender.publish(topic, 'beginning')
      throw new Error(`No message of the topic ${JSON.stringify(topic)} arrived.`)
    }, soon)
    end()
  }

  test('has a bus that carries messages in order, each once, to those who listen to their topic', async ({ skip }) => {
    const [sender, receiver] = (await open()) ?? skip('left out: it has no bus')
    const notices: string[] = []
    const others: string[] = []
    receiver.subscribe('events:a', (message) => void notices.push(message))
    receiver.subscribe('events:b', (message) => void others.push(message))
    await begun(sender, receiver, 'events:a')
    for (let index = 0; index < 300; index++) sender.publish('events:a', `message ${index}`)
    await vi.waitFor(() => expect(notices).toContain('message 299'), soon)
    const sent = notices.filter((message) => message.startsWith('message'))
    expect(sent).toEqual(Array.from({ length: 300 }, (_, index) => `message ${index}`))
    expect(others).toEqual([])
  })

  test('has a bus that carries every text, and tells none of whom no more wants to hear', async ({ skip }) => {
    const [sender, receiver] = (await open()) ?? skip('left out: it has no bus')
    const topics = ['events:\u0000 "quoted" \\ \ud83d\ude00', "other'; DROP TABLE calls; --", 'cancel', ':']
    const notices = new Map<string, string>()
    const ends = topics.map((topic) => receiver.subscribe(topic, (message) => void notices.set(topic, message)))
    for (const topic of topics) await begun(sender, receiver, topic)
    const text = 'a\u0000b \u2028 "quoted" \\ \ud83d\ude00'
    for (const topic of topics) sender.publish(topic, text)
    await vi.waitFor(() => expect([...notices]).toEqual(topics.map((topic) => [topic, text])), soon)
    ends[0]?.()
    const last: string[] = []
    receiver.subscribe('events:last', (message) => void last.push(message))
    await begun(sender, receiver, 'events:last')
    for (const topic of topics) sender.publish(topic, 'later')
    await vi.waitFor(() => expect(topics.slice(1).every((topic) => notices.get(topic) === 'later')).toBe(true), soon)
    expect(notices.get(topics[0] ?? '')).toBe(text)
  })

  test('has a bus that may lose a message that is too long for it, and carries the next', async ({ skip }) => {
    const [sender, receiver] = (await open()) ?? skip('left out: it has no bus')
    const notices: string[] = []
    receiver.subscribe('events:a', (message) => void notices.push(message))
    await begun(sender, receiver, 'events:a')
    for (const length of [1_000, 7_900, 7_999, 8_000, 100_000])
      sender.publish('events:a', '\ud83d\ude00'.repeat(length / 4))
    sender.publish('events:a', 'next')
    await vi.waitFor(() => expect(notices.at(-1)).toBe('next'), soon)
    expect(notices).toContain('\ud83d\ude00'.repeat(250))
  })
}
