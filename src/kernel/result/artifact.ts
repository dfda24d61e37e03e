import { ArtifactError } from '../errors.ts'
import type { Schema } from '../schema/infer.ts'
import { giveWay, LineIndex, stretch } from './lines.ts'
import type { SpoolReader, ToolContext } from '../ports.ts'
import { wholeCharacters } from '../json/text.ts'

/** What an artifact is made of. */
export interface ArtifactSource {
  readonly reader: SpoolReader
  /** Default: the class's own. */
  readonly mediaType?: string | undefined
  /** Under which a store keeps the bytes. */
  readonly handle?: string | undefined
  /** Whether the maker of the text is to be trusted. Default: `false`. */
  readonly trusted?: boolean | undefined
  /** Where the lines of these bytes begin, as far as that was found out before. */
  readonly index?: LineIndex | undefined
}

/** A question that a model may ask of an artifact, as a tool of the name `artifact_<key>`. */
export interface ArtifactQuery {
  /** What it answers and when to ask it, for the model. */
  readonly description: string
  /** What it takes beside the handle; its root is an object. Default: nothing. */
  readonly inputSchema?: Schema
  /** Answers with text or a JSON value, of which the model is shown no more than it can take. */
  answer(artifact: never, input: never, context: ToolContext): unknown
}

/** Lines that were read together. */
export interface Lines {
  /** The number of the first, counted from 0. */
  readonly first: number
  /** None at times, within a line that is longer than what is read at a time. */
  readonly texts: readonly string[]
}

/** A subclass of `SpooledArtifact`. */
export interface ArtifactClass<Artifact extends SpooledArtifact = SpooledArtifact> {
  new (source: ArtifactSource): Artifact
}

/** A subclass, or a function that gives it, for modules that import each other. */
export type ArtifactOption<Artifact extends SpooledArtifact = SpooledArtifact> =
  ArtifactClass<Artifact> | (() => ArtifactClass<Artifact>)

const artifactBrand: unique symbol = Symbol.for('toolwright.artifact') as never
const tailStretch = 65_536
/** No string of the engine is longer; beyond it there are bytes alone. */
const longestText = 2 ** 29 - 24

/** A whole result, held as bytes wherever they are, and read in parts. Lines are counted from 0. */
export class SpooledArtifact {
  static readonly kind: string = 'artifact'
  static readonly mediaType: string = 'application/octet-stream'
  /** Every media type that means this class, where there is more than its own. */
  static readonly mediaTypes?: readonly string[]
  static {
    Object.defineProperty(this.prototype, artifactBrand, { value: true })
  }

  /** What models may ask of artifacts of this class, beside what they may ask of those of the classes that it extends. */
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

  /** What sort of artifact it is, in one word. */
  get kind(): string {
    return (this.constructor as typeof SpooledArtifact).kind
  }

  /** The size in bytes. */
  byteLength(): number {
    return this.#reader.byteLength
  }

  /** How many lines there are; a final newline ends the last line and begins no other. */
  lineCount(): Promise<number> {
    return this.#index.lineCount(this.#reader)
  }

  /**
   * A rough number of tokens.
   *
   * @param estimate Counts those of a piece of text. Default: a quarter of the bytes, rounded up.
   */
  async estimateTokens(estimate?: (text: string) => number): Promise<number> {
    if (estimate === undefined) return Math.ceil(this.byteLength() / 4)
    const decoder = new TextDecoder()
    let tokens = 0
    for await (const chunk of this.chunks()) tokens += estimate(decoder.decode(chunk, { stream: true }))
    return tokens
  }

  /**
   * Everything, as text.
   *
   * @throws `E_ARTIFACT` where it is longer than a string can be: about 512 MiB.
   */
  async asString(): Promise<string> {
    if (this.byteLength() > longestText) throw new ArtifactError(tooLong(this.byteLength()))
    return new TextDecoder().decode(await this.bytes())
  }

  /** The first lines. @param count How many. Default: 10. */
  head(count = 10): Promise<string> {
    return this.cat(0, count)
  }

  /** The last lines. @param count How many. Default: 10. */
  async tail(count = 10): Promise<string> {
    const lines: string[] = []
    if (count > 0) {
      for await (const { texts } of this.#linesFrom(await this.#startOfLast(count), 0, Infinity)) {
        for (const text of texts) lines.push(text)
      }
    }
    return lines.join('\n')
  }

  /** The lines from `start` up to and without `end`, as far as there are any. */
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
   * The lines that contain a string, or that a pattern of the host's own matches.
   *
   * @param pattern A string, or anything with `test`, such as a regular expression.
   * @param options `limit`: after how many lines to stop. Default: never.
   */
  async grep(
    pattern: string | Pick<RegExp, 'test'>,
    { limit = Infinity }: { readonly limit?: number } = {},
  ): Promise<{ line: number; text: string }[]> {
    const matches = (text: string): boolean => {
      if (typeof pattern === 'string') return text.includes(pattern)
      if (pattern instanceof RegExp) pattern.lastIndex = 0 // a global or sticky one would go on from its last match
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

  /** The bytes from `start` up to and without `end`, as far as there are any. */
  async bytes(start = 0, end: number = Infinity): Promise<Uint8Array> {
    const from = Math.max(0, Math.min(start, this.byteLength()))
    return this.#reader.read(from, Math.max(from, Math.min(end, this.byteLength())))
  }

  /** All bytes, in pieces. */
  async *chunks(from = 0): AsyncGenerator<Uint8Array, void, undefined> {
    for (let start = from, end; start < this.byteLength(); start = end) {
      end = (Math.floor(start / stretch) + 1) * stretch // no piece lies across the border of two stretches
      const bytes = await this.bytes(start, end)
      if (start % stretch === 0) this.#index.note(start / stretch, bytes)
      yield bytes
      await giveWay(Math.floor(start / stretch))
    }
  }

  /** All lines, without their ends (`\n` or `\r\n`). */
  async *lines(): AsyncGenerator<string, void, undefined> {
    for await (const { texts } of this.lineGroups()) yield* texts
  }

  /**
   * The lines, many at a time: what a query over a large artifact reads.
   *
   * @param options `start`: the first line, found without reading what stands before it a second time. Default: 0.
   * `longest`: characters after which a line is cut, and ends with `…`. Default: never.
   * @throws `E_ARTIFACT` where a line that is not cut is longer than a string can be.
   */
  async *lineGroups(
    options: { readonly start?: number; readonly longest?: number } = {},
  ): AsyncGenerator<Lines, void, undefined> {
    const { start = 0, longest = Infinity } = options
    yield* this.#linesFrom(await this.#index.offsetOf(start, this.#reader), start, longest)
  }

  /** What may be written down in the artifact's place. */
  toJSON(): { kind: string; mediaType: string; byteLength: number; handle?: string } {
    const { kind, mediaType, handle } = this
    return { kind, mediaType, byteLength: this.byteLength(), ...(handle === undefined ? undefined : { handle }) }
  }

  async *#linesFrom(offset: number, line: number, longest: number): AsyncGenerator<Lines, void, undefined> {
    // Only at the very beginning is U+FEFF a mark of the byte order and no character.
    const decoder = new TextDecoder('utf-8', { ignoreBOM: offset > 0 })
    const shown = (text: string): string => {
      const end = text.endsWith('\r') ? text.length - 1 : text.length
      return end > longest ? `${wholeCharacters(text.slice(0, longest))}…` : text.slice(0, end)
    }
    let first = line
    let rest = ''
    let isCut = false // the line that goes on was given out, cut: what is left of it is passed over
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
      yield { first, texts: texts.map(shown) } // of none, in a long line: whoever reads may stop here
      first += texts.length
    }
    rest += decoder.decode()
    if (rest !== '') yield { first, texts: [rest.length > longest ? shown(rest) : rest] }
  }

  /** Where the last `count` lines begin, found from the end so that nothing else is read. */
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

/** Whether a value is an artifact, whichever copy of the package made it. */
export function isArtifact(value: unknown): value is SpooledArtifact {
  return typeof value === 'object' && value !== null && artifactBrand in value
}

/** Whether a value is `SpooledArtifact` or a subclass of it, of whichever copy of the package. */
export function isArtifactClass(value: unknown): boolean {
  const prototype: unknown = typeof value === 'function' ? value.prototype : undefined
  return typeof prototype === 'object' && prototype !== null && artifactBrand in prototype
}
