import type { JsonSchemaObject } from '../extension.ts'

/** A part of a schema as models read it: a type, and what the type does not say. */
interface Written {
  readonly type: string
  readonly notes: string
}

/** Where a part stands: what its lines begin with, and within how many others it is. */
interface SchemaPlace {
  readonly indent: string
  readonly depth: number
}

/** Keywords that are written as types, or that say nothing to the author of args. */
const ofTypes = new Set(
  'type properties required items enum const oneOf anyOf additionalProperties description title $schema $id $comment'.split(
    ' ',
  ),
)
/** Keywords that are written beside a type, with their values. */
const ofNotes = new Set(
  'default format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties contentEncoding contentMediaType deprecated readOnly writeOnly example examples'.split(
    ' ',
  ),
)
const typeNames = new Set(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'])
const plainMember = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u
const deepestWritten = 32

/**
 * Writes the schema of args in the way of TypeScript, which takes fewer tokens than JSON. Nothing that limits args is left out: a
 * part with a keyword that has no such form is JSON Schema, and so is all of it if a part refers to another.
 *
 * @param json The schema as JSON text.
 */
export function writtenArgs(schema: JsonSchemaObject, json: string): string {
  if (/"\$(?:ref|dynamicRef|recursiveRef)":/.test(json)) return json
  const { type, notes } = written(schema, { indent: '  ', depth: 0 })
  const text = `${type}${beside(notes)}`
  return text.length < json.length ? text : json
}

function written(schema: unknown, place: SchemaPlace): Written {
  if (schema === true) return { type: 'any', notes: '' }
  const type = isSchemaObject(schema) && place.depth < deepestWritten ? writtenType(schema, place) : undefined
  if (!isSchemaObject(schema) || type === undefined) return { type: JSON.stringify(schema), notes: '' }
  const words = typeof schema['description'] === 'string' ? schema['description'].replace(/\s+/g, ' ').trim() : ''
  const noted = Object.keys(schema).filter((key) => ofNotes.has(key))
  const limits = noted.map((key) => `${key} ${JSON.stringify(schema[key])}`).join(', ')
  return { type, notes: words === '' || limits === '' ? words + limits : `${words} (${limits})` }
}

/** Returns the type of a schema. Returns nothing if its keywords have no form, or none together. */
function writtenType(schema: Readonly<Record<string, unknown>>, place: SchemaPlace): string | undefined {
  if (!Object.keys(schema).every((key) => ofTypes.has(key) || ofNotes.has(key) || key.startsWith('x-')))
    return undefined
  const { type, enum: values, oneOf, anyOf } = schema
  const has = (...keys: readonly string[]): boolean => keys.some((key) => Object.hasOwn(schema, key))
  const ofObjects = ['properties', 'required', 'additionalProperties']
  if (has('oneOf', 'anyOf')) {
    const others = ['type', 'items', 'enum', 'const', ...ofObjects, ...(has('oneOf') ? ['anyOf'] : [])]
    const parts = oneOf ?? anyOf
    if (has(...others) || !Array.isArray(parts) || parts.length === 0) return undefined
    return parts.map((each: unknown) => writtenWithin(each, place)).join(' | ')
  }
  if (has('const')) return JSON.stringify(schema['const'])
  if (has('enum')) {
    if (!Array.isArray(values) || values.length === 0) return undefined
    return values.map((each) => JSON.stringify(each)).join(' | ')
  }
  const implied = has(...ofObjects) ? 'object' : has('items') ? 'array' : undefined
  const names: readonly unknown[] = Array.isArray(type) ? type : [type ?? implied]
  if (names.length === 1 && names[0] === undefined) return 'any'
  if (names.length === 0 || !names.every((name) => typeof name === 'string' && typeNames.has(name))) return undefined
  const types = names.map((name) => {
    if (name === 'object') return objectType(schema, place)
    return name === 'array' ? arrayType(schema, place) : (name as string)
  })
  return types.includes(undefined) ? undefined : types.join(' | ')
}

function arrayType({ items }: Readonly<Record<string, unknown>>, place: SchemaPlace): string | undefined {
  if (items === undefined) return 'any[]'
  if (items !== true && !isSchemaObject(items)) return undefined
  const each = writtenWithin(items, place)
  return /^\w+$/.test(each) ? `${each}[]` : `(${each})[]`
}

function objectType(schema: Readonly<Record<string, unknown>>, { indent, depth }: SchemaPlace): string | undefined {
  const { properties = {}, required = [], additionalProperties: others = false } = schema
  if (!isSchemaObject(properties) || !Array.isArray(required)) return undefined
  if (!required.every((name) => typeof name === 'string' && Object.hasOwn(properties, name))) return undefined
  const needed = new Set<unknown>(required)
  const inner = { indent: `${indent}  `, depth: depth + 1 }
  const members = Object.entries(properties).map(([name, each]) => {
    const key = `${plainMember.test(name) ? name : JSON.stringify(name)}${needed.has(name) ? '' : '?'}`
    return { key, ...written(each, inner) }
  })
  if (others !== false) members.push({ key: '[name: string]', ...written(others, inner) })
  if (members.length === 0) return Object.hasOwn(schema, 'additionalProperties') ? '{}' : 'object'
  const isShort = members.every(({ type, notes }) => notes === '' && !type.includes('\n'))
  if (isShort) return `{ ${members.map(({ key, type }) => `${key}: ${type}`).join(', ')} }`
  const lines = members.map(({ key, type, notes }) => `${inner.indent}${key}: ${type}${beside(notes)}\n`)
  return `{\n${lines.join('')}${indent}}`
}

/** Writes what a type does not say at the end of its line. */
function beside(notes: string): string {
  return notes === '' ? '' : ` // ${notes}`
}

/** Writes a part within a type. */
function writtenWithin(schema: unknown, { indent, depth }: SchemaPlace): string {
  const { type, notes } = written(schema, { indent, depth: depth + 1 })
  return notes === '' ? type : `${type} /* ${notes} */`
}

function isSchemaObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
