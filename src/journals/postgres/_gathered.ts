import { isToolError } from '../../index.ts'

// Taken here, before a test can put timers of its own in its place.
const afterIo: (run: () => void) => unknown = typeof setImmediate === 'function' ? setImmediate : setTimeout

/** The most that one question asks for: of more, the process works at some while the server works at others. */
const mostGathered = 32
/** About the most characters of one question. */
const mostGatheredCharacters = 1_048_576
/** The least, unless the server keeps the plan: to make one costs as much as a few statements that it keeps. */
const leastPlanned = 4

interface GatheredAsk<Asked, Answer> {
  readonly asked: Asked
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

interface GatheredQuestions<Asked, Answer> {
  /** A question asks for nothing twice. */
  readonly keyOf: (asked: Asked) => string
  /** How many characters it adds. Default: 0. */
  readonly lengthOf?: (asked: Asked) => number
  readonly one: (asked: Asked) => Promise<Answer>
  /** Answers all, in their order. They come in the order of their keys, so that no two questions wait for each other. */
  readonly all: (all: readonly Asked[]) => Promise<readonly Answer[]>
  /** Whether one question can ask for all. Default: always. */
  readonly canShare?: (all: readonly Asked[]) => boolean
  /** Whether the server keeps the plan of the question for all. */
  readonly isKept?: boolean
}

/** Asks one question for all that is asked before the event loop goes on. What is asked alone has a question of its own. */
export class Gathered<Asked, Answer> {
  readonly #questions: GatheredQuestions<Asked, Answer>
  readonly #least: number
  readonly #asking = new Set<Promise<void>>()
  #waiting = new Map<string, GatheredAsk<Asked, Answer>>()
  #characters = 0

  constructor(questions: GatheredQuestions<Asked, Answer>) {
    this.#questions = questions
    this.#least = questions.isKept === true ? 2 : leastPlanned
  }

  ask(asked: Asked): Promise<Answer> {
    const key = this.#questions.keyOf(asked)
    const isFull = this.#waiting.size >= mostGathered || this.#characters >= mostGatheredCharacters
    if (isFull || this.#waiting.has(key)) this.#flush()
    if (this.#waiting.size === 0) afterIo(() => this.#flush())
    this.#characters += this.#questions.lengthOf?.(asked) ?? 0
    return new Promise((resolve, reject) => this.#waiting.set(key, { asked, resolve, reject }))
  }

  /** Waits for what was asked and is not answered. */
  async ended(): Promise<void> {
    this.#flush()
    await Promise.all(this.#asking)
  }

  #flush(): void {
    const asking = this.#askNow().finally(() => this.#asking.delete(asking))
    this.#asking.add(asking)
  }

  async #askNow(): Promise<void> {
    const waiting = [...this.#waiting].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
    this.#waiting = new Map()
    this.#characters = 0
    const all = waiting.map(({ asked }) => asked)
    if (all.length < this.#least || this.#questions.canShare?.(all) === false) return this.#each(waiting)
    try {
      const answers = await this.#questions.all(all)
      for (const [index, { resolve }] of waiting.entries()) resolve(answers[index]!)
    } catch (error) {
      // The server refused the whole for one of them, and did nothing.
      if (!isToolError(error) || !error.retryable) return this.#each(waiting)
      for (const { reject } of waiting) reject(error)
    }
  }

  async #each(all: readonly GatheredAsk<Asked, Answer>[]): Promise<void> {
    await Promise.all(all.map(({ asked, resolve, reject }) => this.#questions.one(asked).then(resolve, reject)))
  }
}
