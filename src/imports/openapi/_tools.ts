import { Tool, type ToolContext, type ToolTraits } from '../../index.ts'
import { SchemaConversionError } from '../../errors.ts'
import type { ErasedConfig } from '../../extension.ts'
import type { CallableOperation } from './_calls.ts'
import {
  documentText,
  entriesOf,
  isNode,
  memberOf,
  OperationFault,
  quotedFromDocument,
  textMember,
  type ApiDocument,
} from './_document.ts'
import { isSafeForCredentials, originsOf, type AllowedHosts } from './_hosts.ts'
import { operationSchema } from './_input-schema.ts'
import { isSafe, requestPlace, type FoundOperation } from './_operations.ts'
import { requestPlan, type RequestPlan } from './_request-plan.ts'
import {
  httpUrl,
  operationOptionChecks,
  operationOptions,
  type ApiSettings,
  type OperationOptions,
} from './_options.ts'
import { plannedSchemes, type PlannedScheme } from './_security.ts'
import type { ApiSource } from './_source.ts'

const longestToolDescription = 1_024

/** What calls need. It is loaded with the first one: many programs make tools that they never call. */
const calls = (): Promise<typeof import('./_calls.ts')> => import('./_calls.ts')

/** Makes the tool of an operation. @throws {OperationFault} and others if there can be none. */
export async function operationTool(name: string, found: FoundOperation, source: ApiSource): Promise<Tool> {
  const { document, settings } = source
  const { operation, node } = found
  const options = operationOptions(settings, operation)
  const {
    mediaType: _mediaType,
    accept,
    baseUrl: _baseUrl,
    idempotency: _idempotency,
    traits: own,
    hooks,
    examples,
    ...rest
  } = checkedOptions(options, operation.key)
  const hosts = hostsOf(found, options, source)
  const purpose = { host: hosts.base.host, operation: operation.key }
  const schemes = plannedSchemes(document, node, settings.auth, settings.fetch !== undefined, purpose)
  if (schemes.length > 0 && !isSafeForCredentials(hosts.base))
    throw new OperationFault('credentials are sent only by https:, or to this machine: its `baseUrl` is neither')
  const request = requestPlan(document, found, {
    fixed: settings.fixed,
    idempotency: settings.idempotency,
    options,
    taken: new Set([
      ...schemes.map(({ carrier, parameter }) => requestPlace(carrier, parameter)),
      ...apiKeyPlaces(document),
    ]),
    used: source.used,
  })
  const { inputSchema, examples: fitting } = await operationSchema(request, operation.key, source)
  const traits: ToolTraits = { ...traitsOf(request, settings), ...own }
  const isRepeatable = isSafe(request.method) || traits.idempotent === true || traits.readonly === true
  const callable: CallableOperation = { found, source, request, schemes, hosts, accept, isRepeatable }
  const outputSchema =
    settings.responses === 'strict' ? await (await calls()).strictAnswerSchema(node, source) : undefined
  let call: ReturnType<typeof import('./_calls.ts').operationCall> | undefined
  const config = {
    name,
    ...rest,
    description: rest.description ?? toolDescription(found),
    traits,
    meta: {
      ...rest.meta,
      openapi: { operation: operation.key, document: `${document.title ?? 'API'} ${document.apiVersion ?? ''}`.trim() },
    },
    examples: examples ?? fitting,
    inputSchema,
    ...(outputSchema && { outputSchema }),
    hooks: withConsent(hooks, schemes, rest.requiresConfirmation),
    handler: (input: unknown, context: ToolContext) => {
      const args = isNode(input) ? input : {}
      if (call !== undefined) return call(args, context)
      return calls().then(({ operationCall }) => (call ??= operationCall(callable))(args, context))
    },
  }
  return new Tool(config as unknown as ErasedConfig)
}

/** Asks for a person's consent after all other policies, if a credential may need it. */
function withConsent(
  hooks: OperationOptions['hooks'],
  schemes: readonly PlannedScheme[],
  confirmation: OperationOptions['requiresConfirmation'],
): OperationOptions['hooks'] {
  const asking = schemes.filter(({ options }) => options.ready !== undefined)
  // A consent is no confirmation: one answer is never taken for both.
  if (asking.length === 0 || (confirmation !== undefined && confirmation !== false)) return hooks
  let policy: ReturnType<typeof import('./_calls.ts').consentPolicy> | undefined
  return {
    ...hooks,
    preToolUse: async (call, context) => {
      const before = await hooks?.preToolUse?.(call, context)
      if (before !== undefined && before !== null) return before
      if (call.resumption !== undefined) return undefined
      policy ??= (await calls()).consentPolicy(asking)
      return policy(context)
    },
  }
}

function checkedOptions(options: OperationOptions, key: string): OperationOptions {
  for (const [name, { accepts, expected }] of Object.entries(operationOptionChecks)) {
    const value = options[name as keyof OperationOptions]
    if (value !== undefined && !accepts(value))
      throw new OperationFault(`the application gives no ${expected} as \`${name}\` of ${quotedFromDocument(key)}`)
  }
  return options
}

/** The headers and the like that hold keys of any scheme: a model is never asked for a key. */
function apiKeyPlaces({ root }: ApiDocument): string[] {
  return entriesOf(memberOf(root, 'components'), 'securitySchemes').flatMap(([, scheme]) => {
    const [type, place = '', name = ''] = ['type', 'in', 'name'].map((key) => textMember(scheme, key))
    return type === 'apiKey' ? [requestPlace(place, name)] : []
  })
}

/** Returns where the requests of an operation go. Servers of its own have to be named by the application. */
function hostsOf(
  { item, node }: FoundOperation,
  { baseUrl }: OperationOptions,
  { base, settings }: ApiSource,
): AllowedHosts {
  const origins = new Set(settings.hosts.flatMap(originsOf))
  const named = httpUrl(baseUrl)
  if (named !== undefined) return { base: named, isNamedInCode: true, origins }
  const isNamedInCode = settings.baseUrl !== undefined
  const servers = [memberOf(node, 'servers'), memberOf(item, 'servers')].find(Array.isArray) as unknown[] | undefined
  const address = servers?.length === 0 ? '/' : textMember(servers?.[0], 'url')
  if (address === undefined) return { base, isNamedInCode, origins }
  const url = /[{}]/.test(address) ? undefined : httpUrl(URL.parse(address, base.href) ?? '')
  if (url === undefined)
    throw new OperationFault(`its server ${quotedFromDocument(address)} is no address: give \`baseUrl\` in \`tools\``)
  if (url.origin !== base.origin && !origins.has(url.origin)) {
    throw new OperationFault(`it is served by another host: add \`hosts: [${JSON.stringify(documentText(url.host))}]\``)
  }
  // At the same origin, the address that the application gave says under which path the API is.
  return {
    base: isNamedInCode && url.origin === base.origin && !address.startsWith('/') ? base : url,
    isNamedInCode,
    origins,
  }
}

function toolDescription({ operation, node }: FoundOperation): string {
  const texts = [textMember(node, 'summary'), textMember(node, 'description')]
    .map((text) => documentText((text ?? '').slice(0, longestToolDescription * 2)).trim())
    .filter((text) => text !== '')
  const [summary = '', description = ''] = texts
  const isRepeated = description.startsWith(summary)
  const text = texts.length < 2 || !isRepeated ? texts.join(/[.!?:]$/.test(summary) ? ' ' : '. ') : description
  return `${operation.deprecated ? 'Deprecated. ' : ''}${cutAtSentence(text === '' ? operation.key : text)}`
}

function cutAtSentence(text: string): string {
  if (text.length <= longestToolDescription) return text
  const start = text.slice(0, longestToolDescription - 1)
  const end = Math.max(...['. ', '.\n', '! ', '? '].map((mark) => start.lastIndexOf(mark)))
  return end > longestToolDescription / 4 ? start.slice(0, end + 1) : `${start.replace(/[\ud800-\udbff]$/, '')}…`
}

/** Returns the traits of a method. A document is believed only if the application says where the API is. */
function traitsOf({ method, idempotencyHeader }: RequestPlan, { baseUrl }: ApiSettings): ToolTraits {
  const openWorld = true
  if (isSafe(method)) return { openWorld, readonly: baseUrl !== undefined, idempotent: true }
  if (method === 'PUT' || method === 'DELETE') return { openWorld, idempotent: true, destructive: true }
  return { openWorld, destructive: method === 'PATCH', idempotent: idempotencyHeader !== undefined }
}

/** Makes the error that tells why an operation is left out. */
export function omission(operation: string, why: string): SchemaConversionError {
  return new SchemaConversionError(`The operation ${quotedFromDocument(operation)} is left out: ${why}.`)
}
