/**
 * Makes tools of the operations of an OpenAPI document, at run time. The executor validates, records and spools their calls, under
 * the application's policies. Credentials are made when a call runs, and never pass through the model.
 * This file fetches nothing but calls. It believes no document about where credentials go.
 *
 * @module
 */
import { isToolError, type Extension, type Tool } from '../index.ts'
import { InvalidConfigurationError, SchemaConversionError } from '../errors.ts'
import { callableNames, optionsError } from '../extension.ts'
import {
  listMember,
  memberOf,
  quotedFromDocument,
  readApiDocument,
  textMember,
  type ApiDocument,
} from './openapi/_document.ts'
import { isPrivateHost, isSafeForCredentials, originsOf } from './openapi/_hosts.ts'
import { faultWords, operationsOf } from './openapi/_operations.ts'
import {
  chosenFor,
  httpUrl,
  apiSettings,
  type ApiSettings,
  type OpenApiOptions,
  type ApiOperation,
} from './openapi/_options.ts'
import { DocumentSchemas, type Mend } from './openapi/_schemas.ts'
import { schemeNames } from './openapi/_security.ts'
import { omission, operationTool } from './openapi/_tools.ts'
import { workInTurns } from './openapi/_turns.ts'

export type {
  ApiAnswer,
  OpenApiLimits,
  OpenApiOptions,
  ApiOperation as Operation,
  OperationOptions,
} from './openapi/_options.ts'

/** An operation that gives no tool. */
export interface Omitted {
  /** Such as `GET /pets/{id}`. */
  readonly operation: string
  readonly why: string
}

/** The tools of an API, for `use`. */
export interface OpenApiTools extends Extension {
  /** Returns the tools: always the same array. A new document is a new `openapiTools`. */
  tools(): readonly Tool[]
  /** The operations that give no tool. Each is reported, too. */
  readonly omitted: readonly Omitted[]
  /** The operations that were taken, in the order of the tools. */
  readonly operations: readonly ApiOperation[]
}

/**
 * Makes tools of the operations of an OpenAPI document of version 3.0, 3.1 or 3.2, as an extension of an executor.
 *
 * One operation that cannot be used is left out and reported; the others are not affected. Nothing is fetched: the document comes
 * as an object or as text, and `$ref` leads only to places within it.
 *
 * @param document The document: an object, or the text of JSON or YAML. YAML needs the package `yaml`.
 * @param options Which operations to take, the address of the API, and the credentials for it.
 * @throws `E_INVALID_CONFIGURATION` if the document or an option cannot be used.
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { createExecutor } from 'toolwright'
 * import { openapiTools } from 'toolwright/imports/openapi'
 *
 * const api = await openapiTools(readFileSync('api.yaml', 'utf8'), {
 *   baseUrl: 'https://api.example.com/v1',
 *   auth: { token: async ({ principal }) => `token-of-${principal}` },
 *   only: ['tag:orders'],
 * })
 * const executor = createExecutor({ use: [api] })
 * ```
 * @see https://spec.openapis.org/oas/v3.1.1.html
 * @experimental
 */
export async function openapiTools(document: string | object, options: OpenApiOptions = {}): Promise<OpenApiTools> {
  const settings = apiSettings(options)
  try {
    return await toolsOfDocument(document, settings)
  } catch (thrown) {
    if (isToolError(thrown)) throw thrown
    // The application's own functions, and objects that throw when they are read.
    const words = `The tools of the OpenAPI document cannot be made: ${faultWords(thrown)}.`
    throw new InvalidConfigurationError(words, { cause: thrown })
  }
}

async function toolsOfDocument(document: unknown, settings: ApiSettings): Promise<OpenApiTools> {
  const read = await readApiDocument(document, settings.limits.document)
  requireSchemes(read, settings)
  const base = baseOf(read, settings)
  const omitted: Omitted[] = []
  const omit = (operation: string, why: string): void => {
    omitted.push({ operation, why })
    settings.report(omission(operation, why))
  }
  const unreadable: [string, string][] = []
  const found = operationsOf(read, (key, why) => unreadable.push([key, why]))
  const { only, rename, tools: byName, limits } = settings
  const isChosen = only !== undefined || rename !== undefined || byName !== undefined
  const selected = isChosen ? (await import('./openapi/_selection.ts')).selectedOperations(found, settings) : found
  if (only === undefined) for (const [key, why] of unreadable) omit(key, why)
  if (selected.length > limits.operations) {
    const counts = `${selected.length.toLocaleString('en')} operations, and at most ${limits.operations.toLocaleString('en')} are taken`
    throw optionsError('openapiTools', `finds ${counts}: name fewer in \`only\`, or raise \`limits.operations\``)
  }
  const names = callableNames(
    selected.map(({ operation }) => ({ key: operation.key, name: wantedName(operation, settings) })),
  )
  const mends = new Map<Mend, { count: number; readonly first: string }>()
  const schemas = new DocumentSchemas(read, (mend, what) => {
    const entry = mends.get(mend)
    if (entry === undefined) mends.set(mend, { count: 1, first: what })
    else entry.count++
  })
  const notes = new Set<string>()
  const note = (operation: string, words: string): void => {
    const line = `${operation}: ${words}`
    if (notes.size >= 10_000 || notes.has(line)) return
    notes.add(line)
    settings.report(new SchemaConversionError(`The operation ${quotedFromDocument(operation)} ${words}.`))
  }
  const used = new Set<string>()
  const tools: Tool[] = []
  const operations: ApiOperation[] = []
  const endOfTurn = workInTurns()
  for (const each of selected) {
    const { key } = each.operation
    try {
      tools.push(
        await operationTool(names.get(key) ?? key, each, { document: read, schemas, settings, base, used, note }),
      )
      operations.push(each.operation)
    } catch (error) {
      omit(key, faultWords(error))
    }
    await endOfTurn()
  }
  const idle = [...settings.fixed.keys()].find((name) => !used.has(name))
  if (idle !== undefined)
    throw optionsError('openapiTools', `finds no parameter and no body for ${quotedFromDocument(idle)} of \`fixed\``)
  for (const [mend, { count, first }] of mends)
    settings.report(new SchemaConversionError(mendWords(mend, count, first)))
  Object.freeze(tools)
  return { tools: () => tools, omitted, operations }
}

const mendReasons: Readonly<Record<Mend, string>> = {
  pattern: 'a pattern that cannot be checked safely is left out',
  required: 'a `required` that is no list is left out',
  enum: 'the same value stands twice in an `enum`',
  type: 'a type that JSON Schema has not is left out',
  allOf: 'an empty list of schemas is left out',
}

function mendWords(mend: Mend, count: number, first: string): string {
  return `Schemas of the document were mended: ${mendReasons[mend]} (${count} ${count === 1 ? 'time' : 'times'}, first ${first}).`
}

/** @throws `E_INVALID_CONFIGURATION` if `auth` names a scheme that the document has not. */
function requireSchemes(document: ApiDocument, { auth }: ApiSettings): void {
  const entry = schemeNames(document)
  const stranger = Object.keys(auth).find((name) => !entry.includes(name))
  if (stranger === undefined) return
  if (memberOf(memberOf(memberOf(document.root, 'components'), 'securitySchemes'), stranger) !== undefined)
    throw optionsError(
      'openapiTools',
      `takes nothing in \`auth\` for ${quotedFromDocument(stranger)}, which is a certificate: give a \`fetch\` that has it`,
    )
  const words = entry.length === 0 ? 'it has none' : `it has ${entry.slice(0, 20).map(quotedFromDocument).join(', ')}`
  throw new InvalidConfigurationError(
    `The document has no security scheme ${quotedFromDocument(stranger)} for \`auth\`; ${words}.`,
  )
}

/** Returns the address of the API. @throws `E_INVALID_CONFIGURATION` if neither the application nor the document says it. */
function baseOf({ root }: ApiDocument, { baseUrl, auth, hosts }: ApiSettings): URL {
  const unclear = hosts.find((host) => originsOf(host).length === 0)
  if (unclear !== undefined)
    throw optionsError(
      'openapiTools',
      `takes hosts such as "uploads.example.com" as \`hosts\`, not ${quotedFromDocument(unclear)}`,
    )
  if (baseUrl !== undefined) {
    if (Object.keys(auth).length === 0 || isSafeForCredentials(baseUrl)) return baseUrl
    throw optionsError('openapiTools', 'sends credentials only by https:, or to this machine: `baseUrl` is neither')
  }
  const address = textMember(listMember(root, 'servers')[0], 'url')
  const url = address === undefined || /[{}]/.test(address) ? undefined : httpUrl(address)
  if (url?.protocol === 'https:' && !isPrivateHost(url.hostname)) return url
  const what =
    address === undefined
      ? 'the document names no server'
      : `the server of the document is ${quotedFromDocument(address)}`
  const advice = address?.startsWith('/') === true ? `: give the whole address, with this path at its end` : ''
  throw optionsError(
    'openapiTools',
    `needs \`baseUrl\`: ${what}, and only a public one that begins with https: is taken from a document${advice}`,
  )
}

function wantedName(operation: ApiOperation, { rename }: ApiSettings): string {
  const renamed = typeof rename === 'function' ? rename(operation) : chosenFor(rename, operation)
  if (renamed !== undefined && !/^[a-zA-Z0-9_-]{1,64}$/.test(renamed)) {
    throw optionsError(
      'openapiTools',
      `takes 1 to 64 letters, digits, "_" and "-" as a name in \`rename\`, not ${quotedFromDocument(renamed)}`,
    )
  }
  return (
    renamed ??
    operation.id ??
    `${operation.method.toLowerCase()}_${operation.path.replace(/[^a-zA-Z0-9_-]+/g, '_').replace(/^_+|(?<!_)_+$/g, '')}`
  )
}
