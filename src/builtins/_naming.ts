import type { ToolContext, ToolOptions } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import type { ToolHooks, Validated } from '../extension.ts'
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
) => Pick<ToolOptions<unknown>, 'name' | 'inlineLimit' | 'hooks' | 'middleware'>

/** @param outside Asks for access to paths outside the workspace. Default: they are refused. */
export function making(prefix: string, outside?: Outside): ToolMaking {
  return (name, paths) => ({
    name: `${prefix}${name}`,
    inlineLimit: Infinity, // what the tools give is cut already
    ...(outside !== undefined && paths !== undefined && asking(outside, paths)),
  })
}

function asking(outside: Outside, [of, write]: Paths<never>): Pick<ToolOptions<unknown>, 'hooks' | 'middleware'> {
  const preToolUse: ToolHooks['preToolUse'] = (call: Validated, context: ToolContext) =>
    outside.decide(call, context, of(call.input as never), write)
  return { hooks: { preToolUse }, middleware: [outside.around(write)] }
}

/** @throws `E_INVALID_CONFIGURATION` if an option is unknown, or names a tool that there is not. */
export function checked<Name extends string>(
  factory: string,
  options: NamedTools<Name>,
  known: readonly string[],
  names: readonly Name[],
): { readonly prefix: string; readonly isWanted: (name: string) => boolean } {
  const fail = (message: string): never => {
    throw new InvalidConfigurationError(`\`${factory}\` ${message}.`)
  }
  if (typeof options !== 'object' || options === null) fail('takes an object of options')
  const all = ['tools', 'prefix', ...known]
  const stranger = Object.keys(options).find((name) => !all.includes(name))
  if (stranger !== undefined) fail(`has no option ${JSON.stringify(stranger)}; its options are ${all.join(', ')}`)
  const { tools = names, prefix = '' } = options
  if (typeof prefix !== 'string' || !/^[\w-]{0,40}$/.test(prefix))
    fail('takes up to 40 letters, digits, "_" and "-" as `prefix`')
  const unknown = Array.isArray(tools) ? tools.find((name) => !names.includes(name)) : tools
  if (unknown !== undefined) fail(`has no tool ${JSON.stringify(unknown)}; its tools are ${names.join(', ')}`)
  const wanted = new Set<string>(tools.map((name) => prefix + name))
  return { prefix, isWanted: (name) => wanted.has(name) }
}
