import { SpooledArtifact } from '../../index.ts'
import type { Confirmed } from '../../extension.ts'
import { headOf } from '../_line.ts'

const longestContent = 16_384

// Registered symbols: the marks that `json` and `content` put on results.
const resultMarks = [Symbol.for('toolwright.json'), Symbol.for('toolwright.content')] as const

/**
 * Returns a string unchanged and any other value as JSON, cut at 16,384 characters.
 *
 * @returns `undefined` if the value has no JSON.
 */
export function attributeJson(value: unknown): string | undefined {
  try {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) as string | undefined)
    return text === undefined ? undefined : headOf(text, longestContent)
  } catch {
    return undefined // if it matters, the result of the call reports it
  }
}

/** Returns the text of a handler's result, with secrets masked. `undefined` for bytes, streams and artifacts. */
export function resultText(result: unknown, call: Confirmed): string | undefined {
  if (typeof result === 'object' && result !== null && hasNoJson(result)) return undefined
  let visibleValue: unknown
  try {
    visibleValue = call.redactor === undefined ? result : call.redactor.result(result)
  } catch {
    return undefined // as in `textOf`
  }
  if (typeof visibleValue !== 'object' || visibleValue === null) return attributeJson(visibleValue)
  const mark = resultMarks.find((each) => each in visibleValue)
  return attributeJson(mark === undefined ? visibleValue : (visibleValue as Record<symbol, unknown>)[mark])
}

function hasNoJson(value: object): boolean {
  return (
    ArrayBuffer.isView(value) ||
    Object.prototype.toString.call(value) === '[object ArrayBuffer]' || // of any realm
    value instanceof SpooledArtifact ||
    Symbol.asyncIterator in value ||
    'getReader' in value
  )
}
