import type { SpooledArtifact } from '../index.ts'
import { withNote, beginningWithin, AnswerPage, type AnswerLimits } from './_output.ts'
import type { WorkPace } from './_pace.ts'
import type { Matcher, PatternOptions } from './_patterns.ts'

/** The input of a search. */
export interface LineSearchInput extends PatternOptions {
  readonly pattern: string
  readonly before?: number
  readonly after?: number
  readonly start?: number
  readonly limit?: number
}

/** The most characters that are shown of a line, around the match. */
const windowLength = 400

/** Collects the matching lines of a search and the lines around them. */
class Finds {
  readonly page: AnswerPage
  count = 0
  /** Whether lines around matches were left out for lack of room. */
  isBare = false
  #lastShown = -1
  /** How many lines after the last match are still to be shown. */
  #owed = 0
  #past: string[] = []
  readonly #input: LineSearchInput
  readonly #matcher: Matcher

  constructor(limits: AnswerLimits, input: LineSearchInput, matcher: Matcher) {
    this.page = new AnswerPage(limits)
    this.#input = input
    this.#matcher = matcher
  }

  get isWaiting(): boolean {
    return this.#owed > 0
  }

  /** Takes a line that does not match. */
  pass(line: number, text: string): void {
    const { before = 0 } = this.#input
    if (this.#owed > 0) {
      this.#owed--
      if (this.page.add(this.#numbered(line, '-', text))) this.#lastShown = line
      else {
        this.#owed = 0
        this.isBare = true
      }
    }
    if (before === 0) return
    this.#past.push(text)
    if (this.#past.length > before) this.#past.shift()
  }

  /** Takes a line that matches, and adds the lines before it. Returns whether there was room. */
  add(line: number, text: string): boolean {
    const { before = 0, after = 0 } = this.#input
    const gap = line - this.#lastShown - 1
    const past = this.#past.slice(Math.max(0, this.#past.length - gap))
    const around = past.map((each, index) => this.#numbered(line - past.length + index, '-', each))
    const isApart = before + after > 0 && this.#lastShown >= 0 && gap > past.length
    const match = this.#numbered(line, ':', text)
    if (!this.page.add(...(isApart ? ['--'] : []), ...around, match)) {
      if (this.count > 0 || !this.page.add(match)) return false
      this.isBare = true
    }
    this.#lastShown = line
    this.#owed = after
    this.#past = []
    this.count++
    return true
  }

  /** Returns a line with its number. Cuts a long line around the match, and one that fills the page to what fits. */
  #numbered(line: number, mark: ':' | '-', text: string): string {
    let first = 0
    if (text.length > windowLength && mark === ':') {
      const end = this.#matcher.endOf(text.slice(0, this.#matcher.longest))
      first = Math.max(0, Math.min(end - windowLength / 2, text.length - windowLength))
    }
    const part = text.slice(first, first + windowLength).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
    const room = this.page.lines.length > 0 ? Infinity : this.page.left - 40
    const { text: fitting, length } = beginningWithin(part, room)
    const isCut = first + windowLength < text.length || length < part.length
    return `${line}${mark} ${first > 0 ? '…' : ''}${fitting}${isCut ? '…' : ''}`
  }
}

/** Searches an artifact for matching lines, and returns one page of them as an answer. */
export async function searchLines(
  artifact: SpooledArtifact,
  input: LineSearchInput,
  matcher: Matcher,
  limits: AnswerLimits,
  pace: WorkPace,
): Promise<string> {
  const { start = 0, limit = Infinity } = input
  const finds = new Finds(limits, input, matcher)
  let next = start
  let resume = start
  let long = 0
  let end: 'all' | 'full' | 'spent' = 'all'
  search: for await (const { first, texts } of artifact.lineGroups({ start, longest: matcher.longest })) {
    if (pace.isDue(50_000)) await pace.pause()
    for (const [index, text] of texts.entries()) {
      const isLong = text.length > matcher.longest
      if (pace.isDue(20 + text.length * matcher.cost)) await pace.pause()
      if (finds.count === limit && !finds.isWaiting) {
        end = 'full'
        break search
      }
      next = first + index + 1
      if (isLong) long++
      const isMatch = finds.count < limit && matcher.test(isLong ? text.slice(0, matcher.longest) : text)
      if (!isMatch) finds.pass(first + index, text)
      else if (finds.add(first + index, text)) resume = next
      else {
        next = first + index
        end = 'full'
        break search
      }
    }
    if (pace.isSpent && next > start) {
      end = 'spent'
      break
    }
  }
  return withNote(finds.page.text, wordsOf())

  function wordsOf(): string {
    const cut =
      (finds.isBare ? ' There was no room for all lines around the matches.' : '') +
      (long === 0
        ? ''
        : ` ${long} lines are longer than ${matcher.longest} characters; only that many of each were searched.`)
    const found =
      finds.count === 0
        ? input.literal === true
          ? 'No line contains this text'
          : 'No line matches'
        : finds.count === 1
          ? '1 line matches'
          : `${finds.count} lines match`
    switch (end) {
      case 'full':
        return `Truncated: ${finds.count} matches are shown, and there may be more. Go on with start: ${resume}.${cut}`
      case 'spent':
        return `Truncated: the search reached its time limit before line ${next}; ${finds.count} matches so far. Go on with start: ${next}.${cut}`
      case 'all':
        return next === start
          ? artifact.byteLength() === 0
            ? 'The artifact is empty.'
            : `There is no line ${start}.`
          : `${found}; lines ${start} to ${next - 1} were searched, to the end.${cut}`
    }
  }
}
