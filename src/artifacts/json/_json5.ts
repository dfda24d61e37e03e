import { JsonArtifact, type ArtifactQuery } from '../../index.ts'
import { ArtifactError } from '../../errors.ts'
import { jsonQueries } from '../_json-queries.ts'
import { lazily } from '../_lazily.ts'
import { plainValue } from '../_plain.ts'
import { parseLine, valueIn, valueLines } from './_lines.ts'

/** The notation of a text. */
export type JsonNotation = 'json' | 'jsonl' | 'json5'

interface Parsed {
  readonly notation: JsonNotation
  readonly value: unknown
}

/**
 * A result in JSON, JSON Lines or JSON5, whichever its text is. It is tried in this order, and no text is of two. Use it for
 * settings that people write, and for programs that may answer in any of the three.
 *
 * The text is parsed once, on the first query. JSON Lines are the array of their values, and are loaded whole: use
 * `JsonLinesArtifact` for large ones. JSON5 needs the package `json5`. Its numbers `NaN` and `Infinity`, which JSON lacks, become
 * strings; of members with the same name the last one counts. All methods that need the value throw `E_ARTIFACT` if the text is
 * none of the three, or is JSON5 of more than 1,048,576 bytes (`static largest` of a subclass) or nested more than 1,000 deep.
 *
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { Json5Artifact } from 'toolwright/artifacts/json'
 *
 * const settings = tool({
 *   name: 'read_settings',
 *   description: 'Reads the settings',
 *   artifact: Json5Artifact,
 *   handler: () => "// Settings\n{ port: 8080, hosts: ['a', 'b',] }",
 * })
 * ```
 * @see https://spec.json5.org/
 * @experimental
 */
export class Json5Artifact extends JsonArtifact {
  static override readonly kind: string = 'json5'
  static override readonly mediaType: string = 'application/json5'
  static override readonly queries: Readonly<Record<string, ArtifactQuery>> = jsonQueries
  /** The most bytes of JSON5 that are parsed: the event loop waits meanwhile. */
  static readonly largest: number = 1_048_576
  readonly #parsed: () => Promise<Parsed> = lazily(() => this.#parse())

  /** Returns the value. @throws `E_ARTIFACT` as above. */
  override async value(): Promise<unknown> {
    return (await this.#parsed()).value
  }

  /** Returns the notation of the text. @throws `E_ARTIFACT` as above. */
  async notation(): Promise<JsonNotation> {
    return (await this.#parsed()).notation
  }

  async #parse(): Promise<Parsed> {
    const text = await this.asString()
    const json = attempt(() => parseLine(text))
    if ('value' in json) return { notation: 'json', value: json.value }
    const lines = attempt(() => readLines(text))
    if ('value' in lines) return { notation: 'jsonl', value: lines.value }
    const neither = `The artifact is neither JSON (${json.reason}) nor JSON Lines`
    const { largest } = this.constructor as typeof Json5Artifact
    if (this.byteLength() > largest) {
      const size = this.byteLength().toLocaleString('en')
      throw new ArtifactError(
        `${neither}, and ${size} bytes are too many to parse as JSON5. Ask about its lines instead.`,
      )
    }
    const parser = await loadJson5(neither)
    const json5 = attempt(() => parser.parse<unknown>(withoutWarnings(text)))
    if ('value' in json5) return { notation: 'json5', value: plainValue(json5.value) }
    throw new ArtifactError(
      `The artifact is not JSON (${json.reason}), JSON Lines (${lines.reason}) or JSON5 (${json5.reason}).`,
    )
  }
}

/** The parser writes a warning to the console for each bare U+2028 and U+2029 in a string: escapes are read silently. */
function withoutWarnings(text: string): string {
  if (!/[\u2028\u2029]/.test(text)) return text
  // What is not closed goes on to the end, so that no part of a text is read twice.
  const parts = /"(?:[^"\\]+|\\[^]?)*(?:"|$)|'(?:[^'\\]+|\\[^]?)*(?:'|$)|\/\/.*|\/\*[^]*?(?:\*\/|$)/g
  return text.replace(parts, (part) =>
    part.startsWith('/')
      ? part
      : part.replace(/\\[^]|[\u2028\u2029]/g, (found) =>
          found.length > 1 ? found : found === '\u2028' ? '\\u2028' : '\\u2029',
        ),
  )
}

function attempt(read: () => unknown): { readonly value: unknown } | { readonly reason: string } {
  try {
    return { value: read() }
  } catch (cause) {
    return { reason: (cause instanceof Error ? cause.message : String(cause)).slice(0, 200) }
  }
}

/** Returns the values of JSON Lines, all of them. @throws if the text has none, or a line is not JSON. */
function readLines(text: string): unknown[] {
  const values: unknown[] = []
  for (const [number, line] of text.split('\n').entries()) {
    const record = valueLines.take(line, number)
    if (record !== undefined) values.push(valueIn(record))
  }
  if (values.length === 0) throw new Error('it has no values')
  return values
}

// In `try`, so that bundlers let the package be missing.
async function loadJson5(neither: string): Promise<typeof import('json5')> {
  try {
    return (await import('json5')).default
  } catch (cause) {
    throw new ArtifactError(`${neither}. JSON5 needs the package json5 (npm install json5).`, { cause })
  }
}
