import { jsonSchema } from '../../../validators/json-schema.ts'
import {
  isNode,
  memberOf,
  OperationFault,
  quotedFromDocument,
  documentText,
  referred,
  resolved,
  textMember,
} from './_document.ts'
import type { ApiDocument, DocumentNode } from './_document.ts'

/** Which way values go: into requests, or out of responses. */
export type Direction = 'in' | 'out'

/** What a schema had that no schema may have, and what was done about it. */
export type Mend = 'pattern' | 'required' | 'enum' | 'type' | 'allOf'

type TranslatedSchema = Record<string, unknown>

const mostSchemaNodes = 20_000
const deepestApiSchema = 256
const longestAnnotation = 65_536

/** Annotations, and what names a schema: neither is of use beside the whole document. */
const dropped = new Set(
  'example examples xml externalDocs nullable readOnly writeOnly discriminator $id $anchor $dynamicAnchor $recursiveAnchor $schema $vocabulary $comment id'.split(
    ' ',
  ),
)
/** The keywords whose value is an object of schemas. */
export const schemaMaps: ReadonlySet<string> = new Set(
  'properties patternProperties $defs definitions dependentSchemas'.split(' '),
)
/** The keywords whose value is a list of schemas. */
export const schemaLists: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
/** The keywords whose value is a schema. */
export const subschemas: ReadonlySet<string> = new Set(
  'items additionalProperties not if then else contains propertyNames unevaluatedProperties unevaluatedItems'.split(
    ' ',
  ),
)
const jsonTypes = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'])

interface Component {
  readonly schema: unknown
  readonly references: ReadonlySet<string>
  readonly nodes: number
}

/** Where a schema is collected. */
interface Collection {
  readonly direction: Direction
  /** The component to which a `$recursiveRef` leads, if this is one. */
  readonly recursive?: string | undefined
  readonly references: Set<string>
  nodes: number
}

const dialects = new Map([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
  ['http://json-schema.org/draft-07/schema', '07'],
] as const)

/** Makes JSON Schemas of 2020-12 from those of a document. A component is translated once for each direction. */
export class DocumentSchemas {
  readonly #root: DocumentNode
  readonly #isOf30: boolean
  readonly #components = { in: new Map<string, Component>(), out: new Map<string, Component>() }
  readonly #patterns = new Map<string, boolean>()
  readonly #mend: (mend: Mend, what: string) => void
  /** The draft of the document's schemas, or why they cannot be used. */
  readonly draft: '2020-12' | '2019-09' | '07' | undefined

  constructor({ root, version }: ApiDocument, mend: (mend: Mend, what: string) => void) {
    this.#root = root
    this.#isOf30 = version[1] === 0
    this.#mend = mend
    const dialect = textMember(root, 'jsonSchemaDialect')
    const isUsual = dialect === undefined || /^https:\/\/spec\.openapis\.org\/oas\/3\.[12]\/dialect\//.test(dialect)
    this.draft = isUsual ? '2020-12' : dialects.get(dialect.replace(/#$/, '') as never)
  }

  /** Returns a schema with the `$defs` that it needs. */
  whole(schema: unknown, direction: Direction): DocumentNode | boolean {
    if (this.draft === undefined) throw new OperationFault('its schemas are of a dialect that is not known here')
    const collection: Collection = { direction, references: new Set(), nodes: 0 }
    const top = this.#translated(schema, collection, 0)
    const definitions: TranslatedSchema = {}
    for (const reference of collection.references) {
      const component = this.#component(reference, direction)
      if ((collection.nodes += component.nodes) > mostSchemaNodes) throw tooManyNodes()
      defineOwn(definitions, definitionName(reference), component.schema)
      for (const next of component.references) collection.references.add(next)
    }
    if (typeof top === 'boolean' || collection.references.size === 0) return top
    return { ...top, $defs: { ...(memberOf(top, '$defs') as TranslatedSchema | undefined), ...definitions } }
  }

  #component(reference: string, direction: Direction): Component {
    const former = this.#components[direction].get(reference)
    if (former !== undefined) return former
    const node = referred(this.#root, reference)
    const recursive = memberOf(node, '$recursiveAnchor') === true ? reference : undefined
    const collection: Collection = { direction, recursive, references: new Set(), nodes: 0 }
    const schema = this.#translated(node, collection, 0)
    const component = { schema, references: collection.references, nodes: collection.nodes }
    this.#components[direction].set(reference, component)
    return component
  }

  #translated(schema: unknown, collection: Collection, depth: number): TranslatedSchema | boolean {
    if (++collection.nodes > mostSchemaNodes) throw tooManyNodes()
    if (depth > deepestApiSchema) throw new OperationFault('a schema is too deep')
    if (typeof schema === 'boolean') return schema
    if (!isNode(schema)) throw new OperationFault('a schema is neither an object nor a boolean')
    const reference = textMember(schema, '$recursiveRef') === '#' ? collection.recursive : textMember(schema, '$ref')
    const isNullable = memberOf(schema, 'nullable') === true // of 3.0, and still in many documents of 3.1
    if (reference === undefined) {
      const plain = this.#members(schema, collection, depth)
      return isNullable ? nullableSchema(plain) : plain
    }
    if (referred(this.#root, reference) === this.#root)
      throw new OperationFault(`$ref ${quotedFromDocument(reference)} leads to the document, which is no schema`)
    collection.references.add(reference)
    const $ref = `#/$defs/${definitionName(reference)}`
    if (this.#isOf30) return { $ref } // others beside it are ignored there
    const { $ref: _reference, $recursiveRef: _recursive, ...others } = schema
    const beside = { ...this.#members(others, collection, depth), $ref }
    return isNullable ? nullableSchema(beside) : beside
  }

  #members(schema: DocumentNode, collection: Collection, depth: number): TranslatedSchema {
    const target: TranslatedSchema = {}
    const hidden = new Set<string>()
    const translate = (each: unknown): unknown => this.#translated(each, collection, depth + 1)
    for (const [key, value] of Object.entries(schema)) {
      if (key === '$dynamicRef' || key === '$recursiveRef') throw new OperationFault(`a schema has ${key}`)
      if (dropped.has(key) || key.startsWith('x-')) continue
      if (Array.isArray(value) && value.length > mostSchemaNodes) throw tooManyNodes()
      if (schemaMaps.has(key) && isNode(value))
        defineOwn(target, key, this.#map(key, value, hidden, collection.direction, translate))
      else if (schemaLists.has(key) && Array.isArray(value)) this.#list(target, key, value, translate)
      else if (subschemas.has(key) && (isNode(value) || typeof value === 'boolean'))
        defineOwn(target, key, translate(value))
      else if ((key === 'description' || key === 'title') && typeof value === 'string')
        target[key] = documentText(value.slice(0, longestAnnotation))
      else if (key !== 'description' && key !== 'title') defineOwn(target, key, value)
    }
    const dialect = textMember(schema, '$schema')
    if (dialect !== undefined && dialects.get(dialect.replace(/#$/, '') as never) === undefined) {
      throw new OperationFault(`a schema is of the dialect ${quotedFromDocument(dialect)}`)
    }
    this.#mendMembers(target, hidden)
    this.#tagBranches(target, schema)
    return target
  }

  #map(
    key: string,
    map: DocumentNode,
    hidden: Set<string>,
    direction: Direction,
    translate: (each: unknown) => unknown,
  ): TranslatedSchema {
    const target: TranslatedSchema = {}
    const mark = direction === 'in' ? 'readOnly' : 'writeOnly'
    for (const [name, schema] of Object.entries(map)) {
      if (key === 'properties' && (memberOf(schema, mark) ?? memberOf(resolved(this.#root, schema), mark)) === true)
        hidden.add(name)
      else defineOwn(target, name, translate(schema))
    }
    return target
  }

  #list(target: TranslatedSchema, key: string, list: readonly unknown[], translate: (each: unknown) => unknown): void {
    if (list.length > 0) target[key] = list.map(translate)
    else this.#mend('allOf', `${key} is empty`)
  }

  /** Mends faults that many documents have, so that a schema that is meant well can be used. */
  #mendMembers(target: TranslatedSchema, hidden: ReadonlySet<string>): void {
    const { required, pattern, type, enum: values } = target
    if (Array.isArray(required)) {
      const names = [...new Set(required.filter((name) => typeof name === 'string' && !hidden.has(name)))]
      if (names.length === 0) delete target['required']
      else target['required'] = names
    } else if (required !== undefined) {
      this.#mend('required', 'required is no list')
      delete target['required']
    }
    for (const [exclusive, bound] of [
      ['exclusiveMinimum', 'minimum'],
      ['exclusiveMaximum', 'maximum'],
    ] as const) {
      if (typeof target[exclusive] !== 'boolean') continue
      if (target[exclusive] === true && target[bound] !== undefined) {
        target[exclusive] = target[bound]
        delete target[bound]
      } else delete target[exclusive]
    }
    if (type === 'file') Object.assign(target, { type: 'string', format: 'binary' })
    else if (type !== undefined) this.#mendType(target, type)
    if (pattern !== undefined && !this.#isPattern(pattern)) {
      this.#mend('pattern', quotedFromDocument(pattern))
      delete target['pattern']
    }
    if (Array.isArray(values)) {
      const unique = [...new Map(values.map((value: unknown) => [JSON.stringify(value), value])).values()]
      if (unique.length < values.length) this.#mend('enum', quotedFromDocument(String(values[0])))
      target['enum'] = unique
      if (values.length === 0) delete target['enum']
    }
  }

  #mendType(target: TranslatedSchema, type: unknown): void {
    const types = Array.isArray(type) ? type : [type]
    const valid = [...new Set(types.filter((each) => jsonTypes.has(each as string)))]
    if (valid.length === types.length) return
    this.#mend('type', quotedFromDocument(types.find((each) => !valid.includes(each)) ?? type))
    if (valid.length === 0) delete target['type']
    else target['type'] = valid
  }

  /** Whether the engine that is safe with patterns of others can read a pattern. */
  #isPattern(pattern: unknown): boolean {
    if (typeof pattern !== 'string') return false
    const former = this.#patterns.get(pattern)
    if (former !== undefined) return former
    let isOne = true
    try {
      jsonSchema({ pattern }, { origin: 'wire' })
    } catch {
      isOne = false
    }
    this.#patterns.set(pattern, isOne)
    return isOne
  }

  /** Puts the tag that a discriminator's mapping names into each branch that lacks it. */
  #tagBranches(target: TranslatedSchema, schema: DocumentNode): void {
    const discriminator = memberOf(schema, 'discriminator')
    const tag = textMember(discriminator, 'propertyName')
    const mapping = memberOf(discriminator, 'mapping')
    const branches = memberOf(schema, 'oneOf')
    if (tag === undefined || !isNode(mapping) || !Array.isArray(branches) || !Array.isArray(target['oneOf'])) return
    const namesOf = new Map<unknown, string[]>()
    for (const [name, place] of Object.entries(mapping)) {
      if (typeof place !== 'string') continue
      const reference = place.startsWith('#/') ? place : `#/components/schemas/${place}`
      const names = namesOf.get(reference)
      if (names === undefined) namesOf.set(reference, [name])
      else names.push(name)
    }
    target['oneOf'] = target['oneOf'].map((branch: unknown, index) => {
      const names = namesOf.get(textMember(branches[index], '$ref'))
      if (names === undefined) return branch
      const own = memberOf(memberOf(resolved(this.#root, branches[index]), 'properties'), tag)
      if (memberOf(own, 'const') !== undefined || memberOf(own, 'enum') !== undefined) return branch
      const properties = defineOwn({}, tag, names.length === 1 ? { const: names[0] } : { enum: names })
      return { allOf: [branch, { properties, required: [tag] }] }
    })
  }
}

function nullableSchema({ description, ...schema }: TranslatedSchema): TranslatedSchema {
  const { type, enum: values } = schema
  const isPlain = typeof type === 'string' && !['allOf', 'anyOf', 'oneOf', '$ref', 'const'].some((key) => key in schema)
  return {
    ...(description === undefined ? undefined : { description }),
    ...(isPlain ? { ...schema, type: [type, 'null'] } : { anyOf: [schema, { type: 'null' }] }),
    ...(isPlain && Array.isArray(values) && { enum: [...new Set([...(values as unknown[]), null])] }),
  }
}

/** Sets a member, also if it is called `__proto__`. */
export function defineOwn(target: TranslatedSchema, key: string, value: unknown): TranslatedSchema {
  return Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
}

function definitionName(reference: string): string {
  const place = reference.startsWith('#/components/schemas/') ? reference.slice(21) : reference.slice(1)
  return place.replace(/[^A-Za-z0-9._-]/g, (character) => `_${character.charCodeAt(0).toString(16)}`)
}

function tooManyNodes(): OperationFault {
  return new OperationFault(`its schemas have more than ${mostSchemaNodes.toLocaleString('en')} parts`)
}
