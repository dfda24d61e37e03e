import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A port at which connections are counted, and hung up on. */
export interface Listener {
  readonly port: number
  /** Waits longer than a local connection takes, and gives how many there were. */
  readonly connections: () => Promise<number>
  readonly close: () => Promise<void>
}

export async function startListener(): Promise<Listener> {
  let count = 0
  const server = createServer((socket) => {
    count++
    socket.on('error', () => {}).destroy()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    port: (server.address() as AddressInfo).port,
    async connections() {
      await sleep(200)
      return count
    },
    close: () => new Promise((closed) => server.close(() => closed())),
  }
}

/** Returns a port at which no program listens, and that `fetch` does not refuse for itself. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
