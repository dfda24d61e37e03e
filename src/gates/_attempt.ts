import { content, type ContentBlock, type ToolResult } from '../index.ts'
import { ToolDeniedError } from '../errors.ts'
import type { Confirmed, EarlierCalls, Entry } from '../extension.ts'
import { doneOf, type Done, type DoneEffects } from './_done.ts'

/** What becomes of a repeated call. */
export type Repeat = 'tell' | 'ask' | 'deny'

/** What a call does, and where it is done once. */
interface Effect {
  readonly scope: string
  /** Whether the calls of the scope are of one session, and may know each other. */
  readonly isOfSession: boolean
  /** The scope and the SHA-256 of the `effectKey`. */
  readonly key: string
}

/** A call that names what it does. */
export class Attempt {
  readonly #call: Confirmed
  readonly #calls: EarlierCalls
  readonly #effect: Effect
  readonly #done: DoneEffects
  readonly #window: number
  readonly #repeat: Repeat | undefined
  /** The invocation that the journal names, if that is under way. */
  #behind: string | undefined

  /** @param repeat What becomes of the call if the thing is done; nothing, if it runs all the same. */
  constructor(
    call: Confirmed,
    calls: EarlierCalls,
    effect: Effect,
    done: DoneEffects,
    window: number,
    repeat: Repeat | undefined,
  ) {
    this.#call = call
    this.#calls = calls
    this.#effect = effect
    this.#done = done
    this.#window = window
    this.#repeat = repeat
  }

  /** Decides at once if no journal is to be asked, and nothing is under way. */
  enter(): Entry | Promise<Entry> {
    const { key } = this.#effect
    if (this.#calls.claim !== undefined || this.#done.isBusy(key)) return this.#enterLater()
    if (this.#repeat !== undefined && this.#done.get(key)?.effect === 'unknown') return this.#enterLater()
    const before = this.#done.begin(key, this.#call.invocationId)
    try {
      return this.#withheld(before) ?? this.#run(before)
    } catch (error) {
      this.#done.end(key, before)
      throw error
    }
  }

  /** For what the call waits. */
  get waitsFor(): string {
    const { invocationId } = this.#call
    const words = `for ${JSON.stringify(this.#text)}`
    const behind = this.#behind ?? this.#done.underWay(this.#effect.key)
    if (behind === undefined || behind === invocationId) return words
    const other = this.#effect.isOfSession ? `invocation ${JSON.stringify(behind)}` : 'another call'
    return `${words}, which ${other} has begun. If the process of that has died, \`calls.recover\` closes it`
  }

  async #enterLater(): Promise<Entry> {
    const { key } = this.#effect
    const { signal } = this.#call.context
    while (this.#done.isBusy(key)) {
      await this.#done.rest(key, { signal })
      if (signal.aborted) return undefined
    }
    const before = this.#done.begin(key, this.#call.invocationId)
    try {
      return await this.#decide(before)
    } catch (error) {
      this.#done.end(key, before)
      throw error
    }
  }

  async #decide(remembered: Done | undefined): Promise<Entry> {
    const { invocationId } = this.#call
    const { scope } = this.#effect
    let before = remembered
    for (let former = before?.invocationId; ;) {
      if (before?.effect === 'unknown') before = await this.#foundOut(before)
      const withheld = this.#withheld(before)
      if (withheld !== undefined) return withheld
      const holder = await this.#calls.claim?.(scope, this.#call, former)
      if (holder === undefined || holder === invocationId) return this.#run(before)
      former = holder
      before = await this.#doneBy(holder)
    }
  }

  /** Returns what is known of a thing of which it was not known whether it was done: nothing, if it was not. */
  async #foundOut(before: Done): Promise<Done | undefined> {
    const result = await this.#calls.reconcile(before.invocationId).catch(() => undefined)
    if (result === undefined || result.effect === 'unknown') return before
    return result.effect === 'none'
      ? undefined
      : { ...doneOf(result, before.session, before.at), telling: before.telling }
  }

  /** Returns what the call did that the journal names: nothing, if that does not count any more. */
  async #doneBy(invocationId: string): Promise<Done | undefined> {
    const { signal } = this.#call.context
    const isWaiting = async (): Promise<boolean> => {
      const snapshot = await this.#calls.get(invocationId)
      return snapshot === undefined || (snapshot.status === 'waiting' && snapshot.effect === 'none')
    }
    if (await isWaiting()) return undefined // it asks again when it comes back
    this.#behind = invocationId
    const result = await this.#calls.settled(invocationId, { signal }).finally(() => (this.#behind = undefined))
    const { completedAt, session } = (await this.#calls.get(invocationId)) ?? {}
    if (result === undefined || result.effect === 'none' || completedAt === undefined || session === undefined)
      return undefined
    const age = Date.now() - completedAt
    return age > this.#window ? undefined : doneOf(result, session, performance.now() - age)
  }

  /** Returns what becomes of a call that is not run again now; nothing, if it runs. */
  #withheld(before: Done | undefined): Entry {
    if (before === undefined || this.#repeat === undefined) return undefined
    const isUnknown = before.effect === 'unknown'
    const ago = agoOf(performance.now() - before.at)
    const fact = `${this.#text} was ${isUnknown ? 'tried' : 'done'} ${ago} ago (effect ${before.effect})`
    if (this.#repeat === 'deny') {
      throw new ToolDeniedError(`Not run again: ${fact}.`, {
        toolResult: content(textsOf(`Not run again: ${fact}. Its result is below.`, before)),
      })
    }
    if (isUnknown || this.#repeat === 'ask') return this.#ask(before, `${fact}.`)
    if (this.#insists(before)) return undefined
    const { session } = this.#call
    const telling = before.telling?.session === session ? before.telling : { session, at: performance.now() }
    this.#done.end(this.#effect.key, { ...before, telling })
    const next = 'If it is meant to happen twice, make the same call once more.'
    const { artifact, handle } = before
    return {
      outcome: {
        status: 'ok',
        effect: 'none',
        content: textsOf(`Not run again: ${fact}. Its result is below. ${next}`, before),
        // A handle is of use in its own session.
        ...(artifact && handle !== undefined && before.session === session && { artifact, handle }),
      },
    }
  }

  /** Whether the caller was told that it was done, and makes the call all the same. One of the same turn was not. */
  #insists({ telling }: Done): boolean {
    return telling !== undefined && telling.session === this.#call.session && this.#call.receivedAt > telling.at
  }

  #ask(before: Done, reason: string): Entry {
    const { invocationId, status, effect } = before
    const earlier = { invocationId, status, effect }
    return { ask: { reason, meta: { earlier } }, leave: (result) => this.#over(before, result) }
  }

  #run(before: Done | undefined): Entry {
    return { leave: (result) => this.#over(before, result) }
  }

  /** Remembers what the call did. If it did nothing, that stands which was done before. */
  #over(before: Done | undefined, result: ToolResult | undefined): void {
    const { key, scope } = this.#effect
    const { session } = this.#call
    if (result !== undefined && result.effect !== 'none') {
      this.#done.end(key, doneOf(result, session, performance.now()))
      return
    }
    this.#done.end(key, before)
    if (before === undefined) return
    // If this is lost, the journal names a call that did nothing.
    this.#calls.giveBack?.(scope, this.#call, before.invocationId).catch(() => {})
  }

  /** The key in the words of the tool, with the secrets of the call masked. */
  get #text(): string {
    const { redactor, effectKey } = this.#call
    const text = effectKey?.text ?? ''
    return redactor === undefined ? text : redactor.text(text)
  }
}

function textsOf(text: string, { content: blocks }: Done): readonly ContentBlock[] {
  return [{ type: 'text', text }, ...blocks]
}

function agoOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000))
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}
