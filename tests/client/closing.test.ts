import { createExecutor } from 'toolwright'
import { connect } from 'toolwright/client/browser'
import { httpClients } from 'toolwright/client/http'
import { expect, test, vi } from 'vitest'

test.each([
  ['after the stream has begun', false],
  ['before its request is answered', true],
])('a client that is closed %s ends a stream whose `fetch` passes no signal on', async (_, isEarly) => {
  const executor = createExecutor()
  const clients = httpClients({ executor, authorize: () => ({ session: executor.session }) })
  const [asked, answered, ended] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ]
  const client = connect('http://localhost', {
    share: false,
    fetch: async (url, init) => {
      const request = new Request(url, { ...init, signal: null })
      if (!new URL(request.url).pathname.endsWith('/events')) return clients.fetch(request)
      asked.resolve()
      await answered.promise
      return new Response(new ReadableStream({ cancel: () => ended.resolve() }))
    },
  })
  await asked.promise
  if (isEarly) client.close()
  answered.resolve()
  if (!isEarly) {
    await vi.waitFor(() => expect(client.state).toBe('open'))
    client.close()
  }
  await ended.promise
  await clients.close()
  await executor.close()
})
