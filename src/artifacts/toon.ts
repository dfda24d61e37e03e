/**
 * TOON documents (Token-Oriented Object Notation), with the queries of JSON.
 *
 * @module
 */
import { JsonArtifact, type ArtifactQuery, type SpooledArtifact } from '../index.ts'
import { ArtifactError } from '../errors.ts'
import { jsonQueries } from './_json-queries.ts'
import { lazily } from './_lazily.ts'
import { WorkPace } from './_pace.ts'

/** The most characters of a line: the event loop waits while it is parsed. */
const longestToonLine = 131_072
/** How deep a document may be nested. The parser goes down by calls. */
const deepestToon = 200

/**
 * A result that is TOON. Needs the package `@toon-format/toon`.
 *
 * The text is parsed once, on the first query, while other tasks run too. The first line that is indented tells the width of
 * a level. All methods that need the value throw `E_ARTIFACT` if the text is not TOON (also if an array has more or fewer items
 * than it says), has more than 4,194,304 bytes (`static largest` of a subclass), a line of more than 131,072 characters, or more
 * than 200 levels.
 *
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { ToonArtifact } from 'toolwright/artifacts/toon'
 *
 * const users = tool({
 *   name: 'list_users',
 *   description: 'Lists users',
 *   artifact: ToonArtifact,
 *   handler: () => 'users[2]{id,name}:\n  1,Ada\n  2,Bob\n',
 * })
 * ```
 * @see https://toonformat.dev
 * @experimental
 */
export class ToonArtifact extends JsonArtifact {
  static override readonly kind: string = 'toon'
  static override readonly mediaType: string = 'text/toon'
  static override readonly queries: Readonly<Record<string, ArtifactQuery>> = jsonQueries
  /** The most bytes of a text that is parsed. */
  static readonly largest: number = 4_194_304
  readonly #value: () => Promise<unknown> = lazily(() => this.#parse())

  /** Returns the value of the document. @throws `E_ARTIFACT` as above. */
  override value(): Promise<unknown> {
    return this.#value()
  }

  async #parse(): Promise<unknown> {
    const { largest } = this.constructor as typeof ToonArtifact
    if (this.byteLength() > largest) {
      throw new ArtifactError(
        `The artifact has ${this.byteLength().toLocaleString('en')} bytes of TOON, more than the ${largest.toLocaleString('en')} that are parsed. Ask about its lines instead.`,
      )
    }
    const { decodeStream } = await loadToon()
    const indentSize = await indentSizeOf(this)
    const tree = new Tree()
    try {
      for await (const event of decodeStream(toonLines(this, indentSize), { indentSize })) {
        if (event.type === 'startObject' || event.type === 'startArray') tree.open(event.type === 'startArray')
        else if (event.type === 'key') tree.key = event.key
        else if (event.type === 'primitive') tree.add(event.value)
        else tree.close()
      }
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause
      const { line = 1 } = cause as { readonly line?: number }
      const reason = cause.message.replace(/^Line \d+: /, '').slice(0, 200)
      throw new ArtifactError(`The artifact cannot be read as TOON. Line ${line - 1}: ${reason}.`, { cause })
    }
    return tree.value
  }
}

/** Returns how many spaces a level has. */
async function indentSizeOf(artifact: SpooledArtifact): Promise<number> {
  for await (const { texts } of artifact.lineGroups({ longest: longestToonLine })) {
    for (const text of texts) {
      const [spaces = ''] = /^ *(?! |$)/.exec(text) ?? []
      if (spaces.length > 0) return spaces.length
    }
  }
  return 2
}

/** Yields the lines, while other tasks run too. */
async function* toonLines(artifact: SpooledArtifact, indentSize: number): AsyncGenerator<string, void, undefined> {
  const pace = new WorkPace(Infinity, new AbortController().signal)
  let line = 0
  for await (const { texts } of artifact.lineGroups({ longest: longestToonLine + 1 })) {
    for (const text of texts) {
      if (text.length > longestToonLine) {
        throw new ArtifactError(
          `Line ${line} has more than ${longestToonLine.toLocaleString('en')} characters of TOON.`,
        )
      }
      if (/^ */.exec(text)![0].length > deepestToon * indentSize) {
        throw new ArtifactError(`The artifact is nested more than ${deepestToon} deep, in line ${line}.`)
      }
      if (pace.isDue(2_000 + 50 * text.length)) await pace.pause()
      line++
      yield text
    }
  }
}

/** Builds a value of its parts. */
class Tree {
  value: unknown = null
  key = ''
  readonly #open: { readonly key: string; readonly items: unknown[] | Map<string, unknown> }[] = []

  open(isArray: boolean): void {
    this.#open.push({ key: this.key, items: isArray ? [] : new Map<string, unknown>() })
  }

  add(value: unknown): void {
    const items = this.#open.at(-1)?.items
    if (items === undefined) this.value = value
    else if (Array.isArray(items)) items.push(value)
    else items.set(this.key, value)
  }

  close(): void {
    const { key, items } = this.#open.pop()!
    this.key = key
    this.add(Array.isArray(items) ? items : Object.fromEntries(items))
  }
}

// In `try`, so that bundlers let the package be missing.
async function loadToon(): Promise<typeof import('@toon-format/toon')> {
  try {
    return await import('@toon-format/toon')
  } catch (cause) {
    throw new ArtifactError('TOON needs the package @toon-format/toon (npm install @toon-format/toon).', { cause })
  }
}
