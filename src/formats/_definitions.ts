import type { ToolDefinition, ToolDescription } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import { reporterOf, type JsonSchemaObject } from '../extension.ts'
import { definedFields, reachOf } from './_program.ts'
import { isObject, type Fields } from './_read.ts'
import type { FormatOptions } from './_render.ts'

/** The parts of a format that make definitions. */
export interface DefinitionParts {
  /** Returns the tool's options for this provider: of `providerOptions` or `libraryOptions`. What is no object counts as none. */
  readonly optionsOf: (tool: ToolDefinition) => unknown
  /** Returns the options that the API accepts. `isHosted`: the provider runs the tool, and they are its whole definition. */
  readonly accept: (options: Fields, isHosted: boolean) => AcceptedOptions
  /** Returns the fields for `allowedCallers` and `deferLoading`. Missing if the API has neither. */
  readonly reach?: (tool: ToolDefinition) => Fields
  /**
   * Returns one definition. It may keep its arguments, which are copies. `description` has the schema as it goes out, `options`
   * those that the API accepts: spread them last, so that they take precedence.
   */
  readonly define: (description: ToolDescription, options: Fields, outgoing: Outgoing) => Fields
}

/** What goes out with a tool's schema. */
export interface Outgoing {
  readonly tool: ToolDefinition
  /** Whether the provider is told to be strict; `undefined` if nothing asked for it. */
  readonly strict: boolean | undefined
  /** The examples that are objects, as args are, in the shape of the schema. */
  readonly examples: readonly Fields[]
}

/** The options of a tool that an API accepts. */
export interface AcceptedOptions {
  /** Missing if the API accepts none. */
  readonly options?: Fields
  /** The reason why the API does not accept all options, as a part of a sentence. It is reported. */
  readonly fault?: string
}

/** How the schema of one tool goes out. */
export interface OutgoingSchema {
  /** Missing if it goes out as it is. */
  readonly schema?: JsonSchemaObject
  /** Whether the provider is told to be strict; missing if nothing asked for it. */
  readonly strict?: boolean
  /** Returns an example in the shape of the schema. Missing if that is the tool's own. */
  readonly sink?: ((example: Fields) => Fields) | undefined
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
 *
 * @param parts What is special to the provider.
 * @param options `report` and `examples`.
 * @param plansOf Returns how the schemas of tools go out: `plansOf` of `schemasOf`. Default: as they are.
 * @returns a function that throws what `describe` of a tool throws: `E_SCHEMA_CONVERSION`.
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { definer } from 'toolwright/formats/kit'
 *
 * const definitions = definer(
 *   {
 *     optionsOf: ({ providerOptions }) => providerOptions['acme'],
 *     accept: (options) => ({ options }),
 *     define: ({ name, description, inputSchema }, options) => ({ name, description, takes: inputSchema, ...options }),
 *   },
 *   {},
 * )
 * definitions([tool('now', () => '12:00')]) // [{ name: 'now', description: …, takes: { type: 'object', … } }]
 * ```
 * @experimental
 */
export function definer<Definition = Fields>(
  { optionsOf, reach, accept, define }: DefinitionParts,
  { report: reporter, examples: hasExamples = true }: FormatOptions,
  plansOf?: (tools: readonly ToolDefinition[]) => ReadonlyMap<ToolDefinition, OutgoingSchema>,
): (tools: readonly ToolDefinition[]) => Definition[] {
  const report = reporterOf(reporter)
  const reported = new WeakSet<ToolDefinition>()
  return (tools) => {
    requireToolList(tools)
    const plans = plansOf?.(tools)
    // The options of an author are not checked against the type. The API refuses what it does not know.
    return tools.filter(isOffered).flatMap((tool) => definitionOf(tool, plans?.get(tool) ?? {})) as Definition[]
  }

  function definitionOf(tool: ToolDefinition, { schema, sink, strict }: OutgoingSchema): Fields[] {
    const isHosted = tool.type === 'provider'
    const own = optionsOf(tool)
    const { options: accepted, fault } = isObject(own) ? accept(copy(own), isHosted) : {}
    const unreached = isHosted || reach !== undefined ? [] : reachOf(tool)
    if ((fault !== undefined || unreached.length > 0) && !reported.has(tool)) {
      reported.add(tool)
      const faults = [fault, unreached.length > 0 ? `this API has no ${unreached.join(', ')}` : undefined]
      const faultText = faults.filter((each) => each !== undefined).join('; ')
      const what = isHosted ? 'It is not offered' : 'It is offered without those options'
      report(new InvalidConfigurationError(`The options of tool ${JSON.stringify(tool.name)}: ${faultText}. ${what}.`))
    }
    if (isHosted) return accepted === undefined ? [] : [accepted]
    const description = copy(tool.describe())
    const inputSchema = schema === undefined ? description.inputSchema : copy(schema)
    const ownExamples = hasExamples ? copy(tool.examples.filter(isObject)) : []
    const examples = sink === undefined ? ownExamples : ownExamples.map(sink)
    return [
      define({ ...description, inputSchema }, merged(definedFields(reach?.(tool) ?? {}), accepted), {
        tool,
        strict,
        examples,
      }),
    ]
  }
}

/** Refuses what is no list of tools: an executor, a config, a promise. */
export function requireToolList(tools: readonly ToolDefinition[]): void {
  const isTool = (one: Partial<ToolDefinition> | null): boolean => typeof one?.describe === 'function'
  if (Array.isArray(tools) && tools.every(isTool)) return
  throw new InvalidConfigurationError('`definitions` takes an array of tools, such as `executor.tools()`.')
}

/** Returns whether models may see a tool. */
export function isOffered(tool: ToolDefinition): boolean {
  return tool.audience !== 'user'
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
export function acceptTyped(options: Fields, isHosted: boolean): AcceptedOptions {
  const { type } = options
  if (typeof type === 'string' || (type === undefined && !isHosted)) return { options }
  return { fault: '`type` must be a string that names a kind of tool' }
}
