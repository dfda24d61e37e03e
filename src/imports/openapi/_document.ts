import { InvalidConfigurationError } from '../../errors.ts'
import { escapeDeceptive } from '../../extension.ts'

/** An object of a document. Its author is not trusted: only own members are read. */
export type DocumentNode = Readonly<Record<string, unknown>>

/** A document that was read. */
export interface ApiDocument {
  readonly root: DocumentNode
  /** The version of OpenAPI, such as `[3, 1, 0]`. */
  readonly version: readonly [major: number, minor: number, patch: number]
  /** What the API calls itself. */
  readonly title: string | undefined
  /** The version of the API. */
  readonly apiVersion: string | undefined
}

/** Says why an operation gives no tool. The other operations are not affected. */
export class OperationFault extends Error {}

const longestChain = 32
const mostYamlAliases = 10_000
const longestQuote = 100

export function isNode(value: unknown): value is DocumentNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns an own member of an object. Anything else has none. */
export function memberOf(node: unknown, key: string): unknown {
  return isNode(node) && Object.hasOwn(node, key) ? node[key] : undefined
}

/** Returns an own member that is text. */
export function textMember(node: unknown, key: string): string | undefined {
  const value = memberOf(node, key)
  return typeof value === 'string' ? value : undefined
}

/** Returns the items of an own member that is a list. */
export function listMember(node: unknown, key: string): readonly unknown[] {
  const value = memberOf(node, key)
  return Array.isArray(value) ? value : []
}

/** Returns the own entries of an own member that is an object. */
export function entriesOf(node: unknown, key: string): [string, unknown][] {
  const value = memberOf(node, key)
  return isNode(value) ? Object.entries(value) : []
}

/** Returns text of a document without characters that deceive a reader. Ends of lines stay. */
export function documentText(text: string): string {
  return escapeDeceptive(text.replaceAll('\r\n', '\n'), '\n\t')
}

/** Returns the beginning of a text of a document in one line. */
export function documentLine(text: string, longest: number): string {
  return documentText(text.slice(0, longest)).replaceAll('\n', ' ')
}

/** Quotes a short piece of a document for a message. */
export function quotedFromDocument(value: unknown): string {
  const text = typeof value === 'string' ? value : typeof value
  return JSON.stringify(documentText(text.slice(0, longestQuote))) + (text.length > longestQuote ? '…' : '')
}

/** Returns what a node stands for: itself, or what its `$ref` leads to. Nothing is fetched. */
export function resolved(root: DocumentNode, node: unknown): unknown {
  let found = node
  for (let step = 0; step <= longestChain; step++) {
    const reference = textMember(found, '$ref')
    if (reference === undefined) return found
    found = referred(root, reference)
  }
  throw new OperationFault(
    `the chain of $ref from ${quotedFromDocument(textMember(node, '$ref'))} has more than ${longestChain} links`,
  )
}

/** Returns what a node stands for, or nothing if its `$ref` leads nowhere. */
export function resolvedOrNone(root: DocumentNode, node: unknown): unknown {
  try {
    return resolved(root, node)
  } catch {
    return undefined
  }
}

/** Returns what a reference within the document leads to. */
export function referred(root: DocumentNode, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) throw new OperationFault(`$ref ${quotedFromDocument(reference)} leaves the document`)
  let found: unknown = root
  for (const step of reference.slice(2).split('/')) {
    const key = stepText(step)
    const isStep = typeof found === 'object' && found !== null && Object.hasOwn(found, key)
    if (!isStep)
      throw new OperationFault(
        `$ref ${quotedFromDocument(reference)} leads nowhere: its path begins at the document's root`,
      )
    found = (found as DocumentNode)[key]
  }
  return found
}

function stepText(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return step
  }
}

/**
 * Reads a document: an object, or the text of JSON or YAML.
 *
 * @param longest How many characters a text may have.
 * @throws `E_INVALID_CONFIGURATION` if it is no document of OpenAPI 3, or too large.
 */
export async function readApiDocument(source: unknown, longest: number): Promise<ApiDocument> {
  const root = typeof source === 'string' ? await parsedText(source, longest) : source
  if (!isNode(root)) throw unusableDocument('it is not an object')
  const version = memberOf(root, 'openapi')
  if (version === undefined && memberOf(root, 'swagger') !== undefined) {
    throw unusableDocument(
      `it is Swagger ${quotedFromDocument(String(memberOf(root, 'swagger')))}: convert it with swagger2openapi first`,
    )
  }
  const [, minor, patch] = /^3\.([0-2])\.(\d{1,3})(?:$|[-+])/.exec(String(version)) ?? []
  if (minor === undefined)
    throw unusableDocument(`its \`openapi\` is ${quotedFromDocument(version)}, and not 3.0, 3.1 or 3.2`)
  const info = memberOf(root, 'info')
  const [title, apiVersion] = ['title', 'version'].map((key) => {
    const value = memberOf(info, key)
    // YAML reads the version 1.0 as a number.
    const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
    return text === '' ? undefined : documentLine(text, 200)
  })
  return { root, version: [3, Number(minor), Number(patch)], title, apiVersion }
}

async function parsedText(source: string, longest: number): Promise<unknown> {
  if (source.length > longest) {
    const sizes = `${source.length.toLocaleString('en')} characters, and at most ${longest.toLocaleString('en')}`
    throw unusableDocument(`it has ${sizes} are read (\`limits.document\`)`)
  }
  const text = source.replace(/^\uFEFF/, '')
  if (isAddress(text)) {
    throw unusableDocument(
      'it is an address. Read what is there, and pass that: `JSON.parse(await readFile(path, "utf8"))`, or `await (await fetch(url)).json()`',
    )
  }
  if (/^\s*[[{]/.test(text)) {
    try {
      return JSON.parse(text) as unknown
    } catch (cause) {
      if (!/^\s*\{\s*[\w#]/.test(text)) throw unusableDocument('it is not JSON', cause)
    }
  }
  const { parse } = await yamlOfDocuments()
  try {
    return parse(text, { maxAliasCount: mostYamlAliases, logLevel: 'error' }) as unknown
  } catch (cause) {
    throw unusableDocument(`it is neither JSON nor YAML${yamlPlace(cause)}`, cause)
  }
}

// In `try`, so that bundlers let the package be missing.
async function yamlOfDocuments(): Promise<typeof import('yaml')> {
  try {
    return await import('yaml')
  } catch (cause) {
    throw unusableDocument('YAML needs the package yaml (npm install yaml)', cause)
  }
}

/** Whether a text is the path or the URL of a document, which has neither spaces nor lines. */
function isAddress(text: string): boolean {
  if (text.length > 2_048 || /[\s{}]/.test(text.trim())) return false
  return /^\s*(?:https?|file):\/\/|^\s*\.{0,2}\/|\.(?:json|ya?ml)\s*$/i.test(text)
}

/** What is read of an error of the package yaml. */
interface YamlFault {
  readonly code?: string
  readonly linePos?: readonly { readonly line: number; readonly col: number }[]
}

/** Returns where a text is no YAML. The words of the error quote it, and are left out. */
function yamlPlace(cause: unknown): string {
  const { code, linePos } = cause as YamlFault
  const place = linePos?.[0]
  return place === undefined ? '' : ` (${code} at line ${place.line}, column ${place.col})`
}

function unusableDocument(why: string, cause?: unknown): InvalidConfigurationError {
  return new InvalidConfigurationError(`The OpenAPI document cannot be used: ${why}.`, { cause })
}
