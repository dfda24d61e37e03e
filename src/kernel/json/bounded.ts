import { isLonger, shortened, utf8Length } from './text.ts'

/** Stands in events and records for a value that is too large for them. */
export interface Truncated {
  readonly truncated: true
  /** Bytes of a text; for any other value, the bytes of JSON that were counted before the count stopped. */
  readonly byteLength: number
  /** The beginning of the text, or of the JSON. */
  readonly head: string
}

const headLength = 1_024

interface Measure {
  readonly limit: number
  size: number
  head: string
}

/**
 * Returns the value itself if it has at most `limit` bytes as JSON, else a stub. The count stops at the limit, so cycles and
 * repeated objects cost no more.
 *
 * @param limit Bytes of UTF-8; an escape counts as the character that it stands for.
 */
export function bounded(value: unknown, limit: number): unknown {
  if (typeof value === 'string') {
    if (!isLonger(value, limit)) return value
    return { truncated: true, byteLength: utf8Length(value), head: shortened(value, headLength) }
  }
  if (typeof value !== 'object' || value === null) return value
  const measure: Measure = { limit, size: 0, head: '' }
  try {
    if (fits(value, measure)) return value
  } catch {
    // it is too deep, or throws while it is read
  }
  return { truncated: true, byteLength: measure.size, head: shortened(measure.head, headLength) }
}

function fits(value: unknown, measure: Measure): boolean {
  if (typeof value === 'string')
    return add(measure, quoted(value), (value.length > measure.limit ? value.length : utf8Length(value)) + 2)
  if (typeof value !== 'object' || value === null) return add(measure, String(value))
  if (ArrayBuffer.isView(value)) return add(measure, '[bytes]', value.byteLength)
  if (Array.isArray(value)) {
    if (!add(measure, '[')) return false
    for (let index = 0; index < value.length; index++) {
      if ((index > 0 && !add(measure, ',')) || !fits(value[index], measure)) return false
    }
    return add(measure, ']')
  }
  if (!add(measure, '{')) return false
  let separator = ''
  for (const key of Object.keys(value)) {
    if (!add(measure, `${separator}${quoted(key)}:`, key.length + 4)) return false
    if (!fits((value as Record<string, unknown>)[key], measure)) return false
    separator = ','
  }
  return add(measure, '}')
}

function add(measure: Measure, text: string, bytes = text.length): boolean {
  measure.size += bytes
  if (measure.head.length < headLength) measure.head += text
  return measure.size <= measure.limit
}

function quoted(text: string): string {
  return JSON.stringify(shortened(text, headLength))
}
