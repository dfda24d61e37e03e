import { SchemaError } from './_error.ts'
import { schemaDepth, schemaNodes } from './_limits.ts'

/** A schema object of the engine: a private copy, without a prototype. */
export interface Schema {
  readonly [keyword: string]: unknown
}

/** The number of values that may still be read, shared by a schema and its documents. */
export interface Allowance {
  nodes: number
}

export function isSchemaObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns a key as a part of a JSON pointer. */
export function pointerPart(key: string | number): string {
  return '/' + String(key).replace(/~/g, '~0').replace(/\//g, '~1')
}

const notJson = 'a schema must be JSON'

/** Returns a private copy of a schema, without members that are `undefined`, as in JSON. @throws SchemaError */
export function snapshot(schema: unknown, at: string, allowance: Allowance = { nodes: schemaNodes }): Schema | boolean {
  let copied: unknown
  try {
    copied = copy(schema, at, 0, allowance)
  } catch (error) {
    // Getters and proxies may throw anything.
    throw error instanceof SchemaError ? error : new SchemaError('not-json', at, notJson)
  }
  if (typeof copied === 'boolean' || isSchemaObject(copied)) return copied
  throw new SchemaError('form', at, 'a schema must be an object or a boolean')
}

function copy(value: unknown, at: string, depth: number, allowance: Allowance, keyLength = 0): unknown {
  allowance.nodes -= 1 + ((typeof value === 'string' ? keyLength + value.length : keyLength) >> 6)
  if (allowance.nodes < 0) throw new SchemaError('too-large', at, `more than ${schemaNodes} values`)
  if (depth > schemaDepth) throw new SchemaError('too-deep', at, `more than ${schemaDepth} levels`)
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (let index = 0; index < value.length; index++) {
      items.push(copy(value[index], at + pointerPart(index), depth + 1, allowance))
    }
    return items
  }
  if (Object.prototype.toString.call(value) !== '[object Object]') {
    throw new SchemaError('not-json', at, notJson)
  }
  const members: Record<string, unknown> = Object.create(null)
  for (const [key, member] of Object.entries(value as object)) {
    if (member === undefined) continue
    members[key] = copy(member, at + pointerPart(key), depth + 1, allowance, key.length)
  }
  return members
}
