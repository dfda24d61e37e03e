import type { ToolContext, ToolOptions } from '../index.ts'
import { checkOptions, optionsError, type OptionCheck, type ToolHooks, type Validated } from '../extension.ts'
import { fileConflicts, type FilePlace } from './_file-conflicts.ts'
import type { Outside } from './_outside.ts'

/** What every factory of tools takes. */
export interface NamedTools<Name extends string> {
  /** The tools to bring. Default: all. */
  readonly tools?: readonly Name[]
  /** Put before each name. Default: none. */
  readonly prefix?: string
}

/** The paths in validated args, and whether the tool writes them. */
type Paths<Input> = readonly [of: (input: Input) => readonly string[], write: boolean]

/** Returns the options that all tools of an extension have. */
export type ToolMaking = <Input>(
  name: string,
  paths?: Paths<Input>,
) => Pick<ToolOptions<unknown>, 'name' | 'inlineLimit' | 'hooks' | 'middleware' | 'conflicts'>

/**
 * @param place The files that the paths name. Default: the tools have no paths.
 * @param outside Asks for access to paths outside the workspace. Default: they are refused.
 */
export function making(prefix: string, place?: FilePlace, outside?: Outside): ToolMaking {
  return (name, paths) => ({
    name: `${prefix}${name}`,
    inlineLimit: Infinity, // what the tools give is cut already
    ...(place !== undefined && paths !== undefined && touching(place, paths)),
    ...(outside !== undefined && paths !== undefined && asking(outside, paths)),
  })
}

function touching(place: FilePlace, [of, write]: Paths<never>): Pick<ToolOptions<unknown>, 'conflicts'> {
  const mode = write ? 'write' : 'read'
  return { conflicts: (input) => fileConflicts(place, of(input as never), mode) }
}

function asking(outside: Outside, [of, write]: Paths<never>): Pick<ToolOptions<unknown>, 'hooks' | 'middleware'> {
  const preToolUse: ToolHooks['preToolUse'] = (call: Validated, context: ToolContext) =>
    outside.decide(call, context, of(call.input as never), write)
  return { hooks: { preToolUse }, middleware: [outside.around(write)] }
}

/**
 * @param checks Those of the factory's own options.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown or wrong, or names a tool that there is not.
 */
export function requireNaming<Name extends string>(
  factory: string,
  options: NamedTools<Name>,
  names: readonly Name[],
  checks: Readonly<Record<string, OptionCheck>> = {},
): { readonly prefix: string; readonly isWanted: (name: string) => boolean } {
  checkOptions<NamedTools<Name>>(factory, options, {
    tools: { expected: 'a list of names', accepts: Array.isArray },
    prefix: {
      expected: 'up to 40 letters, digits, "_" and "-"',
      accepts: (value) => typeof value === 'string' && /^[\w-]{0,40}$/.test(value),
    },
    ...checks,
  })
  const { tools = names, prefix = '' } = options
  const unknown = tools.find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw optionsError(factory, `has no tool ${JSON.stringify(unknown)}; its tools are ${names.join(', ')}`)
  }
  const wanted = new Set<string>(tools.map((name) => prefix + name))
  return { prefix, isWanted: (name) => wanted.has(name) }
}
