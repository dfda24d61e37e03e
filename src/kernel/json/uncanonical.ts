import { UncanonicalArgsError } from '../errors.ts'
import { pathText } from './text.ts'

/** Makes the error for args that have no canonical form. The reason is a clause that also says what to do next. */
export function uncanonical(
  reason: string,
  path: readonly (PropertyKey | undefined)[],
  cause?: unknown,
): UncanonicalArgsError {
  const known = path.filter((key) => key !== undefined)
  const place = known.length > 0 ? ` at ${pathText(known)}` : ''
  const issues = [{ message: reason, path: known }]
  return new UncanonicalArgsError(`The args cannot be identified${place}: ${reason}.`, { issues, cause })
}

/** Makes the error for args that are too large. */
export function tooLarge(limit: number): UncanonicalArgsError {
  return uncanonical(`they are larger than ${limit} bytes of JSON. Send less, or a reference to it`, [])
}

const instead = new Map([
  ['Date', 'its toISOString()'],
  ['Map', 'Object.fromEntries(map)'],
  ['Set', 'an array of its values'],
  ['Promise', 'what it resolves to'],
  ['ArrayBuffer', 'base64 text'],
  ['bigint', 'a string of its digits'],
  ['undefined', 'null, or {} for no args'],
])

/** Returns the reason why a value is not JSON, and what to pass instead. */
export function whyNotJson(value: unknown): string {
  let kind: string = typeof value
  if (typeof value === 'object') {
    const name: unknown = value?.constructor?.name
    kind = typeof name === 'string' && name !== '' ? name.slice(0, 64) : 'class instance'
  }
  const next =
    instead.get(ArrayBuffer.isView(value) ? 'ArrayBuffer' : kind) ??
    (typeof value === 'object' ? 'a plain object' : 'data, or leave it out')
  const article = kind === 'undefined' ? '' : /^[aeiou]/i.test(kind) ? 'an ' : 'a '
  return `${article}${kind} is not JSON. Pass ${next}`
}
