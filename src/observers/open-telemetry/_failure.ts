import type { ToolEventOf } from '../../index.ts'
import { start } from '../_line.ts'
import { other } from './_conventions.ts'

const longestWords = 1_000

/** What is told of an error. */
export interface Failure {
  /** Its code. */
  readonly type: string
  /** Words that show no content which is not recorded otherwise. */
  readonly words?: string
  /** Whether somebody said no: that is an outcome, and nobody's failure. */
  readonly isVerdict: boolean
}

interface Said {
  readonly code?: unknown
  readonly message?: unknown
  readonly cause?: unknown
  readonly issues?: readonly { readonly path: readonly PropertyKey[] }[]
}

/**
 * Reads what went wrong, from an error that may be of somebody's own making and break when it is read.
 *
 * @param isRecorded Whether the content that an error of this code speaks of is recorded: a validator's words may quote it.
 */
export function failureOf(
  { status, error }: ToolEventOf<'call:settled'>,
  isRecorded: (code: string) => boolean,
): Failure | undefined {
  if (status === 'ok' || status === 'pending') return undefined
  try {
    const { code, message, issues, cause } = error as Said
    const type = typeof code === 'string' ? code : other
    const isVerdict = status === 'denied' && type === 'E_TOOL_DENIED' && cause === undefined
    if (typeof message !== 'string') return { type, isVerdict }
    const isQuoting = issues !== undefined && type.startsWith('E_INVALID_TOOL_') && !isRecorded(type)
    return { type, isVerdict, words: start(isQuoting ? placesOf(issues) : message, longestWords) }
  } catch {
    return { type: other, isVerdict: false }
  }
}

function placesOf(issues: NonNullable<Said['issues']>): string {
  const places = issues.map(({ path }) => `/${path.map(String).join('/')}`)
  return `Not valid at ${places.join(', ')}`
}
