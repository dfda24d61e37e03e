import { type Dialect, dialectOf, type Draft, withoutFragment } from './_dialect.ts'
import { SchemaError } from './_error.ts'
import { walkKeywords } from './_forms.ts'
import { idLength, schemaNodes } from './_limits.ts'
import { show } from './_messages.ts'
import type { Resource } from './_run.ts'
import { isSchemaObject, type Schema, snapshot } from './_snapshot.ts'

/** The location of a schema object: its resource, and its pointer for messages. */
export interface SchemaPlace {
  readonly resource: Resource
  readonly at: string
}

/** The target of a reference. `anchor` is the anchor's name, or the empty string. */
export interface Target {
  readonly schema: Schema | boolean
  readonly resource: Resource
  readonly anchor: string
}

/** The schemas of one compilation, by reference. */
export interface Index {
  readonly root: Schema | boolean
  readonly resource: Resource
  place(schema: Schema): SchemaPlace
  resolve(reference: string, from: SchemaPlace): Target
  /** Returns the schemas with a dynamic anchor, in order of discovery. The list grows while references are resolved. */
  dynamicAnchors(name: string): readonly (readonly [Resource, Schema])[]
}

/** The name of `$recursiveAnchor` among the dynamic anchors. No anchor can have it. */
export const recursiveAnchor = ''

const rootUri = 'schema:///'

/** Copies a schema and the documents that it refers to, and indexes their ids and anchors. */
export function createIndex(input: unknown, documents: Readonly<Record<string, unknown>>, dialect: Dialect): Index {
  const allowance = { nodes: schemaNodes }
  const loaded = new Map<string, Schema | boolean | undefined>()
  const resources = new Map<string, Resource>()
  const places = new Map<Schema, SchemaPlace>()
  const dynamic = new Map<string, [Resource, Schema][]>()

  function documentAt(uri: string): Schema | boolean | undefined {
    if (!loaded.has(uri)) {
      const found = Object.hasOwn(documents, uri)
      loaded.set(uri, found ? snapshot(documents[uri], `${uri}#`, allowance) : undefined)
    }
    return loaded.get(uri)
  }

  /** Creates a resource for a document, or for a schema with its own id. */
  function begin(root: Schema | boolean, uri: string, around: Dialect, at: string): Resource {
    const own = dialectOf(root, around, at, documentAt)
    const id = ownId(root, own.draft, at)
    const ownUri = id === undefined ? uri : withoutFragment(absolute(id, uri, at))
    const resource: Resource = { uri: ownUri, root, dialect: own, anchors: new Map() }
    give(resources, ownUri, resource, at)
    if (isSchemaObject(root)) register(root, resource, at)
    return resource
  }

  function register(node: Schema, resource: Resource, at: string): void {
    const { draft } = resource.dialect
    places.set(node, { resource, at })
    walkKeywords(node, draft, at, (child, childAt) => discover(child, resource, childAt))
    const { $id, $anchor, $dynamicAnchor, $recursiveAnchor } = node as Record<string, string | undefined>
    if (draft === 7 && $id?.startsWith('#')) give(resource.anchors, $id.slice(1), node, at)
    if (draft >= 2019 && $anchor !== undefined) give(resource.anchors, $anchor, node, at)
    if (draft === 2020 && $dynamicAnchor !== undefined) {
      give(resource.anchors, $dynamicAnchor, node, at)
      addDynamic($dynamicAnchor, node, resource)
    }
    if (draft === 2019 && $recursiveAnchor && node === resource.root) addDynamic(recursiveAnchor, node, resource)
  }

  /** Indexes a schema that is part of another. */
  function discover(node: Schema, around: Resource, at: string): void {
    if (places.has(node)) return
    if (ownId(node, around.dialect.draft, at) === undefined) register(node, around, at)
    else begin(node, around.uri, around.dialect, at)
  }

  function addDynamic(name: string, node: Schema, resource: Resource): void {
    const anchors = dynamic.get(name)
    if (anchors) anchors.push([resource, node])
    else dynamic.set(name, [[resource, node]])
  }

  function resolve(reference: string, from: SchemaPlace): Target {
    const hash = reference.indexOf('#')
    const uri = hash === 0 ? from.resource.uri : withoutFragment(absolute(reference, from.resource.uri, from.at))
    let resource = resources.get(uri)
    if (!resource) {
      const document = documentAt(uri)
      if (document === undefined) {
        throw new SchemaError('remote', from.at, `$ref ${show(reference)} is not among the documents`)
      }
      resource = begin(document, uri, { ...from.resource.dialect, asserts: true }, `${uri}#`)
      resources.set(uri, resource)
    }
    const fragment = hash < 0 ? '' : attempt(decodeURIComponent, reference.slice(hash + 1), from.at)
    if (fragment === '') return { schema: resource.root, resource, anchor: '' }
    if (fragment.startsWith('/')) return { ...followPointer(fragment, resource, reference, from), anchor: '' }
    const schema = resource.anchors.get(fragment)
    if (!schema) throw unresolved(reference, from)
    return { schema, resource: place(schema).resource, anchor: fragment }
  }

  function followPointer(
    pointer: string,
    start: Resource,
    reference: string,
    from: SchemaPlace,
  ): { schema: Schema | boolean; resource: Resource } {
    let value: unknown = start.root
    let resource = start
    for (const part of pointer.slice(1).split('/')) {
      const key = part.replace(/~1/g, '/').replace(/~0/g, '~')
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) throw unresolved(reference, from)
      value = (value as Schema)[key]
      resource = places.get(value as Schema)?.resource ?? resource
    }
    if (typeof value === 'boolean') return { schema: value, resource }
    if (!isSchemaObject(value)) throw unresolved(reference, from)
    // Schemas often lie under a name that is not a keyword, such as `components`.
    discover(value, resource, `${start.uri === rootUri ? '' : start.uri}#${pointer}`)
    return { schema: value, resource: place(value).resource }
  }

  function place(node: Schema): SchemaPlace {
    return places.get(node)!
  }

  const root = snapshot(input, '#', allowance)
  const resource = begin(root, rootUri, dialect, '#')
  return { root, resource, place, resolve, dynamicAnchors: (name) => dynamic.get(name) ?? [] }
}

/** Returns the id if it creates a new resource. In draft 07, an id that starts with `#` is only an anchor. */
function ownId(schema: unknown, draft: Draft, at: string): string | undefined {
  if (!isSchemaObject(schema)) return undefined
  const { $id, $ref } = schema
  if (typeof $id !== 'string' || (draft === 7 && ($ref !== undefined || $id.startsWith('#')))) return undefined
  if ($id.length > idLength || (draft >= 2019 && /#./.test($id))) {
    throw new SchemaError('uri', at, '$id is too long or has a fragment')
  }
  return $id
}

/** Registers a name. Throws if it belongs to another schema. */
function give<Named>(names: Map<string, Named>, name: string, named: Named, at: string): void {
  if (names.has(name) && names.get(name) !== named) {
    throw new SchemaError('duplicate', at, `${show(name)} names two schemas`)
  }
  names.set(name, named)
}

function absolute(reference: string, against: string, at: string): string {
  return attempt((text) => new URL(text, against).href, reference, at)
}

function attempt(read: (text: string) => string, text: string, at: string): string {
  try {
    return read(text)
  } catch {
    throw new SchemaError('uri', at, `${show(text)} is not a valid reference`)
  }
}

function unresolved(reference: string, from: SchemaPlace): SchemaError {
  return new SchemaError('unresolved', from.at, `$ref ${show(reference)} does not refer to a schema`)
}
