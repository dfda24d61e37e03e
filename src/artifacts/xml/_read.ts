import type { SpooledArtifact } from '../../index.ts'
import { ArtifactError } from '../../errors.ts'
import { WorkPace } from '../_pace.ts'

/** An element with its lines: from `line` up to and without `endLine`. */
export interface XmlElement {
  readonly name: string
  /** The names of the enclosing elements and its own, such as `/feed/entry`. */
  readonly path: string
  readonly attributes: Readonly<Record<string, string>>
  readonly line: number
  readonly endLine: number
}

/** Takes the parts of a document in order. */
export interface XmlReader {
  open(element: XmlElement): void
  text?(text: string): void
  close?(): void
}

/** How deep elements may be nested. What reads the value goes down by calls. */
const deepestElement = 200
/** How many elements and attributes a document may have. */
const mostElements = 500_000
/** How many characters are parsed at once. */
const piece = 65_536

/**
 * Reads a document. Other tasks run meanwhile.
 *
 * @throws `E_ARTIFACT` if it is not XML, or has more than it may have.
 */
export async function readXml(artifact: SpooledArtifact, reader: XmlReader, signal?: AbortSignal): Promise<void> {
  const { SaxesParser } = await loadSaxes()
  const parser = new SaxesParser({ forceXMLVersion: true, defaultXMLVersion: '1.0' })
  const open: { path: string; endLine: number }[] = []
  let count = 0
  let line = 0
  parser.on('error', (cause) => {
    throw new ArtifactError(`The artifact cannot be read as XML: ${cause.message.slice(0, 200)}`, { cause })
  })
  parser.on('opentagstart', () => {
    // If a line ends after the name, the parser has counted it.
    line = parser.line - (parser.columnIndex === 0 ? 2 : 1)
  })
  parser.on('opentag', ({ name, attributes }) => {
    const entries = Object.entries(attributes)
    count += 1 + entries.length
    if (open.length >= deepestElement)
      throw new ArtifactError(`The elements are nested more than ${deepestElement} deep.`)
    if (count > mostElements)
      throw new ArtifactError(`The document has more than ${mostElements.toLocaleString('en')} elements.`)
    const path = `${open.at(-1)?.path ?? ''}/${name}`
    const element = { name, path, attributes: Object.fromEntries(entries), line, endLine: parser.line }
    open.push(element)
    reader.open(element)
  })
  parser.on('text', (text) => reader.text?.(text))
  parser.on('cdata', (text) => reader.text?.(text))
  parser.on('closetag', () => {
    open.pop()!.endLine = parser.line
    reader.close?.()
  })
  const pace = new WorkPace(Infinity, signal ?? new AbortController().signal)
  for await (const { texts } of artifact.lineGroups()) {
    if (texts.length === 0) continue
    // A carriage return within a line would end the line for the parser, but does not here.
    const text = `${texts.join('\n')}\n`.replaceAll('\r', ' ')
    for (let at = 0; at < text.length; at += piece) {
      parser.write(text.slice(at, at + piece))
      if (pace.isDue(10 * piece)) await pace.pause()
    }
  }
  parser.close()
}

// In `try`, so that bundlers let the package be missing.
async function loadSaxes(): Promise<typeof import('saxes')> {
  try {
    return await import('saxes')
  } catch (cause) {
    throw new ArtifactError('XML needs the package saxes (npm install saxes).', { cause })
  }
}
