/** For how long a step of the server's clock is remembered, in milliseconds. Owners beat more often. */
const stepKept = 60_000
/** For how long it is known how far the clocks are apart, in milliseconds. */
const skewKept = 60_000
/** How far the clocks may be apart and count as one, in milliseconds: an answer may take that long. */
const smallSkew = 10_000

/** A time of the server, and the same time by the clocks of this process, of which `own` is never set, in milliseconds. */
interface ClockReading {
  readonly server: number
  readonly own: number
  readonly wall: number
}

/** Notices if the clock of a server was set ahead, since then living owners would look dead, and how far it is from the own one. */
export class ServerClock {
  #moments: readonly [ClockReading, ClockReading] | undefined
  #last: ClockReading | undefined

  /** Keeps a time of the server, also for as long as it is needed to show a step of its clock. */
  remember(server: number): void {
    const moment = { server, own: performance.now(), wall: Date.now() }
    this.#last = moment
    const [, newer] = (this.#moments ??= [moment, moment])
    if (moment.own - newer.own > stepKept) this.#moments = [newer, moment]
  }

  /** Returns a former time of the server, and how many milliseconds ago it was. Nothing, if none is known. */
  former(): { readonly server: number; readonly ago: number } | undefined {
    const [moment] = this.#moments ?? []
    return moment && { server: moment.server, ago: performance.now() - moment.own }
  }

  /**
   * Returns by how many milliseconds the server's clock is ahead of that of this process, or 0 if it is little. Nothing, if the server
   * has to be asked: this process's clock was set meanwhile, or its machine slept.
   */
  get ahead(): number | undefined {
    const { server = 0, own = -Infinity, wall = 0 } = this.#last ?? {}
    const [passed, ownPassed] = [Date.now() - wall, performance.now() - own]
    if (ownPassed > skewKept || Math.abs(passed - ownPassed) > 1_000) return undefined
    const ahead = Math.round(server - wall)
    return Math.abs(ahead) > smallSkew ? ahead : 0
  }
}
