/**
 * XML documents, with the queries of JSON and the lines of their elements. It expands no entity but those of XML itself, reads
 * no other file, and follows no address.
 *
 * @module
 */
import { JsonArtifact, type ArtifactQuery } from '../index.ts'
import { ArtifactError } from '../errors.ts'
import { jsonQueries } from './_json-queries.ts'
import { lazily } from './_lazily.ts'
import { integerField, objectSchema, type QueryContext } from './_query.ts'
import { readXml, type XmlElement } from './xml/_read.ts'
import { ElementTree } from './xml/_tree.ts'

export type { XmlElement }

/** The options of `elements` of an XML artifact. */
export interface ElementOptions {
  /** How many elements to skip. Default: 0. */
  readonly start?: number | undefined
  /** The most elements. Default: 1,000. */
  readonly limit?: number | undefined
  /** Aborts the search. */
  readonly signal?: AbortSignal | undefined
}

/**
 * A result that is an XML 1.0 document.
 *
 * Its value is an object with the root element by its name. An element is a string if it has only text, else an object: its
 * attributes with `@` before their names, its elements by their names (an array if there are several of a name), and its text
 * as `#text`. If text stands between elements, `#content` has all of them in order instead: strings, and objects with one
 * element. All values are strings. White space around text is removed; comments and instructions are skipped.
 *
 * The text is parsed on the first query, while other tasks run too. Needs the package `saxes`. All methods that read elements
 * throw `E_ARTIFACT` if the text is not XML, uses an entity of its own, has more than 16,777,216 bytes (`static largest` of a
 * subclass), 500,000 elements and attributes, or elements nested more than 200 deep.
 *
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { XmlArtifact } from 'toolwright/artifacts/xml'
 *
 * const feed = tool({
 *   name: 'read_feed',
 *   description: 'Reads the feed',
 *   artifact: XmlArtifact,
 *   handler: () => '<feed><entry id="1">First</entry></feed>',
 * })
 * ```
 * @see https://www.w3.org/TR/xml/
 * @experimental
 */
export class XmlArtifact extends JsonArtifact {
  static override readonly kind: string = 'xml'
  static override readonly mediaType: string = 'application/xml'
  static override readonly mediaTypes: readonly string[] = ['application/xml', 'text/xml']
  static override readonly queries: Readonly<Record<string, ArtifactQuery>> = {
    ...jsonQueries,
    xml_elements: {
      description:
        'Lists elements of an XML document in order, with their paths, attributes and lines; artifact_cat shows their lines, from line up to and without endLine.',
      inputSchema: objectSchema({
        name: { type: 'string', description: 'The name of the elements. Default: elements of any name' },
        start: integerField(0, 'How many to skip. Default: 0'),
        limit: {
          ...integerField(1, 'How many to show at most; if as many are shown, there may be more. Default: 100'),
          maximum: 1_000,
        },
      }),
      answer: (
        artifact: XmlArtifact,
        { name, start, limit = 100 }: { readonly name?: string; readonly start?: number; readonly limit?: number },
        context?: QueryContext,
      ) => artifact.elements(name, { start, limit, signal: context?.signal }),
    },
  }
  /** The most bytes of a document that is parsed. */
  static readonly largest: number = 16_777_216
  readonly #value: () => Promise<unknown> = lazily(async () => {
    const tree = new ElementTree()
    await this.#read(tree)
    return tree.value
  })

  /** Returns the document as described above. @throws `E_ARTIFACT` as above. */
  override value(): Promise<unknown> {
    return this.#value()
  }

  /**
   * Returns the elements in document order, with their lines, counted from 0.
   *
   * @param name The name of the elements, with its prefix. Default: elements of any name.
   * @throws `E_ARTIFACT` as above.
   */
  async elements(name?: string, { start = 0, limit = 1_000, signal }: ElementOptions = {}): Promise<XmlElement[]> {
    const found: XmlElement[] = []
    let skipped = 0
    const open = (element: XmlElement): void => {
      if ((name === undefined || element.name === name) && found.length < limit && ++skipped > start)
        found.push(element)
    }
    await this.#read({ open }, signal)
    return found
  }

  async #read(reader: Parameters<typeof readXml>[1], signal?: AbortSignal): Promise<void> {
    const { largest } = this.constructor as typeof XmlArtifact
    if (this.byteLength() > largest) {
      throw new ArtifactError(
        `The artifact has ${this.byteLength().toLocaleString('en')} bytes of XML, more than the ${largest.toLocaleString('en')} that are parsed. Ask about its lines instead.`,
      )
    }
    await readXml(this, reader, signal)
  }
}
