/** Why a call waits for somebody. */
export interface Pausing {
  readonly reason: 'approval' | 'client'
}

/** Thrown by a stage to say that somebody has to answer before the call can go on. */
export class Pause implements Pausing {
  readonly reason: 'approval' | 'client'
  /** The question, in words. */
  readonly prompt: string
  readonly meta: Readonly<Record<string, unknown>> | undefined
  /** How long the answer may take, in milliseconds. */
  readonly timeout: number

  constructor(
    reason: 'approval' | 'client',
    prompt: string,
    timeout: number,
    meta?: Readonly<Record<string, unknown>>,
  ) {
    this.reason = reason
    this.prompt = prompt
    this.timeout = timeout
    this.meta = meta
  }
}
