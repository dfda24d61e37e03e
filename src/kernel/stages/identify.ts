import { callIdOf, canonicalize, identityOf } from '../json/canonical.ts'
import { copyOfJson } from '../json/copy.ts'
import { emit, isWatched } from '../call/emit.ts'
import { readText } from '../json/json-text.ts'
import { type Identified, type Identity, type Resolved, type Resumption, setIdentity } from '../call/parcel.ts'
import { parseArgs } from '../json/parse.ts'
import { type InvalidToolArgsError, JournalError, ToolError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'

/** Identifies the call: the canonical text of its args, and the hash of that text and the tool's name. */
export function identify(resolved: Resolved, kernel: Kernel): Identified {
  if (kernel.repairArgs === undefined) return identifyArgs(resolved, kernel)
  try {
    return identifyArgs(resolved, kernel)
  } catch (error) {
    return setIdentity(resolved, unreadIdentity(resolved, kernel, error))
  }
}

/**
 * Identifies a call whose args are a text that is no JSON as one with that text for its args, if they may be repaired.
 *
 * @throws The error, if they may not.
 */
function unreadIdentity(resolved: Resolved, { repairArgs }: Kernel, error: unknown): Identity {
  const { call, resumption, name } = resolved
  const isText = error instanceof ToolError && error.code === 'E_INVALID_TOOL_ARGS' && typeof call.args === 'string'
  if (repairArgs === undefined || resumption !== undefined || !isText) throw error
  const text = JSON.stringify(call.args) // not canonical if it has lone surrogates: then it is not repaired
  return { callId: callIdOf(name, text), text, args: call.args, unread: error as InvalidToolArgsError }
}

function identifyArgs(resolved: Resolved, kernel: Kernel): Identified {
  const rawArgs = resolved.call.args
  const args = readArgs(rawArgs === undefined ? {} : rawArgs, resolved, kernel)
  const identity = identityOf(resolved.tool.name, canonicalize(args, kernel.argsLimit), args)
  if (resolved.resumption !== undefined) requireKept(identity.callId, resolved.resumption)
  const identified = setIdentity(resolved, identity)
  if (isWatched(identified, kernel)) emitArrival(identified, kernel)
  return identified
}

/** Requires that the args that were kept while the call waited are still those that were shown. Edited args replace them. */
function requireKept(callId: string, { editedFrom = callId, callId: shownCallId, invocationId }: Resumption): void {
  if (editedFrom === shownCallId) return
  throw new JournalError(
    `The record of invocation ${JSON.stringify(invocationId)} is damaged: the args in it are not those that were shown, so they are not used. Make the call anew.`,
  )
}

/** Returns the value of args: a copy if the call needs its own. */
function readArgs(args: unknown, resolved: Resolved, kernel: Kernel): unknown {
  if (typeof args === 'string') return parseArgs(args, kernel.argsLimit)
  return kernel.owns(resolved) ? ownArgs(args, kernel.argsLimit) : args
}

/** Reads args that are a value or JSON text. Throws as `parseJson` and `canonicalize` do. */
export function canonicalArgs(args: unknown, limit: number): { readonly text: string; readonly value: unknown } {
  const value = typeof args === 'string' ? parseArgs(args, limit) : args
  return { text: canonicalize(value, limit), value }
}

/** Returns a copy of args, so that a caller that mutates its own cannot make their text and their value diverge. */
function ownArgs(args: unknown, limit: number): unknown {
  // Each object and element takes at least one byte of text, so the limit also bounds the copy.
  const copy = typeof args === 'object' && args !== null ? copyOfJson(args, limit) : args
  return copy ?? readText(canonicalize(args, limit)) // also plain objects of another realm; it refuses the rest
}

function emitArrival(identified: Identified, kernel: Kernel): void {
  const { resumption, args } = identified
  if (resumption === undefined) {
    emit(identified, kernel, 'call:received', { args })
  } else {
    const { approval, editedFrom } = resumption
    const edited = editedFrom === undefined ? undefined : { editedFrom, args }
    emit(identified, kernel, 'call:resumed', { ...approval, ...edited })
  }
}
