import { sha256 } from '#sha256'
import type { ToolCall } from './call.ts'
import { progressOf, type Approval, type Received, type Resumption } from './parcel.ts'
import { ApprovalExpiredError, ApprovalInvalidError } from './errors.ts'
import { fingerprint } from './fingerprint.ts'
import type { Pause } from './pause.ts'
import type { ToolRegistry } from './registry.ts'

const mostHeld = 10_000
/** The last millisecond that a `Date` can hold. */
const endOfTime = 8.64e15

/** What a person may say beside yes and no. */
export interface DecideOptions {
  /** A word to the model. */
  readonly note?: string
  /** The person does not want to be asked again; remembering it is the host's policy. */
  readonly always?: boolean
  /** Args to run with instead: they make a new call, identified and validated anew. */
  readonly editedArgs?: unknown
  readonly decidedBy?: string
}

/** A paused call, ready to walk the passage again from its canonical text. */
export interface Redeemed {
  readonly call: ToolCall
  readonly received: Received
  readonly resumption: Resumption
}

interface Held {
  readonly received: Received
  readonly fingerprint: string
  readonly reason: Pause['reason']
  readonly expiresAt: number
}

/** The paused calls of one executor. Their tokens are capabilities: random, of use once, and kept as a hash alone. */
export class Holding {
  readonly #held = new Map<string, Held>()

  /** Keeps a call until its token is redeemed; where there are too many, the oldest is given up. */
  hold(received: Received, pause: Pause): { readonly token: string; readonly expiresAt: number } {
    const secret = crypto.getRandomValues(new Uint8Array(32))
    const token = `${received.invocationId}.${Array.from(secret, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
    const expiresAt = Math.min(Date.now() + (pause.timeout === 0 ? Infinity : pause.timeout), endOfTime)
    const { tool } = progressOf(received)
    const promise = tool === undefined ? '' : fingerprint(tool)
    this.#held.set(sha256(token), { received, fingerprint: promise, reason: pause.reason, expiresAt })
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= mostHeld) break
      this.#held.delete(oldest)
    }
    return { token, expiresAt }
  }

  /** The call that waits for a person's word. */
  decided(token: string, decision: 'allow' | 'deny', options: DecideOptions, registry: Registries): Redeemed {
    const { received, callId, text } = this.#redeem(token, 'approval', registry)
    const { note, always, decidedBy, editedArgs } = options
    const approval: Approval = { decision, decidedBy: decidedBy ?? 'user', note, always }
    const isEdited = editedArgs !== undefined && decision === 'allow'
    const resumption: Resumption = isEdited ? { approval, editedFrom: callId } : { approval }
    return { received, resumption, call: { ...received.call, args: isEdited ? editedArgs : text } }
  }

  /** The call that waits for a client's answer. */
  answered(token: string, value: unknown, registry: Registries): Redeemed {
    const { received, text } = this.#redeem(token, 'client', registry)
    const approval: Approval = progressOf(received).approval ?? { decision: 'allow', decidedBy: 'client' }
    return { received, resumption: { approval, reply: { value } }, call: { ...received.call, args: text } }
  }

  #redeem(
    token: unknown,
    reason: Pause['reason'],
    registryFor: Registries,
  ): { readonly received: Received; readonly callId: string; readonly text: string } {
    const key = sha256(String(token))
    const held = this.#held.get(key)
    if (held === undefined || held.reason !== reason) {
      throw new ApprovalInvalidError(
        'This token is unknown, used already, or of another executor. Ask for approval anew.',
      )
    }
    this.#held.delete(key)
    if (Date.now() > held.expiresAt) {
      throw new ApprovalExpiredError('This token has expired. Let the call be made again, and ask anew.')
    }
    const { received } = held
    const { identity } = progressOf(received)
    const tool = registryFor(received.session).get(received.name)
    if (identity === undefined || tool === undefined || fingerprint(tool) !== held.fingerprint) {
      throw new ApprovalInvalidError(`Tool "${received.name}" has changed since approval was asked for. Ask anew.`)
    }
    return { received, callId: identity.callId, text: identity.text }
  }
}

type Registries = (session: string) => ToolRegistry
