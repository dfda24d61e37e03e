import { callIdOf, canonicalize, snapshot } from '../canonical.ts'
import { announce, isWatched } from '../events.ts'
import { masked } from '../mask.ts'
import { stamp, type Identified, type Resolved } from '../parcel.ts'
import { parseArgs } from '../parse.ts'
import type { Kernel } from '../ports.ts'

/** Gives the call its identity: the canonical text of its args, and the hash of that text and the tool's name. */
export function identify(resolved: Resolved, kernel: Kernel): Identified {
  const given = resolved.call.args
  const { text: pieces, value: args } = read(given === undefined ? {} : given, resolved, kernel)
  const text = kernel.ledger?.keeps === true ? flat(pieces) : pieces
  const identified = stamp(resolved, 'identity', { callId: callIdOf(resolved.tool.name, text), text, args })
  if (isWatched(identified, kernel)) announceArrival(identified, kernel)
  return identified
}

/** The same text in one piece: one that was put together of many weighs many times as much, and a journal is to keep it. */
function flat(text: string): string {
  return text.charCodeAt(0) > 0 ? text : '' // what is read is joined
}

/** The canonical text, and the value that goes on: where somebody decides about it, one that nobody outside holds. */
function read(given: unknown, { tool }: Resolved, kernel: Kernel): { readonly text: string; readonly value: unknown } {
  const { argsLimit } = kernel
  if (typeof given !== 'string' && kernel.decides(tool)) return snapshot(given, argsLimit)
  const value = typeof given === 'string' ? parseArgs(given, argsLimit) : given
  return { text: canonicalize(value, argsLimit), value }
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
