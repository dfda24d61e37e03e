import { ArtifactError } from './errors.ts'
import { readText } from './json-text.ts'
import type { SpoolReader } from './ports.ts'
import { pointerSteps } from './text.ts'

/** What an artifact is made of. */
export interface ArtifactSource {
  readonly reader: SpoolReader
  /** Default: the class's own. */
  readonly mediaType?: string | undefined
  /** Under which a store keeps the bytes. */
  readonly handle?: string | undefined
  /** Whether the maker of the text is to be trusted. Default: `false`. */
  readonly trusted?: boolean | undefined
}

/** A subclass of `SpooledArtifact`. */
export interface ArtifactClass<Artifact extends SpooledArtifact = SpooledArtifact> {
  new (source: ArtifactSource): Artifact
}

/** A subclass, or a function that gives it, for modules that import each other. */
export type ArtifactOption<Artifact extends SpooledArtifact = SpooledArtifact> =
  ArtifactClass<Artifact> | (() => ArtifactClass<Artifact>)

const artifactBrand: unique symbol = Symbol.for('toolwright.artifact') as never
const chunkSize = 65_536

/** A whole result, held as bytes wherever they are, and read in parts. Lines are counted from 0. */
export class SpooledArtifact {
  static readonly kind: string = 'artifact'
  static readonly mediaType: string = 'application/octet-stream'
  static {
    Object.defineProperty(this.prototype, artifactBrand, { value: true })
  }

  readonly mediaType: string
  readonly handle?: string
  readonly trusted: boolean
  readonly #reader: SpoolReader

  constructor(source: ArtifactSource) {
    this.#reader = source.reader
    this.mediaType = source.mediaType ?? (this.constructor as typeof SpooledArtifact).mediaType
    if (source.handle !== undefined) this.handle = source.handle
    this.trusted = source.trusted ?? false
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
  async lineCount(): Promise<number> {
    let count = 0
    for await (const _ of this.lines()) count++
    return count
  }

  /** A rough number of tokens: a quarter of the bytes, rounded up. */
  async estimateTokens(): Promise<number> {
    return Math.ceil(this.byteLength() / 4)
  }

  /** Everything, as text. */
  async asString(): Promise<string> {
    return new TextDecoder().decode(await this.bytes())
  }

  /** The first lines. @param count How many. Default: 10. */
  head(count = 10): Promise<string> {
    return this.cat(0, count)
  }

  /** The last lines. @param count How many. Default: 10. */
  async tail(count = 10): Promise<string> {
    const lines: string[] = []
    if (count > 0) for await (const line of this.#linesFrom(await this.#startOfLast(count))) lines.push(line)
    return lines.join('\n')
  }

  /** The lines from `start` up to and without `end`, as far as there are any. */
  async cat(start = 0, end: number = Infinity): Promise<string> {
    const lines: string[] = []
    let number = 0
    for await (const line of this.lines()) {
      if (number >= end) break
      if (number++ >= start) lines.push(line)
    }
    return lines.join('\n')
  }

  /** The lines that contain a string, or that a pattern of the host's own matches. */
  async grep(pattern: string | RegExp): Promise<{ line: number; text: string }[]> {
    const matches = (text: string): boolean => {
      if (typeof pattern === 'string') return text.includes(pattern)
      pattern.lastIndex = 0 // a global or sticky pattern would go on from its last match
      return pattern.test(text)
    }
    const found: { line: number; text: string }[] = []
    let line = 0
    for await (const text of this.lines()) {
      if (matches(text)) found.push({ line, text })
      line++
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
    for (let start = from; start < this.byteLength(); start += chunkSize) yield this.bytes(start, start + chunkSize)
  }

  /** All lines, without their ends (`\n` or `\r\n`). */
  lines(): AsyncGenerator<string, void, undefined> {
    return this.#linesFrom(0)
  }

  /** What may be written down in the artifact's place. */
  toJSON(): { kind: string; mediaType: string; byteLength: number; handle?: string } {
    const { kind, mediaType, handle } = this
    return { kind, mediaType, byteLength: this.byteLength(), ...(handle === undefined ? undefined : { handle }) }
  }

  async *#linesFrom(offset: number): AsyncGenerator<string, void, undefined> {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of this.chunks(offset)) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
    }
    rest += decoder.decode()
    if (rest !== '') yield rest
  }

  /** Where the last `count` lines begin, found from the end so that nothing else is read. */
  async #startOfLast(count: number): Promise<number> {
    const last = this.byteLength() - 1
    let seen = 0
    for (let end = this.byteLength(); end > 0; end -= chunkSize) {
      const start = Math.max(0, end - chunkSize)
      const bytes = await this.bytes(start, end)
      for (let index = bytes.length - 1; index >= 0; index--) {
        if (bytes[index] === 10 && start + index !== last && ++seen === count) return start + index + 1
      }
    }
    return 0
  }
}

/** A result that is text. */
export class TextArtifact extends SpooledArtifact {
  static override readonly kind: string = 'text'
  static override readonly mediaType: string = 'text/plain'
}

/** A result that is one JSON value; nothing is parsed before it is asked for. */
export class JsonArtifact extends SpooledArtifact {
  static override readonly kind: string = 'json'
  static override readonly mediaType: string = 'application/json'
  #value: Promise<unknown> | undefined

  /** The whole value. */
  value(): Promise<unknown> {
    this.#value ??= this.asString().then((text) => readText(text))
    return this.#value
  }

  /** `object`, `array`, `string`, `number`, `boolean` or `null`. */
  async type(): Promise<string> {
    const value = await this.value()
    return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  }

  /** The keys of an object; the indices of an array; none of anything else. */
  async keys(): Promise<string[]> {
    const value = await this.value()
    return typeof value === 'object' && value !== null ? Object.keys(value) : []
  }

  /** How many items an array has, or keys an object, or characters a string; 1 for anything else. */
  async length(): Promise<number> {
    const value = await this.value()
    if (typeof value === 'string' || Array.isArray(value)) return value.length
    return typeof value === 'object' && value !== null ? Object.keys(value).length : 1
  }

  /**
   * The value at a JSON Pointer, or `undefined` where there is none.
   *
   * @param pointer Such as `/items/0/name`; the empty string is the whole value.
   * @throws `E_ARTIFACT` where the pointer is not one.
   * @see https://www.rfc-editor.org/rfc/rfc6901
   */
  async get(pointer: string): Promise<unknown> {
    if (pointer !== '' && !pointer.startsWith('/')) {
      throw new ArtifactError(`${JSON.stringify(pointer)} is not a JSON Pointer: it has to be empty or begin with "/".`)
    }
    let value = await this.value()
    for (const key of pointerSteps(pointer)) {
      const isStep = Array.isArray(value) ? /^\d+$/.test(key) : typeof value === 'object' && value !== null
      if (!isStep || !Object.hasOwn(value as object, key)) return undefined
      value = (value as Record<string, unknown>)[key]
    }
    return value
  }

  /** The items of an array from `start` up to and without `end`. */
  async slice(start?: number, end?: number): Promise<unknown[]> {
    const value = await this.value()
    return Array.isArray(value) ? value.slice(start, end) : []
  }
}

/** A result that is bytes. */
export class BinaryArtifact extends SpooledArtifact {
  static override readonly kind: string = 'binary'
}

/** Whether a value is an artifact, whichever copy of the package made it. */
export function isArtifact(value: unknown): value is SpooledArtifact {
  return typeof value === 'object' && value !== null && artifactBrand in value
}

/** The subclass that a tool's `artifact` option means. */
export function artifactClass<Artifact extends SpooledArtifact>(
  option: ArtifactOption<Artifact>,
): ArtifactClass<Artifact> {
  if (isArtifactClass(option)) return option as ArtifactClass<Artifact>
  let given: unknown
  try {
    given = (option as () => unknown)()
  } catch (cause) {
    throw new ArtifactError("The tool's `artifact` function threw instead of giving a class.", { cause })
  }
  if (isArtifactClass(given)) return given as ArtifactClass<Artifact>
  throw new ArtifactError(
    "The tool's `artifact` is neither a subclass of SpooledArtifact nor a function that gives one.",
  )
}

/** The subclass that a tool's `artifact` option means, where there is one, else the one that the result suggests. */
export function chosenClass(option: ArtifactOption | undefined, otherwise: ArtifactClass): ArtifactClass {
  return option === undefined ? otherwise : artifactClass(option)
}

/** The kernel's own class for a kind of artifact. */
export function classOfKind(kind: string | undefined): ArtifactClass {
  return kind === JsonArtifact.kind ? JsonArtifact : kind === BinaryArtifact.kind ? BinaryArtifact : TextArtifact
}

/** Whether a value is `SpooledArtifact` or a subclass of it, of whichever copy of the package. */
export function isArtifactClass(value: unknown): boolean {
  const prototype: unknown = typeof value === 'function' ? value.prototype : undefined
  return typeof prototype === 'object' && prototype !== null && artifactBrand in prototype
}
