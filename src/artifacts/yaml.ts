/**
 * YAML documents, with the queries of JSON. It reads values; it keeps no comments and no anchors. Tags produce only plain
 * values.
 *
 * @module
 */
import type { Document } from 'yaml'
import { JsonArtifact, type ArtifactQuery } from '../index.ts'
import { ArtifactError } from '../errors.ts'
import { jsonQueries } from './_json-queries.ts'
import { lazily } from './_lazily.ts'
import { loadYaml, yamlError } from './_yaml.ts'

/** How many aliases may stand for others, so that a short text cannot become a huge value. */
const mostAliases = 100
/** How many aliases may stand in a text. The package searches the document for the target of each. */
const mostAliasesInAll = 1_000
/** How deep a text may be indented or nested. The parser goes down by calls. */
const deepestYaml = 200

/**
 * A result that is YAML 1.2. Several documents in one text are an array. Needs the package `yaml`.
 *
 * The text is parsed once, on the first query. All methods that need its value throw `E_ARTIFACT` if it has more than 262,144
 * bytes (`static largest` of a subclass), is not YAML, is nested too deeply, has a key twice, too many
 * aliases, or an alias within what it stands for.
 *
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { YamlArtifact } from 'toolwright/artifacts/yaml'
 *
 * const settings = tool({
 *   name: 'read_settings',
 *   description: 'Reads the settings',
 *   artifact: YamlArtifact,
 *   handler: () => 'server:\n  port: 8080\n',
 * })
 * ```
 * @see https://yaml.org/spec/1.2.2/
 * @experimental
 */
export class YamlArtifact extends JsonArtifact {
  static override readonly kind: string = 'yaml'
  static override readonly mediaType: string = 'application/yaml'
  static override readonly mediaTypes: readonly string[] = ['application/yaml', 'application/x-yaml', 'text/yaml']
  static override readonly queries: Readonly<Record<string, ArtifactQuery>> = jsonQueries
  /** The most bytes of a text that is parsed: the event loop waits meanwhile. */
  static readonly largest: number = 262_144
  readonly #value: () => Promise<unknown> = lazily(() => this.#parse())

  /** Returns the value of the document, or an array of the values of several. @throws `E_ARTIFACT` as above. */
  override value(): Promise<unknown> {
    return this.#value()
  }

  async #parse(): Promise<unknown> {
    const { largest } = this.constructor as typeof YamlArtifact
    if (this.byteLength() > largest) {
      throw new ArtifactError(
        `The artifact has ${this.byteLength().toLocaleString('en')} bytes of YAML, too many to parse. Ask about its lines instead.`,
      )
    }
    const text = await this.asString()
    if (isTooDeep(text)) throw new ArtifactError(`The artifact is nested more than ${deepestYaml} deep.`)
    const library = await loadYaml('YAML')
    try {
      // The package compares each key with all others of its mapping, so the keys are compared below.
      const options = { schema: 'core', logLevel: 'error', prettyErrors: false, uniqueKeys: false } as const
      const documents = library.parseAllDocuments(text, options)
      const values = documents.map((document): unknown => {
        const [error] = document.errors
        if (error !== undefined) throw error
        requirePlain(document, library)
        return document.toJS({ maxAliasCount: mostAliases })
      })
      return values.length > 1 ? values : (values[0] ?? null)
    } catch (cause) {
      throw yamlError('The artifact', cause)
    }
  }
}

/** Throws if a document has a key twice, too many aliases, or an alias within what it stands for. */
function requirePlain(document: Document.Parsed, { isScalar, visit }: typeof import('yaml')): void {
  let aliases = 0
  visit(document, {
    Map(_, { items }) {
      const keys = new Set<string>()
      for (const { key } of items) {
        if (!isScalar<string | null>(key)) continue
        const name = String(key.value ?? '')
        if (keys.has(name)) throw new Error(`the key ${JSON.stringify(name)} comes a second time`)
        keys.add(name)
      }
    },
    Alias(_, { source }, path) {
      if (++aliases > mostAliasesInAll) throw new Error(`there are more than ${mostAliasesInAll} aliases`)
      if (path.some((node) => 'anchor' in node && node.anchor === source)) {
        throw new Error(`the alias *${source} stands within what it stands for`)
      }
    },
  })
}

/** Counts what can nest on one line, and the widths of indentations. Texts are refused that only might be too deep. */
function isTooDeep(text: string): boolean {
  let open = 0
  for (const line of text.split('\n')) {
    const [indentation = ''] = /^[ \-?:]*/.exec(line) ?? []
    if (indentation.length > deepestYaml * 2) return true
    for (const character of line) {
      if (character === '[' || character === '{') open++
      else if ((character === ']' || character === '}') && open > 0) open--
      if (open > deepestYaml) return true
    }
  }
  return false
}
