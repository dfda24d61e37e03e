/**
 * What each provider refuses, written from its pages and its messages. It imports nothing of the compiler, so that both can
 * be wrong only apart.
 */
type Schema = Readonly<Record<string, unknown>>

interface Rules {
  /** Every keyword that may be in a schema. Missing: the provider reads any. */
  readonly keywords?: readonly string[]
  readonly formats?: readonly string[]
  /** Faults of one schema that are this provider's own. */
  readonly faults: (schema: Schema, isRoot: boolean) => readonly string[]
}

const common = ['type', 'description', 'enum', 'properties', 'required', 'items', 'anyOf']
const bounds = ['multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']
const strings = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']

/** The rules, by the names of the dialects. */
const rules: Readonly<Record<string, Rules>> = {
  openai: {
    faults: (schema, isRoot) => [
      ...(isRoot ? hasAtRoot(schema, ['oneOf', 'anyOf', 'allOf', 'enum', 'not', 'const', '$ref']) : []),
      ...(isRoot && !isRecord(schema['properties']) ? ['object schema missing properties'] : []),
      ...(hasType(schema, 'array') && schema['items'] === undefined ? ['array schema missing items'] : []),
      ...(Array.isArray(schema['items']) ? ["items is not of type 'object', 'boolean'"] : []),
    ],
  },
  anthropic: {
    faults: (schema, isRoot) => [
      ...(isRoot ? hasAtRoot(schema, ['oneOf', 'anyOf', 'allOf']) : []),
      ...(isRoot ? namesBeyond(schema, /^[a-zA-Z0-9_.-]{1,64}$/) : []),
      ...(Array.isArray(schema['items']) ? ['must match JSON Schema draft 2020-12'] : []),
    ],
  },
  'openai-strict': {
    keywords: [
      ...common,
      ...bounds,
      'const',
      'additionalProperties',
      'pattern',
      'format',
      'minItems',
      'maxItems',
      '$defs',
      '$ref',
    ],
    formats: strings,
    faults: (schema) => [
      ...closedFaults(schema),
      ...typeFaults(schema),
      ...itemFaults(schema),
      ...constantFaults(schema, ['string', 'number', 'boolean', 'null']),
      ...unrequired(schema).map((name) => `'required' must include every key in properties: ${name}`),
      ...(schema['$ref'] !== undefined && Object.keys(schema).length > 1
        ? ['$ref cannot have keywords beside it']
        : []),
      ...patternFaults(schema),
    ],
  },
  'anthropic-strict': {
    keywords: [...common, 'const', 'additionalProperties', 'pattern', 'format', 'minItems', 'title'],
    formats: [...strings, 'uri'],
    faults: (schema) => [
      ...closedFaults(schema),
      ...typeFaults(schema),
      ...itemFaults(schema),
      ...constantFaults(schema, ['string', 'number', 'boolean', 'null']),
      ...namesBeyond(schema, /^[a-zA-Z0-9_.-]{1,64}$/),
      ...(Number(schema['minItems'] ?? 0) > 1 ? ['minItems must be 0 or 1'] : []),
      ...patternFaults(schema),
    ],
  },
  xai: {
    keywords: [...common, ...bounds, 'const', 'additionalProperties', 'pattern', 'format'],
    formats: strings,
    faults: (schema) => [
      ...closedFaults(schema),
      ...typeFaults(schema),
      ...itemFaults(schema),
      ...constantFaults(schema, ['string', 'number', 'boolean', 'null']),
    ],
  },
  gemini: {
    keywords: [
      ...common,
      'title',
      'format',
      'minItems',
      'maxItems',
      'minimum',
      'maximum',
      'additionalProperties',
      'prefixItems',
      '$defs',
      '$ref',
    ],
    formats: ['date-time', 'date', 'time'],
    faults: (schema) => [
      ...constantFaults(schema, ['string', 'number']),
      ...(schema['$ref'] !== undefined && Object.keys(schema).some((key) => !key.startsWith('$'))
        ? ['only $-properties may be beside $ref']
        : []),
      ...(hasType(schema, 'array') && schema['items'] === undefined && schema['prefixItems'] === undefined
        ? ['items: missing field']
        : []),
    ],
  },
  'gemini-openapi': {
    keywords: [
      ...common,
      'title',
      'format',
      'default',
      'nullable',
      'minItems',
      'maxItems',
      'minLength',
      'maxLength',
      'minProperties',
      'maxProperties',
      'pattern',
      'minimum',
      'maximum',
    ],
    formats: ['date-time', 'enum', 'float', 'double', 'int32', 'int64'],
    faults: (schema, isRoot) => [
      ...typeFaults(schema),
      ...itemFaults(schema),
      ...constantFaults(schema, ['string']),
      ...namesBeyond(schema, /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/),
      ...(Array.isArray(schema['type']) ? ['Proto field is not repeating, cannot start list: type'] : []),
      ...(schema['type'] === 'null' ? ['Invalid value at type: null'] : []),
      ...(!isRoot && hasType(schema, 'object') && Object.keys(record(schema['properties'])).length === 0
        ? ['properties: should be non-empty for OBJECT type']
        : []),
    ],
  },
}

/** Returns what the provider of a dialect would refuse of the schema of a tool. */
export function faultsOf(schema: unknown, dialect: string): readonly string[] {
  const known = rules[dialect]
  if (known === undefined) throw new Error(`There are no rules for ${dialect}`)
  const { keywords, formats, faults } = known
  const found: string[] = []
  if (!isRecord(schema) || schema['type'] !== 'object') return ['schema must have type object']
  if (keywords !== undefined && (schema['anyOf'] !== undefined || !isRecord(schema['properties']))) {
    found.push('the root must be an object with properties')
  }
  visit(schema, '')
  return found

  function visit(node: unknown, path: string): void {
    if (typeof node === 'boolean') {
      if (keywords !== undefined && dialect !== 'gemini') found.push(`${path}: a boolean`)
      return
    }
    if (!isRecord(node)) return void found.push(`${path}: no schema`)
    for (const fault of faults(node, path === '')) found.push(`${path}: ${fault}`)
    for (const keyword of Object.keys(node)) {
      if (keywords !== undefined && !keywords.includes(keyword)) found.push(`${path}: unknown keyword ${keyword}`)
    }
    if (
      formats !== undefined &&
      node['format'] !== undefined &&
      !(formats as readonly unknown[]).includes(node['format'])
    ) {
      found.push(`${path}: format ${JSON.stringify(node['format'])}`)
    }
    for (const name of list(node['required'])) {
      const isThere = Object.hasOwn(record(node['properties']), String(name))
      if (keywords !== undefined && !isThere) found.push(`${path}: required ${String(name)} is no property`)
    }
    const reference = node['$ref']
    if (typeof reference === 'string' && keywords !== undefined) {
      const name = /^#\/\$defs\/([^/]+)$/.exec(reference)?.[1] ?? ''
      if (!Object.hasOwn(record((schema as Schema)['$defs']), name)) found.push(`${path}: ${reference} leads nowhere`)
    }
    for (const keyword of ['properties', '$defs', 'definitions', 'patternProperties']) {
      for (const [name, inner] of Object.entries(record(node[keyword]))) visit(inner, `${path}/${keyword}/${name}`)
    }
    for (const keyword of ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames']) {
      const inner = node[keyword]
      const isFlag = keyword === 'additionalProperties' && typeof inner === 'boolean'
      if (inner !== undefined && !Array.isArray(inner) && !isFlag) visit(inner, `${path}/${keyword}`)
    }
    for (const keyword of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
      for (const [index, inner] of list(node[keyword]).entries()) visit(inner, `${path}/${keyword}/${index}`)
    }
  }
}

function hasAtRoot(schema: Schema, refused: readonly string[]): string[] {
  return refused.filter((keyword) => schema[keyword] !== undefined).map((keyword) => `${keyword} at the top level`)
}

function namesBeyond(schema: Schema, names: RegExp): string[] {
  return Object.keys(record(schema['properties']))
    .filter((name) => !names.test(name))
    .map((name) => `Property keys should match pattern: ${name}`)
}

function closedFaults(schema: Schema): string[] {
  if (!hasType(schema, 'object')) return []
  return [
    ...(schema['additionalProperties'] === false ? [] : ['additionalProperties must be false']),
    ...(isRecord(schema['properties']) ? [] : ['object schema missing properties']),
  ]
}

function typeFaults(schema: Schema): string[] {
  const isTyped = schema['type'] !== undefined || schema['anyOf'] !== undefined || schema['$ref'] !== undefined
  return isTyped ? [] : ["schema must have a 'type' key"]
}

function itemFaults(schema: Schema): string[] {
  return hasType(schema, 'array') && !isRecord(schema['items']) ? ['array schema missing items'] : []
}

function constantFaults(schema: Schema, types: readonly string[]): string[] {
  const values = [...list(schema['enum']), ...(Object.hasOwn(schema, 'const') ? [schema['const']] : [])]
  return values
    .filter((value) => !types.includes(value === null ? 'null' : typeof value))
    .map((value) => `constant ${JSON.stringify(value)}`)
}

function patternFaults({ pattern = '' }: Schema): string[] {
  return /\(\?[=!<]|\\[1-9]/.test(String(pattern)) ? [`pattern ${String(pattern)}`] : []
}

function unrequired(schema: Schema): string[] {
  return Object.keys(record(schema['properties'])).filter((name) => !list(schema['required']).includes(name))
}

function hasType(schema: Schema, type: string): boolean {
  return list(schema['type']).includes(type) || schema['type'] === type
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function record(value: unknown): Schema {
  return isRecord(value) ? value : {}
}

function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
