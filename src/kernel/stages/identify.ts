import { callIdOf, canonicalize } from '../canonical.ts'
import { announce, isWatched } from '../events.ts'
import { masked } from '../mask.ts'
import { stamp, type Identified, type Resolved } from '../parcel.ts'
import { parseArgs } from '../parse.ts'
import type { Kernel } from '../ports.ts'

/** Gives the call its identity: the canonical text of its args, and the hash of that text and the tool's name. */
export function identify(resolved: Resolved, kernel: Kernel): Identified {
  const given = resolved.call.args
  const args = typeof given === 'string' ? parseArgs(given, kernel.argsLimit) : given === undefined ? {} : given
  const text = canonicalize(args, kernel.argsLimit)
  const identified = stamp(resolved, 'identity', { callId: callIdOf(resolved.tool.name, text), text, args })
  if (isWatched(identified, kernel)) announceArrival(identified, kernel)
  return identified
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
