import { sha256 } from '#sha256'
import {
  canonicalize,
  computeCallId,
  isToolError,
  type ToolExecutor,
  type ToolResult,
  type WaitingCall,
} from '../../index.ts'
import { isOver, type Answer, type CallView } from '../protocol.ts'
import type { PageCalls } from './_calls.ts'
import { noSuchThing, RefusedRequest } from './_reply.ts'
import { resultOfView, resultView } from './_views.ts'

/** The most answers that are remembered, so that they can be repeated. */
const mostRememberedAnswers = 10_000
/** How often to look at a call that another process has just taken. */
const mostLooks = 8

/** An answer of a user to a call that waits. */
export interface UserAnswer {
  readonly session: string
  readonly invocationId: string
  readonly reason: WaitingCall['reason']
  /** The same text for the same answer. */
  readonly text: string
  /** Gives the answer to the executor. */
  give(call: WaitingCall): Promise<ToolResult>
  /** Whether a call that is over has got this answer. */
  isThatOf(view: CallView): boolean
}

/** What came of an answer: its call goes on. */
interface Accepted {
  readonly isRepeated: boolean
  readonly result: Promise<ToolResult | CallView>
}

/** An answer that was given, so that it can be repeated. */
interface RememberedAnswer {
  /** Tells the wait that was answered from later ones of the same id. */
  readonly pause: string
  /** Of the answer's text. */
  readonly digest: string
  /** Absent once the call has settled: then its view has what is still known. */
  accepting: Promise<Accepted> | undefined
  state: Answer['state']
}

/** Gives answers to calls that wait. The same answer may come again: its request may have been lost on the way back. */
export class PageAnswers {
  readonly #executor: ToolExecutor
  readonly #calls: PageCalls
  readonly #remembered = new Map<string, RememberedAnswer>()

  constructor(executor: ToolExecutor, calls: PageCalls) {
    this.#executor = executor
    this.#calls = calls
  }

  /**
   * Gives an answer, and waits up to some milliseconds for the result of its call.
   *
   * @throws A `RefusedRequest`, or a `ToolError`. Then the call is as it was.
   */
  async give(userAnswer: UserAnswer, wait: number): Promise<Answer> {
    const { session, invocationId, reason } = userAnswer
    const [call] = await this.#executor.calls.waiting({ invocationId, ...(session !== '*' && { session }) })
    const pause = call?.reason === reason ? waitIdentity(call) : undefined
    const key = `${reason}\n${session}\n${invocationId}` // a call may wait for one after the other
    const digest = sha256(userAnswer.text)
    let before = this.#before(key, pause)
    if (before !== undefined && before.digest !== digest) {
      await before.accepting?.catch(() => {}) // if it was refused, this one may be right
      before = this.#before(key, pause)
    }
    if (before !== undefined && before.digest !== digest) throw alreadyAnswered(this.#calls.knownView(invocationId))
    if (before !== undefined) return this.#repeat(userAnswer, before, wait)
    const accepting = this.#accept(userAnswer, call)
    if (pause !== undefined) this.#remember(key, { pause, digest, accepting, state: 'EXECUTING' })
    try {
      return await this.#answer(userAnswer, await accepting, wait)
    } catch (error) {
      if (this.#remembered.get(key)?.accepting === accepting) this.#remembered.delete(key)
      if (!isToolError(error) || error.code !== 'E_APPROVAL_INVALID') throw error
      return this.#overtaken(userAnswer, error)
    }
  }

  /** Returns the answer that was given before, unless the call waits anew: its id may be used again. */
  #before(key: string, pause: string | undefined): RememberedAnswer | undefined {
    const before = this.#remembered.get(key)
    return pause === undefined || before?.pause === pause ? before : undefined
  }

  #remember(key: string, answer: RememberedAnswer): void {
    const settle = async ({ result }: Accepted): Promise<void> => {
      const settled = await result
      answer.state = 'seq' in settled ? settled.state : answerState(settled)
      answer.accepting = undefined
    }
    // Each who waits for it gets the error.
    answer.accepting?.then(settle).catch(() => this.#remembered.get(key) === answer && this.#remembered.delete(key))
    this.#remembered.delete(key) // it becomes the newest
    this.#remembered.set(key, answer)
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= mostRememberedAnswers) break
      this.#remembered.delete(oldest)
    }
  }

  async #repeat(userAnswer: UserAnswer, { accepting, state }: RememberedAnswer, wait: number): Promise<Answer> {
    if (accepting !== undefined) return this.#answer(userAnswer, { ...(await accepting), isRepeated: true }, wait)
    const latest = await this.#calls.look(userAnswer.invocationId, userAnswer.session)
    return { repeated: true, ...(latest === undefined ? { state } : standing(latest.view)) }
  }

  /** Resolves once the call goes on, which is before its result is there. */
  async #accept(userAnswer: UserAnswer, call: WaitingCall | undefined): Promise<Accepted> {
    if (call?.reason !== userAnswer.reason) return this.#late(userAnswer, call)
    const resumed = Promise.withResolvers<void>()
    const stop = this.#calls.onResumed(userAnswer.invocationId, resumed.resolve)
    const result = userAnswer.give(call)
    result.catch(() => {}) // it is awaited below, and by those who wait for it
    try {
      await Promise.race([resumed.promise, result])
    } finally {
      stop()
    }
    return { isRepeated: false, result }
  }

  /** The call does not wait: it may have got the same answer before, in another process or before a restart. */
  async #late(userAnswer: UserAnswer, call: WaitingCall | undefined): Promise<Accepted> {
    const { session, invocationId } = userAnswer
    const latest = await this.#calls.look(invocationId, session)
    if (latest === undefined) throw noSuchThing()
    const { view, snapshot } = latest
    if (userAnswer.isThatOf(view)) {
      const result = isOver(view) ? Promise.resolve(view) : this.#executor.calls.settled(invocationId)
      return { isRepeated: true, result }
    }
    if (call !== undefined) {
      const words =
        call.reason === 'client' ? 'The call waits for the answer of a client.' : 'The call waits for approval.'
      throw new RefusedRequest(409, 'E_APPROVAL_INVALID', words)
    }
    const isExpired =
      view.error?.code === 'E_APPROVAL_EXPIRED' ||
      view.error?.code === 'E_CLIENT_TOOL' ||
      (!isOver(view) &&
        (snapshot?.expiresAt ?? this.#calls.knownView(invocationId)?.waiting?.expiresAt ?? Infinity) < Date.now())
    if (isExpired)
      throw new RefusedRequest(410, 'E_APPROVAL_EXPIRED', 'The answer comes too late: the call has expired.')
    throw alreadyAnswered(view)
  }

  /** Another answer was first. If it is the same one, then this one counts too. */
  async #overtaken(userAnswer: UserAnswer, error: unknown): Promise<Answer> {
    for (let look = 1; look <= mostLooks; look++) {
      const latest = await this.#calls.look(userAnswer.invocationId, userAnswer.session)
      if (latest === undefined) throw noSuchThing()
      if (latest.view.waiting !== undefined) throw error // it still waits: the tool may have changed
      if (userAnswer.isThatOf(latest.view)) return { repeated: true, ...standing(latest.view) }
      if (isOver(latest.view)) throw alreadyAnswered(latest.view)
      await new Promise((resolve) => setTimeout(resolve, look * 10))
    }
    throw error
  }

  async #answer({ invocationId }: UserAnswer, { isRepeated, result }: Accepted, wait: number): Promise<Answer> {
    let settled: ToolResult | CallView | undefined
    const settling = result.then((value) => (settled = value))
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, wait)))
    try {
      await Promise.race([settling, late])
    } finally {
      clearTimeout(timer)
    }
    const view = this.#calls.knownView(invocationId)
    if (settled === undefined) return { repeated: isRepeated, state: view?.state ?? 'EXECUTING' }
    if ('seq' in settled) return { repeated: isRepeated, ...standing(settled) }
    const isWaiting = settled.status === 'waiting'
    const state = view !== undefined && isOver(view) !== isWaiting ? view.state : answerState(settled)
    return { repeated: isRepeated, state, result: resultView(settled) }
  }
}

/** Whether the result of a client's call is that of a value. */
export function isValueOf({ status, content }: CallView, value: unknown): boolean {
  const [block, ...others] = content ?? []
  if (status !== 'ok' || block === undefined || others.length > 0) return false
  if (block.type === 'text') return block.text === value
  try {
    return block.type === 'json' && canonicalize(block.data) === canonicalize(value)
  } catch {
    return false
  }
}

/** Whether the args of a call are those that a decision put in their place, if it did. */
export function hasArgs({ callId, toolName }: CallView, editedArgs: unknown): boolean {
  if (editedArgs === undefined) return true
  try {
    return callId === computeCallId(toolName, editedArgs)
  } catch {
    return false
  }
}

/** Returns what tells a wait from others, also from those of a call that had the same id. */
function waitIdentity({ callId, createdAt, expiresAt }: WaitingCall): string {
  return `${callId}\n${createdAt}\n${expiresAt}`
}

function standing(view: CallView): Omit<Answer, 'repeated'> {
  return isOver(view) ? { state: view.state, result: resultOfView(view) } : { state: view.state }
}

function answerState({ status }: ToolResult): Answer['state'] {
  if (status === 'ok') return 'COMPLETED'
  if (status === 'waiting') return 'EXECUTING'
  return status === 'denied' ? 'DENIED' : 'FAILED'
}

function alreadyAnswered(view: CallView | undefined): RefusedRequest {
  const words =
    view !== undefined && isOver(view)
      ? `The call is over: ${view.status ?? view.state}.`
      : 'The call waits for no answer: another one was first.'
  return new RefusedRequest(409, 'E_APPROVAL_INVALID', words)
}
