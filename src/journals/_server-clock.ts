/** For how long a step of the server's clock is remembered, in milliseconds. Owners beat more often. */
const stepKept = 60_000

/** A time of the server, and the same time by a clock that is never set, in milliseconds. */
interface ClockReading {
  readonly server: number
  readonly own: number
}

/** Notices if the clock of a server was set ahead, since then living owners would look dead. */
export class ServerClock {
  #moments: readonly [ClockReading, ClockReading] | undefined

  /** Keeps a time of the server that is old enough to show a step of its clock. */
  remember(server: number): void {
    const moment = { server, own: performance.now() }
    const [, newer] = (this.#moments ??= [moment, moment])
    if (moment.own - newer.own > stepKept) this.#moments = [newer, moment]
  }

  /** Returns a former time of the server, and how many milliseconds ago it was. Nothing, if none is known. */
  former(): { readonly server: number; readonly ago: number } | undefined {
    const [moment] = this.#moments ?? []
    return moment && { server: moment.server, ago: performance.now() - moment.own }
  }
}
