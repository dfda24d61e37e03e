import { callIdOf, canonicalize } from '../canonical.ts'
import { copyOfJson } from '../copy.ts'
import { announce, isWatched } from '../events.ts'
import { readText } from '../json-text.ts'
import { masked } from '../mask.ts'
import { stamp, type Identified, type Resolved } from '../parcel.ts'
import { parseArgs } from '../parse.ts'
import type { Kernel } from '../ports.ts'

/** Gives the call its identity: the canonical text of its args, and the hash of that text and the tool's name. */
export function identify(resolved: Resolved, kernel: Kernel): Identified {
  const given = resolved.call.args
  const { text: pieces, value: args } = read(given === undefined ? {} : given, resolved, kernel)
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
  const { resumption, tool, args } = identified
  if (resumption === undefined) {
    announce(identified, kernel, 'call:received', { args: masked(args, tool.secrets) })
  } else {
    const { approval, editedFrom } = resumption
    const edited = editedFrom === undefined ? undefined : { editedFrom, args: masked(args, tool.secrets) }
    announce(identified, kernel, 'call:resumed', { ...approval, ...edited })
  }
}
