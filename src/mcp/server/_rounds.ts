import { unref } from '#clock'
import type { InputRequests } from '@modelcontextprotocol/server'
import { ToolFailure, type ToolEventOf, type ToolResult } from '../../index.ts'
import { yielding } from './_quota.ts'
import type { Peer } from './_settings.ts'

const mostWaitingRounds = 1_000

type Responses = Readonly<Record<string, unknown>>
type ProgressEvent = ToolEventOf<'tool:progress'>

/** What a conversation begins with. */
interface ConversationStart {
  /** Returns name and args of the call, which the client has to repeat. */
  readonly subject: () => string
  /** How long the call goes on after its client was cut off, in milliseconds. */
  readonly patience: number
  /** Answers that came with the first request, before any question. */
  readonly responses: Responses
}

/** A call that waits for an answer, with the timer that cancels it. */
interface WaitingRound {
  readonly token: string
  readonly party: string | undefined
  readonly conversation: Conversation
  readonly timer: ReturnType<typeof setTimeout>
}

interface OpenQuestion {
  readonly requests: InputRequests
  readonly answers: Map<string, unknown>
  resolve(responses: Responses): void
  reject(error: unknown): void
}

/** The outcome of one request: the result of the call, or the questions that the client has to answer first. */
export type RoundOutcome = { readonly result: ToolResult } | { readonly requests: InputRequests }

/** One call that may ask its client questions while it runs, over several requests. */
export class Conversation {
  /** Who may answer its questions. */
  owner: string
  readonly party: string | undefined
  /** Name and args of the call, which the client has to repeat. */
  readonly subject: () => string
  /** The executor's session of the call. */
  session: string
  /** The token of its newest question. */
  token = ''
  /** How long the call goes on after its client was cut off, in milliseconds. */
  readonly #patience: number
  /** The requests that wait for the call, with what sends progress to each. The newest gets it. */
  readonly #requests = new Set<(event: ProgressEvent) => void>()
  #leavingAt: ReturnType<typeof setTimeout> | undefined
  /** The progress that was sent last. */
  readonly counter: { last?: number } = {}
  /** Answers that came with the first request, before any question. */
  readonly #firstAnswers: Map<string, unknown>
  readonly #leaving = new AbortController()
  readonly #result: Promise<RoundOutcome>
  #failed: (error: unknown) => void = () => {}
  #question: OpenQuestion | undefined
  #asked: PromiseWithResolvers<RoundOutcome> = Promise.withResolvers()
  #line: Promise<unknown> = Promise.resolve()

  constructor(
    { owner, party, session }: Pick<Peer, 'owner' | 'party' | 'session'>,
    { subject, patience, responses }: ConversationStart,
    run: (conversation: Conversation) => Promise<ToolResult>,
  ) {
    this.owner = owner
    this.party = party
    this.session = session
    this.subject = subject
    this.#patience = patience
    this.#firstAnswers = new Map(Object.entries(responses))
    const failed = new Promise<never>((_, reject) => (this.#failed = reject))
    const running = run(this).then((result) => ({ result }))
    this.#result = Promise.race([running, failed])
    this.#result.catch(() => {}).finally(() => clearTimeout(this.#leavingAt)) // the current request handles the error
  }

  get signal(): AbortSignal {
    return this.#leaving.signal
  }

  /** Sends progress to the newest request. */
  tell(event: ProgressEvent): void {
    ;[...this.#requests].at(-1)?.(event)
  }

  /**
   * Begins a request that waits for the call.
   *
   * @param tell Sends progress to it.
   * @returns What ends the request. If it ends early and no other waits, cancels the call: at once, or later if it was cut off.
   */
  attach(
    tell: (event: ProgressEvent) => void,
  ): (early?: { readonly reason: unknown; readonly isCut: boolean }) => void {
    clearTimeout(this.#leavingAt)
    const request = (event: ProgressEvent): void => tell(event)
    this.#requests.add(request)
    return (early) => {
      if (!this.#requests.delete(request) || early === undefined || this.#requests.size > 0) return
      const { reason, isCut } = early
      if (!isCut || this.#patience === 0) return this.leave(reason)
      this.#leavingAt = setTimeout(() => this.leave(reason), this.#patience)
      unref(this.#leavingAt)
    }
  }

  /** Asks the client. Questions wait for each other. */
  ask(requests: InputRequests, options: { readonly isFresh?: boolean } = {}): Promise<Responses> {
    const answers = this.#line.then(() => this.#ask(requests, options.isFresh === true))
    this.#line = answers.catch(() => {})
    return answers
  }

  #ask(requests: InputRequests, isFresh: boolean): Promise<Responses> {
    this.signal.throwIfAborted()
    const answers = new Map<string, unknown>()
    const question = Promise.withResolvers<Responses>()
    this.#question = { requests, answers, resolve: question.resolve, reject: question.reject }
    if (!isFresh) this.answer(Object.fromEntries(this.#firstAnswers))
    this.#firstAnswers.clear()
    if (this.#question !== undefined) this.#asked.resolve({ requests })
    return question.promise
  }

  /** Resolves with the result or the next question; an open question is repeated. */
  next(): Promise<RoundOutcome> {
    return Promise.race([this.#result, this.#asked.promise])
  }

  /** Takes the client's answers. Questions without an answer are asked again. */
  answer(responses: Responses): void {
    const question = this.#question
    if (question === undefined) return
    const keys = Object.keys(question.requests)
    for (const key of keys) if (Object.hasOwn(responses, key)) question.answers.set(key, responses[key])
    if (keys.some((key) => !question.answers.has(key))) return
    this.#question = undefined
    this.#asked = Promise.withResolvers()
    question.resolve(Object.fromEntries(question.answers))
  }

  /** Cancels the call. */
  leave(reason: unknown): void {
    this.#question?.reject(new ToolFailure('The client has not answered.'))
    this.#leaving.abort(reason)
  }

  /** Cancels the call, and fails the request with a protocol error. */
  fail(error: Error): void {
    this.#failed(error)
    this.leave(error)
  }
}

/** The calls that wait for an answer. A token is random, and valid once and only for the client that was asked. */
export class OpenQuestions {
  /** Oldest first. */
  readonly #waiting = new Map<string, WaitingRound>()
  readonly #timeout: number
  readonly #each: number

  constructor(timeout: number, each: number = mostWaitingRounds) {
    this.#timeout = timeout
    this.#each = each
  }

  /** Keeps a call until it is answered, and returns its token. At the quota, cancels the oldest call of the client with most. */
  keep(conversation: Conversation): string {
    const token = `${crypto.randomUUID()}${crypto.randomUUID()}`.replaceAll('-', '')
    const timer = setTimeout(() => this.#drop(token, 'The client has not answered in time.'), this.#timeout)
    unref(timer)
    const former = this.#waiting.get(conversation.token)
    if (former !== undefined) this.#forget(former)
    conversation.token = token
    const { party } = conversation
    const over = yielding(this.#waiting.values(), party, { each: this.#each, all: mostWaitingRounds }, () => 0)
    if (over) this.#drop(over.token, 'Too many calls wait for an answer.')
    this.#waiting.set(token, { token, party, conversation, timer })
    return token
  }

  /** Removes and returns the call of a token, if owner and subject match. */
  take(token: string, owner: string, subject: string): Conversation | undefined {
    const entry = this.#waiting.get(token)
    if (entry === undefined || entry.conversation.owner !== owner || entry.conversation.subject() !== subject)
      return undefined
    this.#forget(entry)
    return entry.conversation
  }

  /** Cancels the waiting calls of an owner, or all calls without `owner`. */
  end(owner?: string): void {
    for (const [token, { conversation }] of this.#waiting) {
      if (owner === undefined || conversation.owner === owner) this.#drop(token, 'The client is gone.')
    }
  }

  #drop(token: string, why: string): void {
    const entry = this.#waiting.get(token)
    if (entry === undefined) return
    this.#forget(entry)
    entry.conversation.leave(new Error(why))
  }

  #forget({ token, timer }: WaitingRound): void {
    clearTimeout(timer)
    this.#waiting.delete(token)
  }
}
