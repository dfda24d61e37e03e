// The least that a call can cost which is checked and identified: done by hand, with the libraries that people take for it.
import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import canonicalize from 'canonicalize'
import type { StandardSchemaV1 } from 'toolwright'

/** Validation, canonical JSON, a hash, the handler, and two events. */
export function floorOf(
  name: string,
  schema: StandardSchemaV1,
  handler: (input: never) => unknown,
): (args: unknown) => Promise<unknown> {
  const emitter = new EventEmitter()
  return async (args) => {
    const result = schema['~standard'].validate(args)
    if (result instanceof Promise || result.issues) throw new Error('invalid')
    const callId = createHash('sha256')
      .update(canonicalize({ tool: name, args }) ?? '')
      .digest('hex')
    emitter.emit('start', { callId })
    const value = await handler(result.value as never)
    emitter.emit('end', { callId })
    return value
  }
}
