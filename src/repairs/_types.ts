import type { ToolDefinition } from '../index.ts'

/** The types of JSON Schema that a value may have at a place. */
export type JsonTypes = readonly string[]

const mostReferences = 32

type SchemaNode = Readonly<Record<string, unknown>>

/**
 * Returns the types that the JSON Schema of a tool allows at a path; nothing, if it does not say. Of branches it takes all types, so
 * that a text which any of them allows is never read as something else.
 */
export function typesAt(tool: ToolDefinition, path: readonly PropertyKey[]): JsonTypes | undefined {
  let root: unknown
  try {
    root = tool.describe().inputSchema
  } catch {
    return undefined // it cannot be converted
  }
  let nodes = branchesOf(root, root, mostReferences)
  for (const key of path) {
    const children = nodes?.map((node) => branchesOf(childSchema(node, key), root, mostReferences))
    if (children === undefined || children.includes(undefined)) return undefined
    nodes = children.flatMap((each) => each ?? [])
  }
  const types = nodes?.map(typesOfNode)
  return types === undefined || types.includes(undefined) ? undefined : types.flatMap((names) => names ?? [])
}

/** Returns a schema and the branches of it, without references. Nothing, if a part of it cannot be read. */
function branchesOf(schema: unknown, root: unknown, left: number): SchemaNode[] | undefined {
  if (!isSchemaNode(schema) || left === 0) return undefined
  const { $ref: reference, anyOf, oneOf, allOf } = schema
  if (reference !== undefined) return branchesOf(referredNode(root, reference), root, left - 1)
  const branches = [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
  if (branches.length === 0) return [schema]
  const nodes = branches.map((branch) => branchesOf(branch, root, left - 1))
  if (nodes.includes(undefined)) return undefined
  const typed = schema['type'] !== undefined || schema['properties'] !== undefined ? [schema] : []
  return [...typed, ...nodes.flatMap((branch) => branch ?? [])]
}

function referredNode(root: unknown, reference: unknown): unknown {
  if (reference === '#') return root
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined
  const keys = reference.slice(2).split('/')
  return keys.reduce<unknown>((node, key) => ownMember(node, key.replaceAll('~1', '/').replaceAll('~0', '~')), root)
}

function childSchema(node: SchemaNode, key: PropertyKey): unknown {
  if (typeof key === 'number') {
    const { prefixItems, items } = node
    return Array.isArray(prefixItems) && key < prefixItems.length ? (prefixItems[key] as unknown) : items
  }
  return (
    ownMember(node['properties'], String(key)) ??
    (node['patternProperties'] === undefined ? node['additionalProperties'] : undefined)
  )
}

/** Returns the types that a schema names, or those of the values that it allows. */
function typesOfNode({ type, enum: values, const: only }: SchemaNode): JsonTypes | undefined {
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return type.map(String)
  const listed = Array.isArray(values) ? (values as unknown[]) : only === undefined ? undefined : [only]
  return listed?.map((value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value))
}

function ownMember(node: unknown, key: string): unknown {
  return isSchemaNode(node) && Object.hasOwn(node, key) ? node[key] : undefined
}

function isSchemaNode(value: unknown): value is SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
