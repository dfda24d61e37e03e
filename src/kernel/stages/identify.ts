import { callIdOf, canonicalize } from '../json/canonical.ts'
import { copyOfJson } from '../json/copy.ts'
import { InvalidToolArgsError, isToolError, UncanonicalArgsError } from '../errors.ts'
import { announce, isWatched } from '../call/events.ts'
import { readText } from '../json/json-text.ts'
import { toldArgs } from '../call/secrets.ts'
import { stamp, type Identified, type Resolved } from '../call/parcel.ts'
import { parseArgs } from '../json/parse.ts'
import type { Kernel } from '../ports.ts'

/** Gives the call its identity: the canonical text of its args, and the hash of that text and the tool's name. */
export function identify(resolved: Resolved, kernel: Kernel): Identified {
  const given = resolved.call.args
  const { text: pieces, value: args } = readArgs(given === undefined ? {} : given, resolved, kernel)
  const text = flat(pieces)
  const identified = stamp(resolved, 'identity', { callId: callIdOf(resolved.tool.name, text), text, args })
  if (isWatched(identified, kernel)) announceArrival(identified, kernel)
  return identified
}

/** The same text in one piece: one that was put together of many weighs many times as much for as long as the call takes. */
function flat(text: string): string {
  return text.charCodeAt(0) > 0 ? text : '' // what is read is joined
}

interface Args {
  readonly text: string
  readonly value: unknown
}

function readArgs(given: unknown, resolved: Resolved, kernel: Kernel): Args {
  try {
    return read(given, resolved, kernel)
  } catch (error) {
    throw resolved.tool.secrets.length === 0 ? error : unquoting(error)
  }
}

/** The refusal of args that may hold secrets, without what it quotes of them: text, and keys. */
function unquoting(error: unknown): unknown {
  const reason = isToolError(error) ? error.issues?.[0]?.message : undefined
  if (reason === undefined) return error
  const message = reason.replace(/, found [^]*$/, '.')
  const details = { issues: [{ message, path: [] }] }
  return error instanceof UncanonicalArgsError
    ? new UncanonicalArgsError(`The args cannot be identified: ${message}.`, details)
    : new InvalidToolArgsError(`The args are not valid JSON: ${message}`, details)
}

/** Returns the canonical text and the value that goes on, which may have to be the call's own. */
function read(given: unknown, resolved: Resolved, kernel: Kernel): Args {
  const { argsLimit } = kernel
  if (typeof given !== 'string' && kernel.owns(resolved)) return ownArgs(given, argsLimit)
  const value = typeof given === 'string' ? parseArgs(given, argsLimit) : given
  return { text: canonicalize(value, argsLimit), value }
}

/** Either is made of the other, so that whoever holds the args cannot make the two differ. */
function ownArgs(given: unknown, limit: number): Args {
  // Every object and element takes a byte of the text at least.
  const copy = typeof given === 'object' && given !== null ? copyOfJson(given, limit) : given
  if (copy !== undefined) return { text: canonicalize(copy, limit), value: copy }
  const text = canonicalize(given, limit) // also plain objects of another realm, and what has to be refused
  return { text, value: readText(text) }
}

function announceArrival(identified: Identified, kernel: Kernel): void {
  const { resumption, tool } = identified
  const args = tool.secrets.length === 0 ? identified.args : toldArgs(identified)
  if (resumption === undefined) {
    announce(identified, kernel, 'call:received', { args })
  } else {
    const { approval, editedFrom } = resumption
    const edited = editedFrom === undefined ? undefined : { editedFrom, args }
    announce(identified, kernel, 'call:resumed', { ...approval, ...edited })
  }
}
