import { pathText } from './uncanonical.ts'
import { InvalidToolResultError } from './errors.ts'
import { parseJson } from './parse.ts'

const maximumDepth = 1_000

/**
 * Writes a result as JSON text, and refuses what JSON would lose without a word.
 *
 * @throws `E_INVALID_TOOL_RESULT` with the path of what cannot be kept.
 */
export function jsonText(value: unknown): string {
  let text: string | undefined
  try {
    refuseLosses(value, [])
    text = JSON.stringify(value)
  } catch (cause) {
    if (cause instanceof InvalidToolResultError) throw cause
    throw new InvalidToolResultError('The result cannot be written as JSON.', { cause })
  }
  if (text === undefined) throw lost(value, [])
  return text
}

/**
 * Reads JSON text that was written by us or kept for somebody. V8's own reader (13.6) can give a wrong key where one has an
 * escape in it: where that may be so, the strict reader goes first, and V8 reads only what its strictness refuses.
 */
export function readText(text: string): unknown {
  if (!/[{,]\s*"[^"]*\\/.test(text)) return JSON.parse(text) as unknown
  try {
    return parseJson(text, { limit: Infinity, depth: maximumDepth })
  } catch {
    return JSON.parse(text) as unknown
  }
}

function refuseLosses(value: unknown, path: PropertyKey[]): void {
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) throw lost(value, path)
      return
    case 'bigint':
    case 'function':
    case 'symbol':
      throw lost(value, path)
    case 'object':
      if (value !== null) refuseLossesWithin(value, path)
      return
    default: // strings, booleans, and what JSON leaves out
  }
}

function refuseLossesWithin(value: object, path: PropertyKey[]): void {
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return // it speaks for itself
  if (path.length > maximumDepth) throw tooDeep(path)
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      path.push(index)
      refuseLosses(value[index], path)
      path.pop()
    }
    return
  }
  if (isLossy(value)) throw lost(value, path)
  for (const key of Object.keys(value)) {
    path.push(key)
    refuseLosses((value as Record<string, unknown>)[key], path)
    path.pop()
  }
}

/** Objects whose contents are not their own enumerable fields: as JSON they would be empty, or nonsense. */
function isLossy(value: object): boolean {
  if (value instanceof Error || ArrayBuffer.isView(value)) return true
  if (Symbol.iterator in value || Symbol.asyncIterator in value || 'getReader' in value) return true
  if (Object.keys(value).length > 0) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== null && Object.getPrototypeOf(prototype) !== null // an instance, of which nothing would be left
}

function lost(value: unknown, path: readonly PropertyKey[]): InvalidToolResultError {
  const what = typeof value === 'object' && value !== null ? `a ${nameOf(value)}` : `${typeof value} ${String(value)}`
  const message = `JSON cannot hold ${what.slice(0, 80)}`
  return new InvalidToolResultError(
    `The result cannot be kept: ${message}${path.length === 0 ? '' : ` (at ${pathText(path, 'result').slice(0, 200)})`}. Return a plain value instead.`,
    {
      issues: [{ message, path: [...path] }],
    },
  )
}

function tooDeep(path: readonly PropertyKey[]): InvalidToolResultError {
  const message = `it is nested deeper than ${maximumDepth} levels, or refers to itself`
  return new InvalidToolResultError(
    `The result cannot be kept: ${message}, from ${JSON.stringify(String(path[0]))} on.`,
    {
      issues: [{ message, path: path.slice(0, 8) }],
    },
  )
}

function nameOf(value: object): string {
  const { constructor } = value as { constructor?: { name?: unknown } }
  return typeof constructor?.name === 'string' && constructor.name !== '' ? constructor.name : 'object'
}
