import { ToolFailure } from '../../index.ts'
import type { ToolErrorDetails } from '../../index.ts'
import { causesOf, refusedPortAdvice } from '../../extension.ts'
import { isSafe } from './_operations.ts'

type Category = NonNullable<ToolErrorDetails['category']>
/** What a failure says of the side effect. Nothing means that it is not known. */
export type KnownEffect = 'none' | 'completed' | undefined

/** What is known of the operation that failed. */
export interface FailedOperation {
  readonly method: string
  /** Whether the application allows to repeat it: by its method, or by a key. */
  readonly isRepeatable: boolean
  readonly hasKey: boolean
}

interface Refusal {
  readonly category: Category
  readonly isRetryable?: boolean
}

/** What says that nothing has happened. */
const refusals: ReadonlyMap<number, Refusal> = new Map(
  Object.entries({
    validation: [400, 422, 428],
    auth: [401, 403, 407],
    timeout: [408, 425],
    rate_limit: [429],
    application: [
      402, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 423, 424, 426, 431, 451, 501, 505,
    ],
  } satisfies Partial<Record<Category, number[]>>).flatMap(([category, statuses]) =>
    statuses.map((status): [number, Refusal] => [
      status,
      { category: category as Category, isRetryable: [408, 425, 429].includes(status) },
    ]),
  ),
)

/** Whether an answer with this status means that nothing has happened. */
export function refusesByStatus(status: number): boolean {
  return refusals.has(status)
}

/** Makes the failure of an answer. @param words What the model reads. @param hasRefused Whether nothing has happened. */
export function statusFailure(
  { status, headers }: Response,
  words: string,
  { method, isRepeatable, hasKey }: FailedOperation,
  hasRefused: boolean,
): ToolFailure {
  const { category = status >= 500 ? 'network' : 'application', isRetryable = status >= 500 && isRepeatable } =
    refusals.get(status) ?? {}
  const again = adviceOnRetry(headers)
  return new ToolFailure(words, {
    category,
    retryable: isRetryable || (status === 409 && hasKey),
    ...effectDetail(hasRefused || isSafe(method) ? 'none' : undefined),
    recommendations: again === undefined ? [] : [again],
  })
}

export function effectDetail(effect: KnownEffect): { readonly effect?: 'none' | 'completed' } {
  return effect === undefined ? {} : { effect }
}

/** Returns when to ask again, if the answer says so: in seconds, or as a date by the clock of the server. */
function adviceOnRetry(headers: Headers): string | undefined {
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const now = Date.parse(headers.get('date') ?? '') || Date.now()
  const seconds = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Math.ceil((Date.parse(text) - now) / 1_000)
  return Number.isFinite(seconds) ? `Try again in ${Math.max(0, seconds).toLocaleString('en')} s.` : undefined
}

const notConnected = new Set(
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT ConnectionRefused FailedToOpenSocket'.split(
    ' ',
  ),
)
/** What Deno says of a connection that was not made, without a code. An address has no spaces: none reads like this. */
const unconnectedInDeno = /\): client error \(Connect\): /
const certificates = /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

/** Makes the failure of a request that got no whole answer. The words are ours: what `fetch` throws may have the address. */
export function connectionFailure(thrown: unknown, { method, isRepeatable }: FailedOperation): ToolFailure {
  const advice = refusedPortAdvice(thrown)
  if (advice !== undefined)
    return new ToolFailure(`The request was not sent: ${advice}.`, { category: 'network', effect: 'none' })
  const causes = causesOf(thrown)
  const codes = causes.map((one) => one.code).filter((one) => /^\w{2,60}$/.test(one))
  const isUnsent =
    codes.length === 0
      ? causes.some(({ message }) => unconnectedInDeno.test(message))
      : codes.every((code) => notConnected.has(code) || certificates.test(code))
  const [code] = codes
  const words = isUnsent ? 'The API cannot be reached' : 'The connection to the API broke before the answer was whole'
  return new ToolFailure(`${words}${code === undefined ? '' : ` (${code})`}.`, {
    category: 'network',
    retryable: isUnsent || isRepeatable,
    ...effectDetail(isUnsent || isSafe(method) ? 'none' : undefined),
  })
}
