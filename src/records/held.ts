import type { ToolEvent } from '../kernel/call/events.ts'
import type { Received } from '../kernel/call/parcel.ts'
import type { PausedCall } from '../kernel/call/pause.ts'
import type { PauseRecord } from '../kernel/call/record.ts'
import type { PauseKeeper, Settlement } from '../kernel/ports.ts'
import { sha256 } from '#sha256'

/** The most paused calls that an executor without a journal holds. */
const mostHeld = 10_000

/**
 * Keeps the paused calls of an executor without a journal, by the digests of their tokens. A call that resumes leaves it. If
 * it is full, the oldest call is dropped.
 */
export class HeldCalls implements PauseKeeper {
  readonly #held = new Map<string, PausedCall>()

  note(): void {}

  settle(call: Received, { seq }: ToolEvent, { paused }: Settlement): undefined {
    if (paused === undefined) return
    this.#held.set(paused.digest, pausedCall(call, seq + 1, paused))
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= mostHeld) break
      this.#held.delete(oldest)
    }
  }

  async find(token: string): Promise<PausedCall | undefined> {
    const digest = sha256(token)
    const paused = this.#held.get(digest)
    // An expired approval is found once, for its error. A late answer of a client still ends its call.
    if (paused?.reason === 'approval' && Date.now() > paused.expiresAt) this.#held.delete(digest)
    return paused
  }

  async take(paused: PausedCall): Promise<PausedCall | undefined> {
    return this.#held.delete(paused.digest) ? paused : undefined
  }
}

function pausedCall(received: Received, seq: number, paused: PauseRecord): PausedCall {
  const { call, name, callId, invocationId, session, principal, caller } = received
  return {
    ...paused,
    call: { ...call, name, args: paused.text }, // a provider's result stays as it is: it need not be JSON
    callId,
    invocationId,
    session,
    principal,
    caller,
    isApproved: paused.isApproved === true,
    seq,
    recording: undefined,
  }
}
