import { InvalidConfigurationError, type ToolDefinition, type ToolDescription } from '../index.ts'
import { defined, reachOf } from './_program.ts'
import { isObject, type Fields } from './_read.ts'
import type { FormatOptions } from './_render.ts'

/** The parts of a format that make definitions. */
export interface Defining {
  /** Returns the tool's options for this provider. */
  readonly optionsOf: (tool: ToolDefinition) => unknown
  /** Returns the options that the API accepts. `isHosted`: the provider runs the tool, and they are its whole definition. */
  readonly take: (options: Fields, isHosted: boolean) => Taken
  /** Returns the fields for `allowedCallers` and `deferLoading`. Missing if the API has neither. */
  readonly reach?: (tool: ToolDefinition) => Fields
  /** Returns one definition. It may keep its arguments, which are copies. */
  readonly define: (description: ToolDescription, options: Fields, tool: ToolDefinition) => Fields
}

/** The options of a tool that an API accepts. */
export interface Taken {
  /** Missing if the API accepts none. */
  readonly options?: Fields
  /** The reason why the API does not accept all options. */
  readonly fault?: string
}

/** Returns a deep copy, so that callers may change a definition without changing the tool. */
export function copy<Value>(value: Value): Value {
  const copied: Value = JSON.parse(JSON.stringify(value))
  return copied
}

/**
 * Returns a function that makes the definitions of the tools that models may see. If the provider runs a tool, its options
 * are the whole definition; without options for this provider, the tool is left out. Options that the API would refuse are
 * left out and reported, once for each tool.
 */
export function definer(
  { optionsOf, reach, take, define }: Defining,
  { report = defaultReport }: FormatOptions,
): (tools: readonly ToolDefinition[]) => Fields[] {
  const reported = new WeakSet<ToolDefinition>()
  return (tools) => tools.filter(({ audience }) => audience !== 'user').flatMap(definitionOf)

  function definitionOf(tool: ToolDefinition): Fields[] {
    const isHosted = tool.type === 'provider'
    const given = optionsOf(tool)
    const { options, fault } = isObject(given) ? take(copy(given), isHosted) : {}
    const unreached = isHosted || reach !== undefined ? [] : reachOf(tool)
    if ((fault !== undefined || unreached.length > 0) && !reported.has(tool)) {
      reported.add(tool)
      const faults = [fault, unreached.length > 0 ? `this API has no ${unreached.join(', ')}` : undefined]
      const said = faults.filter((each) => each !== undefined).join('; ')
      const what = isHosted ? 'It is not offered' : 'It is offered without those options'
      report(new InvalidConfigurationError(`The options of tool ${JSON.stringify(tool.name)}: ${said}. ${what}.`))
    }
    if (!isHosted) return [define(copy(tool.describe()), merged(defined(reach?.(tool) ?? {}), options), tool)]
    return options === undefined ? [] : [options]
  }
}

/** Returns the fields of both. Those of `over` come first, at every depth. */
function merged(base: Fields = {}, over: Fields = {}): Fields {
  const shared = Object.entries(over).map(([name, value]) => {
    const below = Object.hasOwn(base, name) ? base[name] : undefined
    return [name, isObject(value) && isObject(below) ? merged(below, value) : value] as const
  })
  return { ...base, ...Object.fromEntries(shared) }
}

/** Accepts options whose `type` is a string. Only a tool that the provider runs needs a `type`. */
export function takeTyped(options: Fields, isHosted: boolean): Taken {
  const { type } = options
  if (typeof type === 'string' || (type === undefined && !isHosted)) return { options }
  return { fault: '`type` must be a string that names a kind of tool' }
}

/** Returns the examples that are objects, as args are. */
export function examplesOf(tool: ToolDefinition): Fields[] {
  return copy(tool.examples.filter(isObject))
}

function defaultReport(error: unknown): void {
  console.error(error) // oxlint-disable-line eslint/no-console -- the documented default
}
