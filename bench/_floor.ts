// The least that a call can cost which is checked and identified: done by hand, with the libraries that people take for it, or
// tight, with a canonical writer that knows what it is given.
import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import canonicalize from 'canonicalize'
import type { StandardSchemaV1 } from 'toolwright'

/** Validation, canonical JSON, a hash, the handler, and two events. @param write Default: `canonicalize`. */
export function floorOf(
  name: string,
  schema: StandardSchemaV1,
  handler: (input: never) => unknown,
  write: (value: unknown) => string | undefined = canonicalize,
): (args: unknown) => Promise<unknown> {
  const emitter = new EventEmitter()
  return async (args) => {
    const result = schema['~standard'].validate(args)
    if (result instanceof Promise || result.issues) throw new Error('invalid')
    const callId = createHash('sha256')
      .update(write({ tool: name, args }) ?? '')
      .digest('hex')
    emitter.emit('start', { callId })
    const value = await handler(result.value as never)
    emitter.emit('end', { callId })
    return value
  }
}

// oxlint-disable-next-line eslint/no-control-regex -- JSON escapes these
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/

/**
 * Canonical JSON of a plain tree, written as one would by hand for a call whose shape is known: few members with plain names in
 * each object, and no check of cycles, depth, size, surrogates, numbers, getters or `toJSON`.
 */
export function tightly(value: unknown): string {
  if (typeof value === 'string') return escaped.test(value) ? JSON.stringify(value) : `"${value}"`
  if (typeof value !== 'object' || value === null) return `${value as number | boolean | null}`
  if (Array.isArray(value)) {
    let list = '['
    for (let index = 0; index < value.length; index++) list += (index === 0 ? '' : ',') + tightly(value[index])
    return `${list}]`
  }
  const members = value as Readonly<Record<string, unknown>>
  const names = inOrder(Object.keys(members))
  let text = '{'
  for (let index = 0; index < names.length; index++) {
    const name = names[index]!
    text += `${index === 0 ? '"' : ',"'}${name}":${tightly(members[name])}`
  }
  return `${text}}`
}

/** Sorts a few names in place, by insertion: for so few, faster than the engine's own. */
function inOrder(names: string[]): string[] {
  for (let index = 1; index < names.length; index++) {
    const name = names[index]!
    let before = index - 1
    while (before >= 0 && names[before]! > name) names[before + 1] = names[before--]!
    names[before + 1] = name
  }
  return names
}
