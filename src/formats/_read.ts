import type { ToolCall } from '../index.ts'

// Messages come from models, proxies and files: nothing of their shape is taken for granted here, and nothing throws.

/** Any object of a message. */
export type Fields = Readonly<Record<string, unknown>>

/** Whether a value is an object and no array. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a path, or `undefined` where there is none; results of client libraries have getters that throw. */
export function read(value: unknown, ...path: readonly (string | number)[]): unknown {
  try {
    let found = value
    for (const key of path) {
      if (typeof found !== 'object' || found === null) return undefined
      found = Reflect.get(found, key)
    }
    return found
  } catch {
    return undefined
  }
}

/** The items of an array; none of anything else. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The `type` of a part of a message, or the empty string. */
export function typeOf(part: unknown): string {
  return text(read(part, 'type'))
}

/** A string as it is, the empty string for anything else. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Returns the calls that have no answer yet. The n-th answer with an id belongs to the n-th call with that id, since models
 * repeat ids; an answer without an id belongs to no call.
 */
export function unanswered(calls: readonly unknown[], answers: readonly unknown[], idName: string): unknown[] {
  const counts = new Map<unknown, number>()
  for (const answer of answers) {
    const id = read(answer, idName)
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return calls.filter((call) => {
    const id = read(call, idName)
    const count = counts.get(id) ?? 0
    if (count > 0) counts.set(id, count - 1)
    return count === 0
  })
}

/**
 * A call as the kernel takes it. A name that is missing becomes the empty string, which no tool has: the call is refused,
 * and so answered, as every provider wants it.
 */
export function toolCall(id: unknown, name: unknown, args: unknown): ToolCall {
  return {
    ...(typeof id === 'string' || typeof id === 'number' ? { id } : undefined),
    name: text(name),
    ...(args === undefined ? undefined : { args }),
  }
}
