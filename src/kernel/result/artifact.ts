import { artifactBrand } from './brand.ts'
import type { Schema } from '../schema/infer.ts'
import { utf8Length } from '../json/text.ts'
import type { SpoolReader } from './store.ts'
import type { ToolContext } from '../call/context-types.ts'
import { LineReader, type LineIndex } from '../../spool/lines.ts'

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

/** Bytes that fit into one string of any engine. */
const largeText = 2 ** 28

/**
 * A whole result as bytes in memory or in a store, read in parts. Lines are counted from 0.
 * @example if (artifact instanceof SpooledArtifact) console.log(artifact.byteLength(), await artifact.head(2))
 */
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
  readonly #index: LineIndex | undefined
  #lines: LineReader | undefined

  constructor(source: ArtifactSource) {
    this.#reader = source.reader
    this.mediaType = source.mediaType ?? (this.constructor as typeof SpooledArtifact).mediaType
    if (source.handle !== undefined) this.handle = source.handle
    this.trusted = source.trusted ?? false
    this.#index = source.index
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
  async lineCount(): Promise<number> {
    return this.#byLines().lineCount()
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
    if (this.byteLength() > largeText) return this.#byLines().asString()
    return new TextDecoder().decode(await this.bytes())
  }

  /** Returns the first lines. @param count How many. Default: 10. */
  head(count = 10): Promise<string> {
    return this.cat(0, count)
  }

  /** Returns the last lines. @param count How many. Default: 10. */
  async tail(count = 10): Promise<string> {
    return this.#byLines().tail(count)
  }

  /** Returns the existing lines from `start` up to and without `end`. */
  async cat(start = 0, end: number = Infinity): Promise<string> {
    return this.#byLines().cat(start, end)
  }

  /**
   * Returns the lines that contain a string, or that a pattern matches.
   *
   * @param pattern A string, or an object with `test`, such as a regular expression.
   * @param options `limit`: the maximum number of lines. Default: none.
   */
  async grep(
    pattern: string | Pick<RegExp, 'test'>,
    { limit = Infinity }: { readonly limit?: number } = {},
  ): Promise<{ line: number; text: string }[]> {
    return this.#byLines().grep(pattern, limit)
  }

  /** Returns the existing bytes from `start` up to and without `end`. */
  async bytes(start = 0, end: number = Infinity): Promise<Uint8Array> {
    const from = Math.max(0, Math.min(start, this.byteLength()))
    return this.#reader.read(from, Math.max(from, Math.min(end, this.byteLength())))
  }

  /** Yields all bytes in pieces. */
  async *chunks(from = 0): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#byLines().chunks(from)
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
    yield* this.#byLines().lineGroups(start, longest)
  }

  /** Returns the description that is written in place of the artifact. */
  toJSON(): { kind: string; mediaType: string; byteLength: number; handle?: string } {
    const { kind, mediaType, handle } = this
    return { kind, mediaType, byteLength: this.byteLength(), ...(handle === undefined ? undefined : { handle }) }
  }

  #byLines(): LineReader {
    return (this.#lines ??= new LineReader(this, this.#reader, this.#index))
  }
}

/** Reads from memory: bytes, or text that is encoded when it is first read. */
export class MemoryReader implements SpoolReader {
  readonly mediaType: string | undefined
  #source: string | Uint8Array

  constructor(source: string | Uint8Array, mediaType?: string) {
    this.#source = source
    this.mediaType = mediaType
  }

  get byteLength(): number {
    // Counting is faster than encoding, and mostly only the size is needed.
    return typeof this.#source === 'string' ? utf8Length(this.#source) : this.#source.byteLength
  }

  read(start: number, end: number): Uint8Array {
    return this.#bytes().subarray(start, end)
  }

  #bytes(): Uint8Array {
    if (typeof this.#source === 'string') this.#source = new TextEncoder().encode(this.#source)
    return this.#source
  }
}
