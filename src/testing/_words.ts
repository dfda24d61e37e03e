// Values and calls in words, for the messages of failures. Nothing that a value does makes these throw.
import { escapeDeceptive } from '../extension.ts'
import type { LoggedCall } from './_log.ts'

const mostShownCharacters = 160
const deepestShown = 8

/** Writes any value on one line of at most about 160 characters. */
export function valueWords(value: unknown, most = 160): string {
  const pieces: string[] = []
  let left = most
  const add = (text: string): void => {
    if (left <= 0) return
    pieces.push(text.length > left ? `${text.slice(0, left)}…` : text)
    left -= text.length
  }
  writeShown(value, add, () => left <= 0, deepestShown)
  return escapeDeceptive(pieces.join('').toWellFormed())
}

function writeShown(value: unknown, add: (text: string) => void, isFull: () => boolean, depth: number): void {
  if (isFull()) return
  try {
    if (typeof value === 'string') add(JSON.stringify(value.slice(0, mostShownCharacters * 2)))
    else if (typeof value === 'function') add(isSchema(value) ? 'a schema' : value.name || 'a function')
    else if (typeof value === 'bigint') add(`${value}n`)
    else if (typeof value !== 'object' || value === null || value instanceof RegExp) add(String(value))
    else if (value instanceof Date) add(String(value.getTime()))
    else if (isSchema(value)) add('a schema')
    else if (hasCallable(value, 'asymmetricMatch')) add(patternWords(value))
    else if (depth === 0) add('…')
    else if (Array.isArray(value)) writeMembers('[]', Object.keys(value), true)
    else writeMembers('{}', Object.keys(value), false)
  } catch {
    add('(cannot be read)')
  }

  function writeMembers([open = '', close = '']: string, keys: readonly string[], isList: boolean): void {
    add(open)
    for (const [index, key] of keys.entries()) {
      if (isFull()) return
      add(`${index === 0 ? '' : ','}${isList ? '' : `${JSON.stringify(key)}:`}`)
      writeShown(memberAt(value, key), add, isFull, depth - 1)
    }
    add(close)
  }
}

/** What stands in place of a value that cannot be shown as itself. It equals nothing. */
interface Placeholder {
  readonly asymmetricMatch: () => boolean
  readonly toString: () => string
}

function placeholderOf(words: string): Placeholder {
  return { asymmetricMatch: () => false, toString: () => words }
}

export const absent: Placeholder = placeholderOf('(absent)')
export const unreadableValue: Placeholder = placeholderOf('(cannot be read)')

/** Reads a member. If its getter throws, returns what says so. */
export function memberAt(value: unknown, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return unreadableValue
  }
}

export function hasCallable<Name extends string>(
  value: unknown,
  name: Name,
): value is Record<Name, (...values: unknown[]) => unknown> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof memberAt(value, name) === 'function'
  )
}

export interface Validating {
  readonly '~standard': { validate(value: unknown): unknown }
}

/** Whether a value is a Standard Schema. Those of ArkType are functions. */
export function isSchema(value: unknown): value is Validating {
  const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isHolder && hasCallable(memberAt(value, '~standard'), 'validate')
}

/** The words of a pattern of a runner, such as `Any<Number>`. */
function patternWords(pattern: object): string {
  for (const name of ['toAsymmetricMatcher', 'toString']) {
    const method = memberAt(pattern, name)
    const words: unknown = typeof method === 'function' ? Reflect.apply(method, pattern, []) : undefined
    if (typeof words === 'string') return words
  }
  return 'a pattern'
}

/** Writes two values that differ: of long texts what is around the place where they part. */
export function partingWords(expected: unknown, received: unknown): readonly [string, string] {
  const areTexts = typeof expected === 'string' && typeof received === 'string'
  if (!areTexts || Math.max(expected.length, received.length) <= mostShownCharacters) {
    return [valueWords(expected), valueWords(received)]
  }
  let parting = 0
  while (parting < expected.length && expected[parting] === received[parting]) parting++
  const from = Math.max(0, parting - 40)
  const around = (text: string): string => {
    const part = JSON.stringify(text.slice(from, from + 120))
    return escapeDeceptive(
      `${from > 0 ? '…' : ''}${part}${from + 120 < text.length ? '…' : ''} (${text.length} characters)`,
    )
  }
  return [around(expected), around(received)]
}

/** Writes a call and what became of it on one line. */
export function callWords({ tool, args, status, effect, error }: LoggedCall): string {
  const code = error === undefined ? '' : `, ${error.code}`
  return `${escapeDeceptive(tool)}(${args === undefined ? '' : valueWords(args)}) → ${status}, effect ${effect}${code}`
}

const mostShownCalls = 20

/** Lists calls, at most 20 of them. */
export function listWords(calls: readonly LoggedCall[]): string {
  if (calls.length === 0) return '  (nothing was called)'
  const lines = calls.slice(0, mostShownCalls).map((call, index) => `  ${index + 1}. ${callWords(call)}`)
  return [...lines, ...(calls.length > mostShownCalls ? [`  … and ${calls.length - mostShownCalls} more`] : [])].join(
    '\n',
  )
}
