import type { ToolCall } from '../index.ts'
import type { CallingProgram } from '../extension.ts'

// Messages come from models, proxies and files: these functions assume no shape and never throw.

/** Any object of a message. */
export type Fields = Readonly<Record<string, unknown>>

/**
 * Returns whether a value is an object but not an array.
 *
 * @example
 * ```ts
 * import { isObject } from 'toolwright/formats/kit'
 *
 * const message: unknown = { parts: [] }
 * const parts = isObject(message) ? message['parts'] : undefined
 * ```
 * @experimental
 */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns the value at a path, or `undefined`. Never throws: results of client libraries have getters that throw.
 *
 * @param value Anything.
 * @param path The names of fields and the indexes of arrays, from the outside in.
 * @example
 * ```ts
 * import { read } from 'toolwright/formats/kit'
 *
 * const message: unknown = { replies: [{ text: 'Hello' }] }
 * const words = read(message, 'replies', 0, 'text') // Hello
 * ```
 * @experimental
 */
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

/**
 * Returns an array unchanged, or an empty list for any other value.
 *
 * @example
 * ```ts
 * import { list, read } from 'toolwright/formats/kit'
 *
 * const partsOf = (message: unknown): readonly unknown[] => list(read(message, 'parts'))
 * ```
 * @experimental
 */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the `type` of a part of a message, or the empty string. */
export function typeOf(part: unknown): string {
  return text(read(part, 'type'))
}

/**
 * Returns a string unchanged, or the empty string for any other value.
 *
 * @example
 * ```ts
 * import { read, text } from 'toolwright/formats/kit'
 *
 * const kindOf = (part: unknown): string => text(read(part, 'kind'))
 * ```
 * @experimental
 */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Returns the calls that have no answer yet. The n-th answer with an id belongs to the n-th call with that id, since models
 * repeat ids. Answers without an id are ignored. For messages that hold answers too, such as those of calls that the provider ran.
 *
 * @param calls The provider's calls, as they stand in the message.
 * @param answers The provider's answers, as they stand in the message.
 * @param idName The field that has the id, in both.
 * @example
 * ```ts
 * import { unanswered } from 'toolwright/formats/kit'
 *
 * const open = unanswered([{ call: 'a' }, { call: 'b' }], [{ call: 'a', text: 'Done' }], 'call') // [{ call: 'b' }]
 * ```
 * @experimental
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
 *
 * @param id What the message has as id. What is no text and no number is left out.
 * @param name What the message has as name.
 * @param args JSON text or a value, as the model wrote it.
 * @param program The program that made the call. Default: the model made it.
 * @example
 * ```ts
 * import { read, toolCall } from 'toolwright/formats/kit'
 *
 * const part: unknown = { id: 'x', tool: 'add', input: { a: 1 } }
 * const call = toolCall(read(part, 'id'), read(part, 'tool'), read(part, 'input')) // { id: 'x', name: 'add', args: { a: 1 } }
 * ```
 * @experimental
 */
export function toolCall(id: unknown, name: unknown, args: unknown, program?: CallingProgram): ToolCall {
  return {
    ...(typeof id === 'string' || typeof id === 'number' ? { id } : undefined),
    name: text(name),
    ...(args === undefined ? undefined : { args }),
    ...(program === undefined ? undefined : { program }),
  }
}
