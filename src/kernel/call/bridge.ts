import { InvalidToolArgsError } from '../errors.ts'
import { parseArgs } from '../json/parse.ts'
import { shortened } from '../json/shortened.ts'
import { longestName, type TakenCall } from './call.ts'

/** How many bytes a bridge's own text may have beside the args of the tool that it names. */
const mostWrapping = 1_024

/**
 * Returns the call that a bridge's args name: everything after it is about the named tool. Each member is read once.
 *
 * @throws `E_INVALID_TOOL_ARGS` if the args name no tool, or have no `args` but something else.
 */
export function beyondBridge(call: TakenCall, bridge: string, argsLimit: number): TakenCall {
  const { args } = call
  const own = ownMembers(typeof args === 'string' ? parseArgs(args, argsLimit + mostWrapping) : args)
  if (typeof own?.name !== 'string' || own.name === '') throw misused(bridge, 'no `name`')
  if (own.isOther) throw misused(bridge, 'no `args`')
  return { ...call, name: shortened(own.name, longestName), args: own.args, via: bridge }
}

/** Reads what a bridge needs. Returns nothing if that cannot be read. */
function ownMembers(value: unknown): { name: unknown; args: unknown; isOther: boolean } | undefined {
  try {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'name')) return undefined
    const { name } = value as { readonly name?: unknown }
    if (Object.hasOwn(value, 'args')) return { name, args: (value as { readonly args?: unknown }).args, isOther: false }
    return { name, args: undefined, isOther: Object.keys(value).length > 1 } // such as `arguments`
  } catch {
    return undefined
  }
}

function misused(bridge: string, lack: string): InvalidToolArgsError {
  const words = `The args of ${bridge} have ${lack}, so nothing was run.`
  return new InvalidToolArgsError(`${words} Call it with { "name": "name_of_a_tool", "args": { … } }.`)
}
