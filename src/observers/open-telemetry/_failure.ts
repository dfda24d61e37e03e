import type { ToolEventOf } from '../../index.ts'
import { headOf } from '../_line.ts'
import { other } from './_conventions.ts'

const longestFailureWords = 1_000

/** The recorded data of an error. */
export interface SpanFailure {
  /** The code of the error. */
  readonly type: string
  /** The message, without content that is not recorded otherwise. */
  readonly words?: string
  /** Whether a policy or an approver refused the call. A refusal is not an error of the span. */
  readonly isVerdict: boolean
}

interface ErrorFields {
  readonly code?: unknown
  readonly message?: unknown
  readonly cause?: unknown
  readonly issues?: readonly { readonly path: readonly PropertyKey[] }[]
}

/**
 * Reads the failure of a settled call. A custom error may throw when it is read.
 *
 * @param isRecorded Returns whether the content that an error with this code may quote is recorded.
 */
export function failureOf(
  { status, error }: ToolEventOf<'call:settled'>,
  isRecorded: (code: string) => boolean,
): SpanFailure | undefined {
  if (status === 'ok') return undefined
  try {
    const { code, message, issues, cause } = error as ErrorFields
    const type = typeof code === 'string' ? code : other
    const isVerdict = status === 'denied' && type === 'E_TOOL_DENIED' && cause === undefined
    if (typeof message !== 'string') return { type, isVerdict }
    const isQuoting = issues !== undefined && type.startsWith('E_INVALID_TOOL_') && !isRecorded(type)
    return { type, isVerdict, words: headOf(isQuoting ? issuePlaces(issues) : message, longestFailureWords) }
  } catch {
    return { type: other, isVerdict: false }
  }
}

function issuePlaces(issues: NonNullable<ErrorFields['issues']>): string {
  const places = issues.map(({ path }) => `/${path.map(String).join('/')}`)
  return `Not valid at ${places.join(', ')}`
}
