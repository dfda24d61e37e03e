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
