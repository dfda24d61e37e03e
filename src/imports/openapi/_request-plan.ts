import { bodyPlan, editedSchema, isJsonType, schemaProperties, type BodyPlan } from './_bodies.ts'
import { entriesOf, isNode, listMember, memberOf, OperationFault, quotedFromDocument } from './_document.ts'
import { resolved, textMember, type ApiDocument, type DocumentNode } from './_document.ts'
import { isHeaderName, joinsLabelsByCommas, requestPlace, type FoundOperation } from './_operations.ts'
import type { OperationOptions } from './_options.ts'
import type { Serialization } from './_parameters.ts'
import { defineOwn } from './_schemas.ts'

const parameterPlaces = ['path', 'query', 'header', 'cookie']
/** These say how a request is carried, and are no matter of a model. */
const headersOfTransport =
  /^(?:cookie|host|content-length|transfer-encoding|connection|proxy-.*|sec-.*|upgrade|te|trailer|expect|keep-alive)$/i
const ignoredHeaders = /^(?:accept|content-type|authorization)$/i

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

/** A parameter as it stands in a document. */
interface NamedParameter {
  readonly name: string
  readonly place: string
  readonly node: DocumentNode
}

/** The args of an operation, while its request is planned. */
interface PlannedArgs {
  readonly names: Set<string>
  readonly properties: Record<string, unknown>
  readonly examples: Record<string, unknown>
  readonly required: string[]
}

/** Plans the requests of an operation. @throws {OperationFault} if there can be none. */
export function requestPlan(
  document: ApiDocument,
  { item, node, operation: { path, method } }: FoundOperation,
  settings: PlanSettings,
): RequestPlan {
  const { root } = document
  const mayHaveBody = method !== 'GET' && method !== 'HEAD'
  const args: PlannedArgs = { names: new Set(mayHaveBody ? ['body'] : []), properties: {}, examples: {}, required: [] }
  const reserved = new Set(settings.taken)
  const found = parametersOf(root, item, node, path)
  const idempotencyHeader = idempotencyHeaderOf(found, method, settings)
  const parameters = found
    .filter((parameter) => isPlanned(parameter, settings, idempotencyHeader))
    .map((parameter) => plannedParameter(root, parameter, settings, args, reserved))
  const [body, fixedBody] = mayHaveBody ? plannedBody(root, node, settings, args) : []
  const { properties, required, examples } = args
  return {
    path: path.replace(/#.*/s, ''), // what is sent to no server tells operations apart in some documents
    method,
    parameters,
    reserved,
    body,
    fixedBody: fixedBody ?? [],
    idempotencyHeader,
    byComma: joinsLabelsByCommas(document),
    inputSchema: { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false },
    examples: Object.keys(examples).length === 0 ? [] : [examples],
  }
}

/** Whether the model or the application gives a parameter. Credentials and the key of the call are put in elsewhere. */
function isPlanned(
  { name, place }: NamedParameter,
  { taken }: PlanSettings,
  idempotencyHeader: string | undefined,
): boolean {
  if (taken.has(requestPlace(place, name))) return false
  if (place !== 'header') return true
  if (name.toLowerCase() === idempotencyHeader?.toLowerCase()) return false
  if (headersOfTransport.test(name))
    throw new OperationFault(`its header ${quotedFromDocument(name)} belongs to the transport`)
  if (!isHeaderName(name)) throw new OperationFault(`${quotedFromDocument(name)} is no name of a header`)
  return true
}

/** Plans a parameter, and its arg unless the application fixes its value. */
function plannedParameter(
  root: DocumentNode,
  { name, place, node }: NamedParameter,
  { fixed, used }: PlanSettings,
  args: PlannedArgs,
  reserved: Set<string>,
): PlannedParameter {
  const [media] = entriesOf(node, 'content')
  const planned = {
    name,
    place,
    style: textMember(node, 'style'),
    explode: memberOf(node, 'explode') as boolean | undefined,
    allowReserved: memberOf(node, 'allowReserved') === true,
    isJson: media !== undefined && isJsonType(media[0]),
  }
  if (fixed.has(name)) {
    used.add(name)
    reserved.add(`${place} ${name}`)
    return { ...planned, arg: undefined, fixed: fixed.get(name) }
  }
  const { names } = args
  const arg = names.has(name) ? `${name}_${place}` : name
  if (names.has(arg)) throw new OperationFault(`two of its parameters are called ${quotedFromDocument(arg)}`)
  names.add(arg)
  const schema = memberOf(media === undefined ? node : media[1], 'schema') ?? {}
  putArg(args, arg, withDescription(root, schema, node), exampleOf(root, node), place === 'path' || isRequired(node))
  return { ...planned, arg }
}

/** Plans the body, and its arg. */
function plannedBody(
  root: DocumentNode,
  node: DocumentNode,
  { fixed, used, options }: PlanSettings,
  args: PlannedArgs,
): readonly [body?: BodyPlan, fixedBody?: readonly FixedMember[]] {
  const requestBody = resolved(root, memberOf(node, 'requestBody'))
  const content = memberOf(requestBody, 'content')
  const body = bodyPlan(root, content, options.mediaType)
  if (body === undefined) {
    const types = isNode(content) ? Object.keys(content).slice(0, 5) : []
    if (types.length === 0) return []
    throw new OperationFault(`its body is of no kind that can be sent: ${types.map(quotedFromDocument).join(', ')}`)
  }
  const members = fixedMembers(root, body, fixed)
  const filled = members.filter(({ isFilled }) => isFilled)
  for (const { pointer } of filled) used.add(pointer)
  const schema = members.reduce((each, { steps }) => withoutMember(root, each, steps), body.schema)
  const isNeeded = isRequired(requestBody) && filled.length === 0
  putArg(args, 'body', withDescription(root, schema, requestBody), exampleOf(root, body.media), isNeeded)
  return [body, members]
}

function isRequired(node: unknown): boolean {
  return memberOf(node, 'required') === true
}

function putArg(args: PlannedArgs, arg: string, schema: unknown, example: unknown, isNeeded: boolean): void {
  defineOwn(args.properties, arg, schema)
  if (isNeeded) args.required.push(arg)
  if (example !== undefined) defineOwn(args.examples, arg, example)
}

/** Returns the parameters of an operation, those of its path item overridden. A part of the path without one is a text. */
function parametersOf(root: DocumentNode, item: DocumentNode, node: DocumentNode, path: string): NamedParameter[] {
  const found = new Map<string, NamedParameter>()
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
    found.set(`${place} ${name}`, { name, place, node: parameter })
  }
  for (const name of template) {
    if (!found.has(`path ${name}`))
      found.set(`path ${name}`, { name, place: 'path', node: { schema: { type: 'string' } } })
  }
  return [...found.values()]
}

function idempotencyHeaderOf(
  parameters: readonly NamedParameter[],
  method: string,
  settings: PlanSettings,
): string | undefined {
  if (method !== 'POST' && method !== 'PATCH') return undefined
  const wanted = settings.options.idempotency ?? settings.idempotency
  if (typeof wanted === 'string') return wanted
  if (wanted !== undefined) return wanted ? 'Idempotency-Key' : undefined
  return parameters.find(({ name, place }) => place === 'header' && name.toLowerCase() === 'idempotency-key')?.name
}

/** Returns a schema with the description of what it is of, if it has none itself. */
function withDescription(root: DocumentNode, schema: unknown, holder: unknown): unknown {
  const description = textMember(holder, 'description')
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
