import { artifactBrand } from './brand.ts'
import { ArtifactError } from '../errors.ts'
import type { Schema } from '../schema/infer.ts'
import { LineIndex, stretch } from './lines.ts'
import type { SpoolReader, ToolContext } from '../ports.ts'
import { Pace } from './stream.ts'
import { wholeCharacters } from '../json/text.ts'

/** The parts of an artifact. */
export interface ArtifactSource {
  readonly reader: SpoolReader
  /** Default: that of the class. */
  readonly mediaType?: string | undefined
  /** The name under which a store keeps the bytes. */
  readonly handle?: string | undefined
  /** Whether the source of the text is trusted. Default: `false`. */
  readonly trusted?: boolean | undefined
  /** The line ends of these bytes that were counted before. */
  readonly index?: LineIndex | undefined
}

/** A question that a model may ask of an artifact, by a tool named `artifact_<key>`. */
export interface ArtifactQuery {
  /** Tells the model what it answers and when to ask it. */
  readonly description: string
  /** The args beside the handle; its root is an object. Default: none. */
  readonly inputSchema?: Schema
  /** Returns text or a JSON value; what is too long for the model is cut. */
  answer(artifact: never, input: never, context: ToolContext): unknown
}

/** Lines that were read together. */
export interface Lines {
  /** The number of the first line, counted from 0. */
  readonly first: number
  /** May be empty within a line that is longer than one read. */
  readonly texts: readonly string[]
}

/** A subclass of `SpooledArtifact`. */
export interface ArtifactClass<Artifact extends SpooledArtifact = SpooledArtifact> {
  new (source: ArtifactSource): Artifact
}

/** A subclass, or a function that returns it, for modules that import each other. */
export type ArtifactOption<Artifact extends SpooledArtifact = SpooledArtifact> =
  ArtifactClass<Artifact> | (() => ArtifactClass<Artifact>)

const tailStretch = 65_536
/** The longest string of the engine; longer content can only be read as bytes. */
const longestText = 2 ** 29 - 24

/** A whole result as bytes in memory or in a store, read in parts. Lines are counted from 0. */
export class SpooledArtifact {
  static readonly kind: string = 'artifact'
  static readonly mediaType: string = 'application/octet-stream'
  /** All media types of this class, if it has more than `mediaType`. */
  static readonly mediaTypes?: readonly string[]
  static {
    Object.defineProperty(this.prototype, artifactBrand, { value: true })
  }

  /** The questions that models may ask of artifacts of this class, in addition to those of the classes that it extends. */
  static readonly queries: Readonly<Record<string, ArtifactQuery>> = {}

  readonly mediaType: string
  readonly handle?: string
  readonly trusted: boolean
  readonly #reader: SpoolReader
  readonly #index: LineIndex

  constructor(source: ArtifactSource) {
    this.#reader = source.reader
    this.mediaType = source.mediaType ?? (this.constructor as typeof SpooledArtifact).mediaType
    if (source.handle !== undefined) this.handle = source.handle
    this.trusted = source.trusted ?? false
    this.#index = source.index ?? new LineIndex()
  }

  /** The sort of artifact, in one word. */
  get kind(): string {
    return (this.constructor as typeof SpooledArtifact).kind
  }

  /** Returns the size in bytes. */
  byteLength(): number {
    return this.#reader.byteLength
  }

  /** Returns the number of lines; a final newline does not begin another line. */
  lineCount(): Promise<number> {
    return this.#index.lineCount(this.#reader)
  }

  /**
   * Returns a rough number of tokens.
   *
   * @param estimate Counts the tokens of a piece of text. Default: a quarter of the bytes, rounded up.
   */
  async estimateTokens(estimate?: (text: string) => number): Promise<number> {
    if (estimate === undefined) return Math.ceil(this.byteLength() / 4)
    const decoder = new TextDecoder()
    let tokens = 0
    for await (const chunk of this.chunks()) tokens += estimate(decoder.decode(chunk, { stream: true }))
    return tokens
  }

  /**
   * Returns all of it as text.
   *
   * @throws `E_ARTIFACT` if it is longer than the longest string: about 512 MiB.
   */
  async asString(): Promise<string> {
    if (this.byteLength() > longestText) throw new ArtifactError(tooLong(this.byteLength()))
    return new TextDecoder().decode(await this.bytes())
  }

  /** Returns the first lines. @param count How many. Default: 10. */
  head(count = 10): Promise<string> {
    return this.cat(0, count)
  }

  /** Returns the last lines. @param count How many. Default: 10. */
  async tail(count = 10): Promise<string> {
    const lines: string[] = []
    if (count > 0) {
      for await (const { texts } of this.#linesFrom(await this.#startOfLast(count), 0, Infinity)) {
        for (const text of texts) lines.push(text)
      }
    }
    return lines.join('\n')
  }

  /** Returns the existing lines from `start` up to and without `end`. */
  async cat(start = 0, end: number = Infinity): Promise<string> {
    const found: string[] = []
    const from = Math.max(0, start)
    if (end > from) {
      for await (const { first, texts } of this.lineGroups({ start: from })) {
        for (const text of texts.slice(0, Math.max(0, end - first))) found.push(text)
        if (first + texts.length >= end) break
      }
    }
    return found.join('\n')
  }

  /**
   * Returns the lines that contain a string, or that a pattern of the host matches.
   *
   * @param pattern A string, or an object with `test`, such as a regular expression.
   * @param options `limit`: the maximum number of lines. Default: none.
   */
  async grep(
    pattern: string | Pick<RegExp, 'test'>,
    { limit = Infinity }: { readonly limit?: number } = {},
  ): Promise<{ line: number; text: string }[]> {
    const matches = (text: string): boolean => {
      if (typeof pattern === 'string') return text.includes(pattern)
      if (pattern instanceof RegExp) pattern.lastIndex = 0 // a global or sticky pattern would continue at its last match
      return pattern.test(text)
    }
    const found: { line: number; text: string }[] = []
    for await (const { first, texts } of this.lineGroups()) {
      for (const [index, text] of texts.entries()) {
        if (found.length >= limit) return found
        if (matches(text)) found.push({ line: first + index, text })
      }
    }
    return found
  }

  /** Returns the existing bytes from `start` up to and without `end`. */
  async bytes(start = 0, end: number = Infinity): Promise<Uint8Array> {
    const from = Math.max(0, Math.min(start, this.byteLength()))
    return this.#reader.read(from, Math.max(from, Math.min(end, this.byteLength())))
  }

  /** Yields all bytes in pieces. */
  async *chunks(from = 0): AsyncGenerator<Uint8Array, void, undefined> {
    const pace = new Pace()
    for (let start = from, end; start < this.byteLength(); start = end) {
      end = (Math.floor(start / stretch) + 1) * stretch // no piece crosses the border of two stretches
      const bytes = await this.bytes(start, end)
      if (start % stretch === 0) this.#index.note(start / stretch, bytes)
      yield bytes
      await pace.step()
    }
  }

  /** Yields all lines, without their ends (`\n` or `\r\n`). */
  async *lines(): AsyncGenerator<string, void, undefined> {
    for await (const { texts } of this.lineGroups()) yield* texts
  }

  /**
   * Yields the lines, many at a time, for queries over large artifacts.
   *
   * @param options `start`: the first line, found without reading the lines before it twice. Default: 0.
   * `longest`: characters after which a line is cut and ends with `…`. Default: none.
   * @throws `E_ARTIFACT` if an uncut line is longer than the longest string.
   */
  async *lineGroups(
    options: { readonly start?: number; readonly longest?: number } = {},
  ): AsyncGenerator<Lines, void, undefined> {
    const { start = 0, longest = Infinity } = options
    yield* this.#linesFrom(await this.#index.offsetOf(start, this.#reader), start, longest)
  }

  /** Returns the description that is written in place of the artifact. */
  toJSON(): { kind: string; mediaType: string; byteLength: number; handle?: string } {
    const { kind, mediaType, handle } = this
    return { kind, mediaType, byteLength: this.byteLength(), ...(handle === undefined ? undefined : { handle }) }
  }

  async *#linesFrom(offset: number, line: number, longest: number): AsyncGenerator<Lines, void, undefined> {
    // U+FEFF is a byte order mark only at the very beginning; elsewhere it is a character.
    const decoder = new TextDecoder('utf-8', { ignoreBOM: offset > 0 })
    const shown = (text: string): string => {
      const end = text.endsWith('\r') ? text.length - 1 : text.length
      return end > longest ? `${wholeCharacters(text.slice(0, longest))}…` : text.slice(0, end)
    }
    let first = line
    let rest = ''
    let isCut = false // whether the current line was already yielded, cut: its rest is skipped
    for await (const chunk of this.chunks(offset)) {
      const texts = decoder.decode(chunk, { stream: true }).split('\n')
      const last = texts.pop() ?? ''
      if (texts.length > 0) {
        texts[0] = rest + texts[0]
        if (isCut) texts.shift()
        isCut = false
        rest = ''
      }
      if (rest.length + last.length > longestText) throw new ArtifactError(tooLong(rest.length + last.length))
      if (!isCut) rest += last
      if (rest.length > longest + 1) {
        texts.push(rest)
        rest = ''
        isCut = true
      }
      yield { first, texts: texts.map(shown) } // may be empty within a long line, so that the reader can stop here
      first += texts.length
    }
    rest += decoder.decode()
    if (rest !== '') yield { first, texts: [rest.length > longest ? shown(rest) : rest] }
  }

  /** Returns the offset of the last `count` lines, searched from the end so that nothing else is read. */
  async #startOfLast(count: number): Promise<number> {
    const last = this.byteLength() - 1
    let seen = 0
    for (let end = this.byteLength(); end > 0; end -= tailStretch) {
      const start = Math.max(0, end - tailStretch)
      const bytes = await this.bytes(start, end)
      for (let index = bytes.length - 1; index >= 0; index--) {
        if (bytes[index] === 10 && start + index !== last && ++seen === count) return start + index + 1
      }
    }
    return 0
  }
}

function tooLong(length: number): string {
  return `${length.toLocaleString('en')} bytes are more than one string can hold. Read them in parts: by lines, or with \`bytes(start, end)\`.`
}
