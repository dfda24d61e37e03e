import { startRelay } from './_relay.ts'

/** Stands between HTTP clients and a server, and cuts answers to calls of tools. */
export interface Cutter {
  /** The address of the server, with the port of the cutter. */
  readonly url: string
  /** How many answers were cut. */
  readonly cuts: () => number
  /** How many bytes the last answer had that was passed on whole. */
  readonly lastLength: () => number
  /** Drops all connections. */
  readonly drop: () => void
  readonly close: () => Promise<void>
}

/**
 * Starts a cutter.
 *
 * @param to The address of the server.
 * @param cutAt Returns after how many bytes the answer to the next call is cut, or nothing if it is passed on whole.
 */
export async function startCutter(to: string, cutAt: () => number | undefined): Promise<Cutter> {
  const target = new URL(to)
  let cuts = 0
  let lastLength = 0

  const { port, drop, close } = await startRelay({ host: target.hostname, port: Number(target.port) }, (near, far) => {
    let left: number | undefined
    let passed = 0
    near.on('data', (bytes) => {
      if (bytes.includes('"tools/call"')) {
        left = cutAt()
        passed = 0
      }
      far.write(bytes)
    })
    far.on('data', (bytes) => {
      passed += bytes.length
      if (left === undefined || passed < left) {
        if (left === undefined) lastLength = passed
        near.write(bytes)
        return
      }
      cuts++
      const [last, cut] = [bytes.subarray(0, bytes.length - (passed - left)), left]
      left = undefined
      // What was passed on arrives before the end, so that the client has exactly so many bytes.
      if (cut === 0) near.destroy()
      else near.write(last, () => near.destroy())
      far.destroy()
    })
  })
  return {
    url: `http://127.0.0.1:${port}${target.pathname}`,
    cuts: () => cuts,
    lastLength: () => lastLength,
    drop,
    close,
  }
}
