import type { ToolCall } from '../index.ts'
import type { CallingProgram } from '../extension.ts'

// Messages come from models, proxies and files: these functions assume no shape and never throw.

/** Any object of a message. */
export type Fields = Readonly<Record<string, unknown>>

/** Returns whether a value is an object but not an array. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value at a path, or `undefined`. Results of client libraries have getters that throw. */
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

/** Returns an array unchanged, or an empty list for any other value. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the `type` of a part of a message, or the empty string. */
export function typeOf(part: unknown): string {
  return text(read(part, 'type'))
}

/** Returns a string unchanged, or the empty string for any other value. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Returns the calls that have no answer yet. The n-th answer with an id belongs to the n-th call with that id, since models
 * repeat ids. Answers without an id are ignored.
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
 * Returns a call for the kernel. A missing name becomes the empty string, which no tool has. The kernel then refuses the
 * call, so that it is answered: providers require an answer to every call.
 */
export function toolCall(id: unknown, name: unknown, args: unknown, program?: CallingProgram): ToolCall {
  return {
    ...(typeof id === 'string' || typeof id === 'number' ? { id } : undefined),
    name: text(name),
    ...(args === undefined ? undefined : { args }),
    ...(program === undefined ? undefined : { program }),
  }
}
