import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from 'node:net'

/** Stands between a client and a server, and can be in the way. */
export interface Proxy {
  readonly port: number
  /** Drops every connection, and takes none until `mend`. */
  readonly cut: () => void
  /** Takes connections, and passes nothing on until `mend`. */
  readonly stall: () => void
  /** Drops what was stalled, and works again. */
  readonly mend: () => void
  readonly close: () => Promise<void>
}

export async function startProxy(target: NetConnectOpts): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let mode: 'open' | 'cut' | 'stalled' = 'open'

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
    if (mode === 'cut') {
      near.destroy()
      return
    }
    const far = connect(target)
    keep(far)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
    near.on('data', (bytes) => mode === 'open' && far.write(bytes))
    far.on('data', (bytes) => mode === 'open' && near.write(bytes))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      mode = 'cut'
      drop()
    },
    stall() {
      mode = 'stalled'
    },
    mend() {
      drop()
      mode = 'open'
    },
    async close() {
      drop()
      await new Promise((closed) => server.close(closed))
    },
  }
}
