import { createServer } from 'node:net'
import { retry } from 'toolwright/middleware/retry'
import { expect, onTestFinished, test } from 'vitest'
import { documentOf, ready } from './_server.ts'

test('a payment whose answer is cut anywhere, and which is sent again with its key, is made once', async () => {
  const rounds = Number(process.env['CUT_ROUNDS'] ?? 2_000)
  const payments = new Map<string, number>()
  let [seed, requests] = [7, 0]
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return (seed >>> 8) % below
  }
  const server = createServer((socket) => {
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (piece) => {
      text += piece.toString()
      if (!text.includes('\r\n\r\n')) return
      const [, key = ''] = /^idempotency-key: (.*)\r$/im.exec(text) ?? []
      requests++
      // Before or after the payment, in the head or in the body, or whole.
      const isLost = random(6) === 0
      if (!isLost && !payments.has(key)) payments.set(key, 0)
      if (!isLost) payments.set(key, payments.get(key)! + (payments.get(key) === 0 ? 1 : 0))
      const body = JSON.stringify({ paid: payments.get(key) })
      const whole = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      if (isLost) socket.destroy()
      else socket.end(random(3) === 0 ? whole : whole.slice(0, random(whole.length)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const document = documentOf({ 'POST /pay': { operationId: 'pay' } })
  const options = { baseUrl: `http://127.0.0.1:${port}`, idempotency: true, responses: 'off' as const }
  const { call } = await ready(document, options, {
    use: [retry({ attempts: 100, delay: 0, maximumDelay: 0 })],
    concurrency: 8,
  })
  const results = []
  for (let round = 0; round < rounds; round += 50) {
    results.push(...(await Promise.all(Array.from({ length: 50 }, () => call('pay')))))
  }
  expect(results.filter(({ status }) => status !== 'ok')).toEqual([])
  expect(requests).toBeGreaterThan(results.length * 1.5)
  expect(payments.size).toBe(results.length)
  expect(new Set(results.map(({ value }) => JSON.stringify(value)))).toEqual(new Set(['{"paid":1}']))
}, 120_000)
