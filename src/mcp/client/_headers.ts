/** The keywords under which a schema may have subschemas that are not plain properties. */
const subschemaKeywords = (
  'items prefixItems contains additionalProperties unevaluatedProperties unevaluatedItems propertyNames ' +
  'patternProperties dependentSchemas oneOf anyOf allOf not if then else $defs definitions'
).split(' ')
const mapsOfSchemas = new Set(['patternProperties', 'dependentSchemas', '$defs', 'definitions'])
const annotation = 'x-mcp-header'

/**
 * Returns what is wrong with the `x-mcp-header` annotations of a tool, or `undefined`. Over Streamable HTTP of 2026-07-28 a
 * tool with a fault must not be offered, since its calls could not carry the headers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
export function headerFault(inputSchema: unknown): string | undefined {
  const names = new Set<string>()
  return visit(inputSchema, false)

  function visit(schema: unknown, isProperty: boolean, isReachable = true): string | undefined {
    if (typeof schema !== 'object' || schema === null) return undefined
    const node = schema as Readonly<Record<string, unknown>>
    if (Object.hasOwn(node, annotation)) {
      const fault =
        isProperty && isReachable ? annotationFault(node, names) : 'is at a place from which no header can be read'
      if (fault !== undefined) return `\`${annotation}\` ${fault}`
    }
    for (const property of Object.values(asObject(node['properties']))) {
      const fault = visit(property, true, isReachable)
      if (fault !== undefined) return fault
    }
    for (const keyword of subschemaKeywords) {
      const held = node[keyword]
      const parts = Array.isArray(held) ? held : mapsOfSchemas.has(keyword) ? Object.values(asObject(held)) : [held]
      for (const part of parts) {
        const fault = visit(part, false, false)
        if (fault !== undefined) return fault
      }
    }
    return undefined
  }
}

function annotationFault(node: Readonly<Record<string, unknown>>, names: Set<string>): string | undefined {
  const { [annotation]: name, type } = node
  if (typeof name !== 'string' || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) return 'is not the name of a header'
  if (type !== 'string' && type !== 'integer' && type !== 'boolean') return 'is only for strings, integers and booleans'
  if (names.has(name.toLowerCase())) return `names ${JSON.stringify(name)} twice`
  names.add(name.toLowerCase())
  return undefined
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
