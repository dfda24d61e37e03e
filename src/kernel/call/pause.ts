/** Why a call waits for somebody. */
export interface Pausing {
  readonly reason: 'approval' | 'client'
}

/** What is asked. */
export interface Question {
  /** In words: at most 4,096 characters. */
  readonly prompt: string
  /** Why a policy wants it asked: at most 1,024 characters. */
  readonly why?: string
  readonly meta?: Readonly<Record<string, unknown>>
  /** What the tool would run with, secrets masked. */
  readonly input: unknown
}

/** Thrown by a stage to say that somebody has to answer before the call can go on. */
export class Pause implements Pausing {
  readonly reason: 'approval' | 'client'
  readonly question: Question
  /** How long the answer may take, in milliseconds. */
  readonly timeout: number

  constructor(reason: 'approval' | 'client', question: Question, timeout: number) {
    this.reason = reason
    this.question = question
    this.timeout = timeout
  }
}
