import { InvalidConfigurationError, type ToolDefinition, type ToolDescription } from '../index.ts'
import { isObject, type Fields } from './_read.ts'
import type { FormatOptions } from './_render.ts'

/** How a format makes definitions. */
export interface Defining {
  /** Returns what a tool says for this provider alone. */
  readonly optionsOf: (tool: ToolDefinition) => unknown
  /** Returns what of the options the API takes. `isHosted`: the provider runs the tool, and they are its whole definition. */
  readonly take: (options: Fields, isHosted: boolean) => Taken
  /** Returns one definition, made of copies that it may keep. */
  readonly define: (description: ToolDescription, options: Fields, tool: ToolDefinition) => Fields
}

/** What of a tool's options an API takes. */
export interface Taken {
  /** Without them, the API takes none. */
  readonly options?: Fields
  /** Why the API takes no more of them. */
  readonly fault?: string
}

/** A definition may be changed by whoever gets it: nothing in it is shared with the tool. */
export function copy<Value>(value: Value): Value {
  const copied: Value = JSON.parse(JSON.stringify(value))
  return copied
}

/**
 * Returns what makes the definitions of the tools that models may be shown. Of a tool that the provider runs itself, the
 * options are the whole definition; one without options for this provider is left out. Options that the API would refuse
 * are left out and reported, once for each tool.
 */
export function definer(
  { optionsOf, take, define }: Defining,
  { report = defaultReport }: FormatOptions,
): (tools: readonly ToolDefinition[]) => Fields[] {
  const reported = new WeakSet<ToolDefinition>()
  return (tools) => tools.filter(({ audience }) => audience !== 'user').flatMap(definitionOf)

  function definitionOf(tool: ToolDefinition): Fields[] {
    const isHosted = tool.type === 'provider'
    const given = optionsOf(tool)
    const { options, fault } = isObject(given) ? take(copy(given), isHosted) : {}
    if (fault !== undefined && !reported.has(tool)) {
      reported.add(tool)
      const what = isHosted ? 'It is not offered' : 'It is offered without what does not fit'
      report(new InvalidConfigurationError(`The options of tool ${JSON.stringify(tool.name)}: ${fault}. ${what}.`))
    }
    if (!isHosted) return [define(copy(tool.describe()), options ?? {}, tool)]
    return options === undefined ? [] : [options]
  }
}

/** Takes options whose `type` says what the tool is; a tool that is run here needs none. */
export function takeTyped(options: Fields, isHosted: boolean): Taken {
  const { type } = options
  if (typeof type === 'string' || (type === undefined && !isHosted)) return { options }
  return { fault: '`type` must be a string that names a kind of tool' }
}

/** The examples that are objects, as the args of a call are. */
export function examplesOf(tool: ToolDefinition): Fields[] {
  return copy(tool.examples.filter(isObject))
}

function defaultReport(error: unknown): void {
  console.error(error) // oxlint-disable-line eslint/no-console -- the documented default
}
