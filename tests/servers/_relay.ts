import { createServer, type AddressInfo, type NetConnectOpts, type Socket, connect } from 'node:net'

/** What stands between clients and a server, on a port of its own. */
export interface Relay {
  readonly port: number
  /** Ends all connections. */
  readonly drop: () => void
  readonly close: () => Promise<void>
}

/**
 * Starts what connects each client to a server.
 *
 * @param pass Passes on what the two send. Called for each client.
 * @param accepts Returns whether a client is let in.
 */
export async function startRelay(
  target: NetConnectOpts,
  pass: (near: Socket, far: Socket) => void,
  accepts: () => boolean = () => true,
): Promise<Relay> {
  const sockets = new Set<Socket>()

  function keep(socket: Socket): void {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }

  function drop(): void {
    for (const socket of sockets) socket.destroy()
  }

  const server = createServer((near) => {
    keep(near)
    if (!accepts()) {
      near.destroy()
      return
    }
    const far = connect(target)
    keep(far)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
    pass(near, far)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    port: (server.address() as AddressInfo).port,
    drop,
    async close() {
      drop()
      await new Promise((closed) => server.close(closed))
    },
  }
}
