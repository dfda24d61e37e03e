import { bodyPlan, editedSchema, isJsonType, schemaProperties, type BodyPlan } from './_bodies.ts'
import {
  entriesOf,
  isNode,
  listMember,
  memberOf,
  OperationFault,
  quotedFromDocument,
  documentLine,
  documentText,
  resolved,
  textMember,
} from './_document.ts'
import type { ApiDocument, DocumentNode } from './_document.ts'
import type { ApiOperation, OperationOptions } from './_options.ts'
import type { Serialization } from './_parameters.ts'
import { defineOwn } from './_schemas.ts'
import { alternativesOf } from './_security.ts'

const httpMethods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options']
const longestSummary = 1_024
const parameterPlaces = ['path', 'query', 'header', 'cookie']

/** An operation as it stands in a document. */
export interface FoundOperation {
  readonly operation: ApiOperation
  readonly item: DocumentNode
  readonly node: DocumentNode
}

/** Returns the operations of a document. One that cannot be read is told to `omit`. */
export function operationsOf({ root }: ApiDocument, omit: (key: string, why: string) => void): FoundOperation[] {
  const found: FoundOperation[] = []
  for (const [path, entry] of entriesOf(root, 'paths')) {
    if (!path.startsWith('/')) continue
    try {
      const item = resolved(root, entry)
      if (!isNode(item)) throw new OperationFault('its path item is not an object')
      for (const method of httpMethods) {
        if (!Object.hasOwn(item, method)) continue
        const node = item[method]
        const key = `${method.toUpperCase()} ${path}`
        if (isNode(node)) found.push({ operation: operationOf(root, key, path, method, node), item, node })
        else omit(key, 'it is not an object')
      }
      for (const method of ['query', 'additionalOperations']) {
        if (Object.hasOwn(item, method)) omit(`${method.toUpperCase()} ${path}`, 'its method is not known here')
      }
    } catch (error) {
      omit(documentText(path), faultWords(error))
    }
  }
  return found
}

function operationOf(root: DocumentNode, key: string, path: string, method: string, node: DocumentNode): ApiOperation {
  const [id, summary] = [textMember(node, 'operationId'), textMember(node, 'summary')]
  return Object.freeze({
    key: documentText(key),
    ...(id === undefined ? undefined : { id }),
    method: method.toUpperCase(),
    path,
    tags: listMember(node, 'tags').filter((tag) => typeof tag === 'string'),
    ...(summary === undefined ? undefined : { summary: documentText(summary.slice(0, longestSummary)) }),
    deprecated: memberOf(node, 'deprecated') === true,
    security: [...new Set(alternativesOf(root, node).flatMap(Object.keys))],
  })
}

/** Whether a method only reads. */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

/** Whether a text can be the name of a header. */
export function isHeaderName(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text)
}

/** Returns where a value of a request stands, such as `query api_key`. Names of headers are read in any case. */
export function requestPlace(place: string, name: string): string {
  const isHeader = place === 'header' || place === 'bearer' || place === 'basic'
  return isHeader ? `header ${name.toLowerCase()}` : `${place} ${name}`
}

/** Whether this version of OpenAPI joins what a label has by commas. Its tables said dots until 3.0.3 and 3.1.0. */
export function joinsLabelsByCommas({ version: [, minor, patch] }: ApiDocument): boolean {
  return minor === 0 ? patch >= 4 : minor > 1 || patch >= 1
}

/** Returns why an operation gives no tool. */
export function faultWords(error: unknown): string {
  try {
    return documentLine(error instanceof Error ? error.message : String(error), 500).replace(/\.$/, '')
  } catch {
    return 'it cannot be read'
  }
}

/** A parameter, and the arg that has its value. */
interface PlannedParameter extends Serialization {
  /** The arg. Missing if the value is fixed. */
  readonly arg: string | undefined
  readonly fixed?: unknown
  readonly place: string
  readonly isJson: boolean
}

/** A member of the body that the application fixes, and that no arg may have. */
interface FixedMember {
  readonly pointer: string
  readonly steps: readonly string[]
  readonly value: unknown
  /** Whether it is sent: a body that does not declare it is sent without. */
  readonly isFilled: boolean
}

/** What a request of an operation is made of. */
export interface RequestPlan {
  readonly path: string
  readonly method: string
  readonly parameters: readonly PlannedParameter[]
  /** What the application and credentials fill in, such as `query api_key`: no value of another parameter may have these keys. */
  readonly reserved: ReadonlySet<string>
  readonly body: BodyPlan | undefined
  readonly fixedBody: readonly FixedMember[]
  /** The header that has the `invocationId`. */
  readonly idempotencyHeader: string | undefined
  /** The schema of the args, as the document has it. */
  readonly inputSchema: DocumentNode
  readonly examples: readonly DocumentNode[]
  readonly byComma: boolean
}

/** What the application says about an operation. */
export interface PlanSettings {
  readonly fixed: ReadonlyMap<string, unknown>
  readonly idempotency: boolean | string | undefined
  readonly options: OperationOptions
  /** The headers and the like that credentials take, such as `query api_key`. */
  readonly taken: ReadonlySet<string>
  /** The names of `fixed` that were of use. */
  readonly used: Set<string>
}

/** These say how a request is carried, and are no matter of a model. */
const headersOfTransport =
  /^(?:cookie|host|content-length|transfer-encoding|connection|proxy-.*|sec-.*|upgrade|te|trailer|expect|keep-alive)$/i
const ignoredHeaders = /^(?:accept|content-type|authorization)$/i

/** Plans the requests of an operation. @throws {OperationFault} if there can be none. */
export function requestPlan(
  document: ApiDocument,
  { item, node, operation }: FoundOperation,
  settings: PlanSettings,
): RequestPlan {
  const { root } = document
  const { path, method } = operation
  const mayHaveBody = method !== 'GET' && method !== 'HEAD'
  const properties: Record<string, unknown> = {}
  const examples: Record<string, unknown> = {}
  const required: string[] = []
  const parameters: PlannedParameter[] = []
  const reserved = new Set(settings.taken)
  const args = new Set<string>(mayHaveBody ? ['body'] : [])
  const found = parametersOf(root, item, node, path)
  const idempotencyHeader = idempotencyHeaderOf([...found.values()], method, settings)
  for (const parameter of found.values()) {
    const [name = '', place = ''] = [textMember(parameter, 'name'), textMember(parameter, 'in')]
    if (settings.taken.has(requestPlace(place, name))) continue
    if (place === 'header' && name.toLowerCase() === idempotencyHeader?.toLowerCase()) continue
    if (place === 'header' && headersOfTransport.test(name))
      throw new OperationFault(`its header ${quotedFromDocument(name)} belongs to the transport`)
    if (place === 'header' && !isHeaderName(name))
      throw new OperationFault(`${quotedFromDocument(name)} is no name of a header`)
    const [media] = entriesOf(parameter, 'content')
    const planned = {
      name,
      place,
      style: textMember(parameter, 'style'),
      explode: memberOf(parameter, 'explode') as boolean | undefined,
      allowReserved: memberOf(parameter, 'allowReserved') === true,
      isJson: media !== undefined && isJsonType(media[0]),
    }
    if (settings.fixed.has(name)) {
      settings.used.add(name)
      reserved.add(`${place} ${name}`)
      parameters.push({ ...planned, arg: undefined, fixed: settings.fixed.get(name) })
      continue
    }
    const arg = args.has(name) ? `${name}_${place}` : name
    if (args.has(arg)) throw new OperationFault(`two of its parameters are called ${quotedFromDocument(arg)}`)
    args.add(arg)
    parameters.push({ ...planned, arg })
    const schema = memberOf(media === undefined ? parameter : media[1], 'schema') ?? {}
    defineOwn(properties, arg, describedParameter(root, schema, textMember(parameter, 'description')))
    if (place === 'path' || memberOf(parameter, 'required') === true) required.push(arg)
    const example = exampleOf(root, parameter)
    if (example !== undefined) defineOwn(examples, arg, example)
  }
  const requestBody = mayHaveBody ? resolved(root, memberOf(node, 'requestBody')) : undefined
  const content = memberOf(requestBody, 'content')
  const body = bodyPlan(root, content, settings.options.mediaType)
  const fixedBody = body === undefined ? [] : fixedMembers(root, body, settings.fixed)
  if (body === undefined && isNode(content) && Object.keys(content).length > 0) {
    throw new OperationFault(
      `its body is of no kind that can be sent: ${Object.keys(content).slice(0, 5).map(quotedFromDocument).join(', ')}`,
    )
  }
  if (body !== undefined) {
    for (const { pointer, isFilled } of fixedBody) if (isFilled) settings.used.add(pointer)
    const schema = fixedBody.reduce((each, { steps }) => withoutMember(root, each, steps), body.schema)
    defineOwn(properties, 'body', describedParameter(root, schema, textMember(requestBody, 'description')))
    if (memberOf(requestBody, 'required') === true && !fixedBody.some(({ isFilled }) => isFilled)) required.push('body')
    const example = exampleOf(root, body.media)
    if (example !== undefined) defineOwn(examples, 'body', example)
  }
  return {
    path: path.replace(/#.*/s, ''), // what is sent to no server tells operations apart in some documents
    method,
    parameters,
    reserved,
    body,
    fixedBody,
    idempotencyHeader,
    byComma: joinsLabelsByCommas(document),
    inputSchema: { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false },
    examples: Object.keys(examples).length === 0 ? [] : [examples],
  }
}

/** Returns the parameters of an operation, those of its path item overridden. A part of the path without one is a text. */
function parametersOf(
  root: DocumentNode,
  item: DocumentNode,
  node: DocumentNode,
  path: string,
): Map<string, DocumentNode> {
  const found = new Map<string, DocumentNode>()
  const template = new Set([...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name))
  for (const entry of [...listMember(item, 'parameters'), ...listMember(node, 'parameters')]) {
    const parameter = resolved(root, entry)
    const [name, place] = [textMember(parameter, 'name'), textMember(parameter, 'in')]
    if (!isNode(parameter) || name === undefined || name === '' || place === undefined) {
      throw new OperationFault('a parameter has no name or no place')
    }
    if (!parameterPlaces.includes(place))
      throw new OperationFault(
        `its parameter ${quotedFromDocument(name)} is in ${quotedFromDocument(place)}, which is not known here`,
      )
    if (place === 'header' && ignoredHeaders.test(name)) continue
    if (place === 'path' && !template.has(name)) continue
    found.set(`${place} ${name}`, parameter)
  }
  for (const name of template) {
    if (!found.has(`path ${name}`)) found.set(`path ${name}`, { name, in: 'path', schema: { type: 'string' } })
  }
  return found
}

function idempotencyHeaderOf(
  parameters: readonly DocumentNode[],
  method: string,
  settings: PlanSettings,
): string | undefined {
  if (method !== 'POST' && method !== 'PATCH') return undefined
  const wanted = settings.options.idempotency ?? settings.idempotency
  if (typeof wanted === 'string') return wanted
  if (wanted !== undefined) return wanted ? 'Idempotency-Key' : undefined
  const declared = parameters.find((each) => {
    return textMember(each, 'in') === 'header' && textMember(each, 'name')?.toLowerCase() === 'idempotency-key'
  })
  return textMember(declared, 'name')
}

/** Returns a schema with the description of its parameter, if it has none itself. */
function describedParameter(root: DocumentNode, schema: unknown, description: string | undefined): unknown {
  if (description === undefined || description === '' || !isNode(schema)) return schema
  if (memberOf(resolved(root, schema), 'description') !== undefined) return schema
  // Beside a reference, 3.0 ignores all others.
  return memberOf(schema, '$ref') === undefined ? { description, ...schema } : { description, allOf: [schema] }
}

function exampleOf(root: DocumentNode, holder: unknown): unknown {
  const [first] = entriesOf(holder, 'examples')
  const example = first === undefined ? undefined : memberOf(resolved(root, first[1]), 'value')
  return memberOf(holder, 'example') ?? example
}

function fixedMembers(root: DocumentNode, body: BodyPlan, fixed: ReadonlyMap<string, unknown>): FixedMember[] {
  if (body.kind === 'binary' || body.kind === 'text') return []
  const properties = schemaProperties(root, body.schema)
  return [...fixed].flatMap(([pointer, value]) => {
    if (!pointer.startsWith('/body/')) return []
    const steps = pointerKeys(pointer.slice(6))
    const isFilled = properties.length === 0 || properties.some(([name]) => name === steps[0])
    return [{ pointer, steps, value, isFilled }]
  })
}

function pointerKeys(pointer: string): string[] {
  return pointer.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns a schema without a member, which the application fixes. */
function withoutMember(root: DocumentNode, schema: unknown, [first = '', ...rest]: readonly string[]): unknown {
  return editedSchema(root, schema, (properties, required) => {
    if (rest.length > 0) {
      if (!Object.hasOwn(properties, first)) return [properties, required]
      return [{ ...properties, [first]: withoutMember(root, properties[first], rest) }, required]
    }
    const others = Object.entries(properties).filter(([name]) => name !== first)
    return [Object.fromEntries(others), required.filter((name) => name !== first)]
  })
}
