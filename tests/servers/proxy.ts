import type { NetConnectOpts, Socket } from 'node:net'
import { startRelay } from './_relay.ts'

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
  let mode: 'open' | 'cut' | 'stalled' = 'open'

  const pass = (near: Socket, far: Socket): void => {
    near.on('data', (bytes) => mode === 'open' && far.write(bytes))
    far.on('data', (bytes) => mode === 'open' && near.write(bytes))
  }
  const { port, drop, close } = await startRelay(target, pass, () => mode !== 'cut')
  return {
    port,
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
    close,
  }
}
