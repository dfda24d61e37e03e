import { ArtifactError } from '../../errors.ts'

const blank = /[ \t\n\r]*/y
const integerPattern = /(?:0|-?[1-9]\d*)/y
// oxlint-disable-next-line eslint/no-control-regex -- these characters must be escaped
const unescapedPattern = /[^\\'"\u0000-\u001f\ud800-\udfff]+|[\ud800-\udbff][\udc00-\udfff]/y
const hexDigits = /[\dA-Fa-f]{4}/y
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '/': '/', '\\': '\\' }

/** The text of a JSONPath with a reading position. */
export class PathText {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The next character, or the empty string at the end. */
  get next(): string {
    return this.#text[this.#at] ?? ''
  }

  get isQuote(): boolean {
    return this.next === '"' || this.next === "'"
  }

  /** Skips blanks, then reads. If nothing is read, the blanks stay unread too. */
  afterBlank<Result>(read: () => Result | undefined): Result | undefined {
    const before = this.#at
    this.skipBlank()
    const result = read()
    if (result === undefined) this.#at = before
    return result
  }

  skipBlank(): void {
    this.take(blank)
  }

  /** Skips a text if it comes next. Returns whether it did. */
  skip(text: string): boolean {
    const isThere = this.#text.startsWith(text, this.#at)
    if (isThere) this.#at += text.length
    return isThere
  }

  expect(text: string): void {
    if (!this.skip(text)) throw this.wrong(`"${text}" was expected`)
  }

  /** Reads what a sticky pattern matches, or returns `undefined`. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    this.#at += found?.length ?? 0
    return found
  }

  integer(): number | undefined {
    const text = this.take(integerPattern)
    if (text === undefined) return undefined
    const value = Number(text)
    if (!Number.isSafeInteger(value)) throw this.wrong('the number is too large')
    return value
  }

  /** Reads a quoted string. */
  string(): string {
    const quote = this.next
    this.#at++
    let value = ''
    for (;;) {
      const plain = this.take(unescapedPattern)
      if (plain !== undefined) value += plain
      else if (this.skip(quote)) return value
      else if (this.skip('\\')) value += this.#escape(quote)
      else if (this.isQuote) value += this.#character()
      else throw this.wrong('the quoted text is not closed, or has a character that must be escaped')
    }
  }

  wrong(reason: string): ArtifactError {
    const excerpt = JSON.stringify(this.#text.slice(0, 200))
    return new ArtifactError(`${excerpt} is not a JSONPath: ${reason} (at character ${this.#at}).`)
  }

  #character(): string {
    return this.#text[this.#at++] ?? ''
  }

  #escape(quote: string): string {
    const character = this.#character()
    if (character === quote) return quote
    if (Object.hasOwn(escapes, character)) return escapes[character]!
    if (character !== 'u') throw this.wrong('there is no such escape')
    let value = this.#unit()
    if (/[\ud800-\udbff]/.test(value) && this.skip('\\u')) value += this.#unit()
    if (!value.isWellFormed()) throw this.wrong('the escape is half of a character')
    return value
  }

  #unit(): string {
    const digits = this.take(hexDigits)
    if (digits === undefined) throw this.wrong('four hexadecimal digits were expected')
    return String.fromCharCode(Number.parseInt(digits, 16))
  }
}
