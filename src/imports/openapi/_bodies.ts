import { artifact, SpooledArtifact } from '../../index.ts'
import type { Serialization } from './_parameters.ts'
import { entriesOf, isNode, listMember, memberOf, resolved, textMember, type DocumentNode } from './_document.ts'

/** How a body is written. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'binary'

/** The body that an operation takes. */
export interface BodyPlan {
  readonly kind: BodyKind
  readonly mediaType: string
  /** What the document says of this media type. */
  readonly media: unknown
  readonly schema: unknown
  /** How the properties of a form are written. */
  readonly encoding: ReadonlyMap<string, PropertyEncoding>
  /** The properties of a multipart body that are artifacts. */
  readonly files: ReadonlySet<string>
}

/** How a property of a form is written. */
interface PropertyEncoding extends Omit<Serialization, 'name'> {
  readonly contentType?: string | undefined
}

const jsonMediaType = /^(?:application|text)\/(?:[\w.+-]+\+)?json\b|^[\w.-]+\/[\w.-]+\+json\b/i
const binaryMediaType =
  /^(?:application\/(?:octet-stream|pdf|zip|gzip|x-(?!www|ndjson)|vnd\.)|image\/|audio\/|video\/|font\/|\*\/\*)/i
const kinds: readonly (readonly [BodyKind, RegExp])[] = [
  ['json', jsonMediaType],
  ['form', /^application\/x-www-form-urlencoded\b/i],
  ['multipart', /^multipart\/form-data\b/i],
  ['text', /^(?:text\/(?!event-stream)|application\/(?:x-)?ndjson|application\/jsonl)/i],
  ['binary', binaryMediaType],
]

export function isJsonType(mediaType: string): boolean {
  return jsonMediaType.test(mediaType.trim())
}

/** Returns the body of the first kind that fits. @param wanted The media type that the application names. */
export function bodyPlan(root: DocumentNode, content: unknown, wanted: string | undefined): BodyPlan | undefined {
  const types = isNode(content) ? Object.keys(content).filter((type) => /^[ -~]+$/.test(type)) : []
  const candidates = wanted === undefined ? types : types.filter((type) => type === wanted)
  for (const [kind, pattern] of kinds) {
    const fitting = candidates.filter((type) => pattern.test(type.trim()))
    // A merge is easier to write than a patch.
    const mediaType = fitting.find((type) => !type.includes('json-patch')) ?? fitting[0]
    if (mediaType === undefined) continue
    const media = memberOf(content, mediaType)
    if (mediaType.trim() !== '*/*') return planOf(root, kind, mediaType.trim(), media)
    if (isOfMembers(root, memberOf(media, 'schema'))) return planOf(root, 'json', 'application/json', media)
    return planOf(root, 'binary', 'application/octet-stream', media)
  }
  const [named] = candidates
  // The application says that the body is text, such as XML.
  return wanted === undefined || named === undefined ? undefined : planOf(root, 'text', named, undefined)
}

function planOf(root: DocumentNode, kind: BodyKind, mediaType: string, media: unknown): BodyPlan {
  const schema =
    kind === 'text' ? { type: 'string' } : (memberOf(media, 'schema') ?? (kind === 'json' ? {} : { type: 'object' }))
  const files = new Set(
    kind === 'multipart'
      ? schemaProperties(root, schema)
          .filter(([, each]) => fileSchema(root, each) !== undefined)
          .map(([name]) => name)
      : [],
  )
  const encoding = new Map(
    entriesOf(media, 'encoding').map(([name, each]) => {
      const [explode, allowReserved] = [memberOf(each, 'explode'), memberOf(each, 'allowReserved')]
      const flags = { explode: explode as boolean | undefined, allowReserved: allowReserved === true }
      return [
        name,
        { contentType: textMember(each, 'contentType'), style: textMember(each, 'style'), ...flags },
      ] as const
    }),
  )
  return {
    kind,
    mediaType,
    media,
    schema: kind === 'binary' ? artifactHandleSchema : withFiles(root, schema, files),
    encoding,
    files,
  }
}

/** Whether a schema is of objects or lists: a body of any media type with it is JSON, and no bytes. */
function isOfMembers(root: DocumentNode, schema: unknown): boolean {
  const type = textMember(resolved(root, schema), 'type')
  return type === 'object' || type === 'array' || schemaProperties(root, schema).length > 0
}

const artifactHandleSchema = { type: 'string', description: 'The handle of the artifact to send' }

/** Returns the properties of a schema, and of those that it is made of, each once. */
export function schemaProperties(
  root: DocumentNode,
  schema: unknown,
  visited: Set<unknown> = new Set<unknown>(),
): [string, unknown][] {
  const node = resolved(root, schema)
  if (visited.has(node)) return []
  visited.add(node)
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((key) => listMember(node, key))
  return [...entriesOf(node, 'properties'), ...parts.flatMap((part) => schemaProperties(root, part, visited))]
}

/**
 * Returns a schema in which the contents of files are handles. Undefined if it has none: it is no file, no list and no choice of such.
 *
 * @param found What was found of other schemas, so that each is read once.
 */
function fileSchema(
  root: DocumentNode,
  schema: unknown,
  found: Map<unknown, DocumentNode | undefined> = new Map<unknown, DocumentNode | undefined>(),
): DocumentNode | undefined {
  const node = resolved(root, schema)
  if (!isNode(node) || found.has(node)) return found.get(node)
  found.set(node, undefined) // what is made of itself alone is no file
  const edited = editedFile(root, node, found)
  found.set(node, edited)
  return edited
}

function editedFile(
  root: DocumentNode,
  node: DocumentNode,
  found: Map<unknown, DocumentNode | undefined>,
): DocumentNode | undefined {
  if (memberOf(node, 'type') === 'array') {
    const items = fileSchema(root, memberOf(node, 'items'), found)
    return items === undefined ? undefined : { ...node, items }
  }
  for (const key of ['anyOf', 'oneOf']) {
    const branches = listMember(node, key)
    const edited = branches.map((branch) => fileSchema(root, branch, found) ?? branch)
    if (edited.some((branch, index) => branch !== branches[index])) return { ...node, [key]: edited }
  }
  if (!isFileContent(node)) return undefined
  const description = textMember(node, 'description')
  const words = '(the handle of the artifact to send)'
  return { type: 'string', description: description === undefined ? words : `${description} ${words}` }
}

function isFileContent(node: DocumentNode): boolean {
  if (memberOf(node, 'type') === 'file') return true
  const contentType = textMember(node, 'contentMediaType')
  if (contentType !== undefined) return memberOf(node, 'contentEncoding') === undefined && !isJsonType(contentType)
  return textMember(node, 'format') === 'binary'
}

/** Returns the schema of a form, in which files are handles. */
function withFiles(root: DocumentNode, schema: unknown, files: ReadonlySet<string>): unknown {
  if (files.size === 0) return schema
  return editedSchema(root, schema, (properties, required) => {
    const edited = Object.entries(properties).map(([name, each]) => [name, fileSchema(root, each) ?? each])
    return [Object.fromEntries(edited) as DocumentNode, required]
  })
}

/** Changes the properties of a schema, and of those that it is made of. References at its top are written out. */
export function editedSchema(
  root: DocumentNode,
  schema: unknown,
  edit: (properties: DocumentNode, required: readonly unknown[]) => readonly [DocumentNode, readonly unknown[]],
  edited: Map<unknown, unknown> = new Map<unknown, unknown>(),
): unknown {
  const node = resolved(root, schema)
  if (!isNode(node)) return schema
  if (edited.has(node)) return edited.get(node)
  edited.set(node, schema) // a part that is made of itself stays a reference
  const own = memberOf(node, 'properties')
  const [properties, required] = edit(isNode(own) ? own : {}, listMember(node, 'required'))
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((key) => {
    const list = memberOf(node, key)
    return Array.isArray(list) ? [[key, list.map((part) => editedSchema(root, part, edit, edited))] as const] : []
  })
  const result = {
    ...node,
    ...(own === undefined ? undefined : { properties }),
    ...(memberOf(node, 'required') === undefined ? undefined : { required }),
    ...Object.fromEntries(parts),
  }
  edited.set(node, result)
  return result
}

/** Returns validated args in which the handles of files stand for artifacts, which the executor opens. */
export function withArtifacts(input: DocumentNode, { kind, files }: BodyPlan): DocumentNode {
  const isBinary = kind === 'binary'
  // Who asks for a reference lets all calls of the process look for such.
  if (!isBinary && files.size === 0) return input
  const body = memberOf(input, 'body')
  const reference = artifact(SpooledArtifact)
  const opened = (value: unknown): unknown => {
    return typeof value === 'string' ? reference(value) : Array.isArray(value) ? value.map(opened) : value
  }
  if (isBinary) return typeof body === 'string' ? { ...input, body: reference(body) } : input
  if (!isNode(body)) return input
  const entries = Object.entries(body).map(([name, value]) => [name, files.has(name) ? opened(value) : value])
  return { ...input, body: Object.fromEntries(entries) as unknown }
}
