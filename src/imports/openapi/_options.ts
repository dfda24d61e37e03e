import type { ToolOptions } from '../../index.ts'
import { checkOptions, functionOption, integerFrom, oneOf, optionsError, reporterOf } from '../../extension.ts'
import type { OptionCheck, OptionChecks } from '../../extension.ts'
import type { CredentialSource, Mint } from '../_minting.ts'
import { isNode } from './_document.ts'

/** An operation of a document. */
export interface ApiOperation {
  /** Such as `GET /pets/{id}`. */
  readonly key: string
  /** Its `operationId`, if it has one. */
  readonly id?: string
  readonly method: string
  readonly path: string
  readonly tags: readonly string[]
  readonly summary?: string
  readonly deprecated: boolean
  /** The names of the security schemes that it may need. */
  readonly security: readonly string[]
}

/** An answer of the API, as `failed` sees it. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  /** The JSON value, or the text. */
  readonly body: unknown
}

/** The options of one operation: those of a tool, but for what the document gives. */
export interface OperationOptions extends Partial<
  Omit<ToolOptions<never>, 'name' | 'jsonSchema' | 'inputSchema' | 'outputSchema'>
> {
  /** The media type of the body, if the first that fits is not wanted. One that is not known here is sent as text. */
  readonly mediaType?: string
  /** The header `Accept`. Default: JSON, if the operation declares it. */
  readonly accept?: string
  readonly baseUrl?: string | URL
  readonly idempotency?: boolean | string
}

/** The largest sizes. */
export interface OpenApiLimits {
  /** Characters of the document. Default: 67,108,864. */
  readonly document?: number
  /** Operations that are taken. Default: 2,000. */
  readonly operations?: number
  /** Characters of the JSON Schema that a model is shown; a larger one is cut, and args are checked by the whole. Default: 65,536. */
  readonly definition?: number
  /** Bytes of an answer of text or JSON. Default: 10,485,760. */
  readonly response?: number
  /** Bytes of any other answer, which goes to the store. Default: 1,073,741,824. */
  readonly binary?: number
  /** Redirects that are followed. Default: 5. */
  readonly redirects?: number
  /** Characters of the body of a failure that the model reads. Default: 4,096. */
  readonly error?: number
}

/** The options of `openapiTools`. */
export interface OpenApiOptions {
  /**
   * The address of the API. Required with `auth`, for private addresses, and if the document has none that is absolute. Default: the
   * first of the document's `servers`, if it is public and begins with `https:`.
   */
  readonly baseUrl?: string | URL
  /** Further hosts that operations or redirects may lead to, such as `uploads.example.com`. Default: none. */
  readonly hosts?: readonly string[]
  /** Which operations to take: `createPet`, `tag:pets`, `GET /pets/{id}` or `/pets/*`. Default: all. */
  readonly only?: readonly string[] | ((operation: ApiOperation) => boolean)
  /** Other names for tools, by `operationId` or as `GET /pets/{id}`. */
  readonly rename?: Readonly<Record<string, string>> | ((operation: ApiOperation) => string | undefined)
  /** Credentials, by the names that the document's `securitySchemes` have. */
  readonly auth?: Readonly<Record<string, CredentialSource | Mint>>
  /** Values that the model neither sees nor sets, or functions of the context: of parameters by name, of the body as `/body/tenant`. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** Headers of every request, which are no secrets. */
  readonly headers?: Readonly<Record<string, string>>
  readonly fetch?: typeof fetch
  /**
   * The header that has the `invocationId` for POST and PATCH: its name, or `true` for `Idempotency-Key`. Default: `Idempotency-Key`,
   * if the operation declares it.
   */
  readonly idempotency?: boolean | string
  /** What becomes of an answer that does not fit its schema: it is reported, it fails, or it is not checked. Default: `'report'`. */
  readonly responses?: 'report' | 'strict' | 'off'
  /** Returns why an answer with a status of success is a failure, if it is. */
  readonly failed?: (answer: ApiAnswer) => string | undefined
  /** Returns whether an answer with this status means that nothing has happened. Default: as the page of the imports says. */
  readonly refuses?: (status: number, operation: ApiOperation) => boolean
  readonly limits?: OpenApiLimits
  /** Options of single operations, by `operationId` or as `GET /pets/{id}`. */
  readonly tools?:
    Readonly<Record<string, OperationOptions>> | ((operation: ApiOperation) => OperationOptions | undefined)
  /** Is told what is left out, mended or cut, and which answers do not fit. Default: `console.error`. */
  readonly report?: (error: unknown) => void
}

const recordOption: OptionCheck = { expected: 'an object', accepts: isNode }
const recordOrFunction: OptionCheck = {
  expected: 'an object or a function',
  accepts: (value) => isNode(value) || typeof value === 'function',
}
const textList: OptionCheck = {
  expected: 'a list of texts',
  accepts: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
}
const addressOption: OptionCheck = {
  expected: 'an address that begins with http: or https:',
  accepts: (value) => httpUrl(value) !== undefined,
}
const idempotencyOption: OptionCheck = {
  expected: 'true, false or the name of a header',
  accepts: (value) => typeof value === 'boolean' || (typeof value === 'string' && /^[\w-]+$/.test(value)),
}

/** Returns an address of http or https without user and password. */
export function httpUrl(value: unknown): URL | undefined {
  const url = typeof value === 'string' || value instanceof URL ? URL.parse(String(value)) : null
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  return isHttp && url.username === '' && url.password === '' && url.search === '' ? url : undefined
}

type FilledOption = 'hosts' | 'auth' | 'responses' | 'report'

/** The options with their defaults. */
export interface ApiSettings
  extends
    Omit<OpenApiOptions, 'baseUrl' | 'fixed' | 'headers' | FilledOption>,
    Required<Pick<OpenApiOptions, FilledOption>> {
  readonly baseUrl: URL | undefined
  readonly fixed: ReadonlyMap<string, unknown>
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly limits: Required<OpenApiLimits>
}

const defaultLimits: Required<OpenApiLimits> = {
  document: 67_108_864,
  operations: 2_000,
  definition: 65_536,
  response: 10_485_760,
  binary: 1_073_741_824,
  redirects: 5,
  error: 4_096,
}

/** @throws `E_INVALID_CONFIGURATION` if an option is wrong or unknown. */
export function apiSettings(options: OpenApiOptions): ApiSettings {
  checkOptions('openapiTools', options, {
    baseUrl: addressOption,
    hosts: textList,
    only: {
      expected: 'a list of texts or a function',
      accepts: (value) => textList.accepts(value) || typeof value === 'function',
    },
    rename: recordOrFunction,
    auth: {
      expected: 'an object of credentials and functions',
      accepts: (value) => isNode(value) && Object.values(value).every((each) => typeof each === 'function'),
      isSecret: true,
    },
    fixed: recordOption,
    headers: { expected: 'an object of headers', accepts: areHeaderValues, isSecret: true },
    fetch: functionOption,
    idempotency: idempotencyOption,
    responses: oneOf('report', 'strict', 'off'),
    failed: functionOption,
    refuses: functionOption,
    limits: recordOption,
    tools: recordOrFunction,
    report: functionOption,
  })
  const limits: OpenApiLimits = options.limits ?? {}
  const limitNames = Object.keys(defaultLimits) as (keyof OpenApiLimits)[]
  const checks = limitNames.map((name) => [name, integerFrom(name === 'redirects' ? 0 : 1)])
  checkOptions('limits', limits, Object.fromEntries(checks) as OptionChecks<OpenApiLimits>)
  const { baseUrl, hosts = [], auth = {}, fixed = {}, headers = {}, responses = 'report' } = options
  if (Object.keys(auth).length > 0 && baseUrl === undefined) {
    throw optionsError(
      'openapiTools',
      'needs `baseUrl` with `auth`: a document does not choose where a credential goes',
    )
  }
  const ownLimits = Object.entries(limits).filter(([, limit]) => limit !== undefined)
  return {
    ...options,
    baseUrl: httpUrl(baseUrl),
    hosts: [...hosts],
    auth: { ...auth },
    fixed: new Map(Object.entries(fixed)),
    headers: Object.entries(headers),
    responses,
    limits: { ...defaultLimits, ...Object.fromEntries(ownLimits) },
    report: reporterOf(options.report),
  }
}

function areHeaderValues(value: unknown): boolean {
  try {
    return (
      isNode(value) &&
      Object.entries(value).every(([name, each]) => {
        // Other characters are sent as their UTF-8.
        return typeof each === 'string' && new Headers().set(name, each.replace(/[^\0-\x7f]/g, '.')) === undefined
      })
    )
  } catch {
    return false
  }
}

/** Returns the application's options for an operation. */
export function operationOptions({ tools }: ApiSettings, operation: ApiOperation): OperationOptions {
  if (typeof tools === 'function') return tools(operation) ?? {}
  return chosenFor(tools, operation) ?? {}
}

/** Returns the member of a record that an operation's id or key names. */
export function chosenFor<Value>(
  record: Readonly<Record<string, Value>> | undefined,
  { id, key }: ApiOperation,
): Value | undefined {
  if (record === undefined) return undefined
  return [id, key].flatMap((name) => (name !== undefined && Object.hasOwn(record, name) ? [record[name]] : []))[0]
}

export const operationOptionChecks: Readonly<Record<'mediaType' | 'accept' | 'baseUrl' | 'idempotency', OptionCheck>> =
  {
    mediaType: {
      expected: 'a media type',
      accepts: (value) => typeof value === 'string' && /^[\w.+*-]+\/[\w.+*-]+/.test(value),
    },
    accept: { expected: 'a text', accepts: (value) => typeof value === 'string' },
    baseUrl: addressOption,
    idempotency: idempotencyOption,
  }
