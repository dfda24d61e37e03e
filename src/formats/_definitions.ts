import {
  InvalidConfigurationError,
  parseJson,
  type SchemaReport,
  type ToolCall,
  type ToolDefinition,
  type ToolDescription,
} from '../index.ts'
import type { Dialect, Leniency, Provider } from './_dialects.ts'
import { mend } from './_lower/lenient.ts'
import { lower } from './_lower/lower.ts'
import { type LoweredSchema, type Node, type Scope, valueSteps } from './_lower/schema.ts'
import { defined, reachOf } from './_program.ts'
import { isObject, type Fields } from './_read.ts'
import type { FormatOptions } from './_render.ts'

/** Options of formats whose providers take a part of JSON Schema. */
export interface SchemaOptions {
  /**
   * `false`: schemas change only as far as the provider refuses them otherwise. `true`: tools are strict, if their schemas can
   * be; the others go out as with `false`. `'as it is'`: no schema changes. `strict` in the options of a tool takes
   * precedence, except over `'as it is'`. Default: `false`.
   */
  readonly strict?: boolean | 'as it is'
}

/** The parts of a format that make definitions. */
export interface Defining {
  /** Returns the tool's options for this provider. */
  readonly optionsOf: (tool: ToolDefinition) => unknown
  /** Returns the options that the API accepts. `isHosted`: the provider runs the tool, and they are its whole definition. */
  readonly take: (options: Fields, isHosted: boolean) => Taken
  /** Returns the fields for `allowedCallers` and `deferLoading`. Missing if the API has neither. */
  readonly reach?: (tool: ToolDefinition) => Fields
  /** Returns one definition. It may keep its arguments, which are copies. */
  readonly define: (description: ToolDescription, options: Fields, outgoing: Outgoing) => Fields
  /** Returns whether the options bring a schema of their own, so that the tool's does not go out. Default: never. */
  readonly replaces?: (options: Fields) => boolean
  /** Default: none, and schemas go out as they are. */
  readonly provider?: Provider | undefined
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
export interface Taken {
  /** Missing if the API accepts none. */
  readonly options?: Fields
  /** The reason why the API does not accept all options. */
  readonly fault?: string
}

/** The parts of a format that know schemas. */
export interface Definer<Definition> {
  readonly definitions: (tools: readonly ToolDefinition[]) => Definition[]
  readonly report: (tools: readonly ToolDefinition[]) => SchemaReport[]
  /** Returns calls with the args that the tools take, if the model wrote them for lowered schemas. */
  readonly lift: (calls: ToolCall[], tools: readonly ToolDefinition[] | undefined) => ToolCall[]
}

/** How one tool goes out. */
interface Plan {
  /** Missing if its schema goes out as it is. */
  readonly lowered?: LoweredSchema
  readonly strict?: boolean
  readonly refused?: string
}

/** Returns a deep copy, so that callers may change a definition without changing the tool. */
export function copy<Value>(value: Value): Value {
  const copied: Value = JSON.parse(JSON.stringify(value))
  return copied
}

/**
 * Returns the parts of a format that know schemas. Definitions are those of the tools that models may see. If the provider
 * runs a tool, its options are the whole definition; without options for this provider, the tool is left out. Options that
 * the API would refuse are left out and reported, once for each tool.
 */
export function definer<Definition = Fields>(
  parts: Defining,
  options: FormatOptions & SchemaOptions = {},
): Definer<Definition> {
  const { optionsOf, reach, take, define, provider } = parts
  const { report = defaultReport } = options
  const reported = new WeakSet<ToolDefinition>()

  return {
    definitions(tools) {
      const offered = tools.filter(isOffered)
      const plans = plansOf(offered)
      // The options of an author are not checked against the type. The API refuses what it does not know.
      return offered.flatMap((tool) => definitionOf(tool, plans.get(tool) ?? {})) as Definition[]
    },

    report: (tools) =>
      [...plansOf(tools.filter((tool) => isOffered(tool) && tool.type !== 'provider'))].map(([tool, plan]) => {
        const { lowered, strict, refused } = plan
        const losses = lowered?.losses ?? []
        const isStrict = strict === true && typeof provider?.strict === 'object'
        return {
          toolName: tool.name,
          schema: isStrict ? 'strict' : losses.length === 0 ? 'as it is' : 'lowered',
          losses,
          ...(refused === undefined ? undefined : { refused }),
        }
      }),

    lift(calls, tools) {
      if (tools === undefined || calls.length === 0 || provider === undefined) return calls
      const byName = new Map<string, ToolDefinition>()
      for (const tool of tools) for (const alias of tool.aliases) byName.set(alias, tool)
      for (const tool of tools) byName.set(tool.name, tool)
      const called = calls.map(({ name }) => byName.get(name))
      const offered = tools.filter(isOffered)
      // Limits of the whole request decide which tools are strict. Without them, the tools that are called are enough.
      const plans = plansOf(provider.request === undefined ? offered.filter((tool) => called.includes(tool)) : offered)
      return calls.map((call, index) => {
        const tool = called[index]
        const lowered = tool && plans.get(tool)?.lowered
        return lowered?.up === undefined ? call : { ...call, args: lifted(call.args, lowered) }
      })
    },
  }

  function definitionOf(tool: ToolDefinition, { lowered, strict }: Plan): Fields[] {
    const isHosted = tool.type === 'provider'
    const given = optionsOf(tool)
    const { options: taken, fault } = isObject(given) ? take(copy(given), isHosted) : {}
    const unreached = isHosted || reach !== undefined ? [] : reachOf(tool)
    if ((fault !== undefined || unreached.length > 0) && !reported.has(tool)) {
      reported.add(tool)
      const faults = [fault, unreached.length > 0 ? `this API has no ${unreached.join(', ')}` : undefined]
      const said = faults.filter((each) => each !== undefined).join('; ')
      const what = isHosted ? 'It is not offered' : 'It is offered without those options'
      report(new InvalidConfigurationError(`The options of tool ${JSON.stringify(tool.name)}: ${said}. ${what}.`))
    }
    if (isHosted) return taken === undefined ? [] : [taken]
    const description = copy(tool.describe())
    const inputSchema = lowered === undefined ? description.inputSchema : copy(lowered.schema)
    const examples = copy(tool.examples.filter(isObject)).map((example) => sunk(example, lowered))
    return [
      define({ ...description, inputSchema }, merged(defined(reach?.(tool) ?? {}), taken), { tool, strict, examples }),
    ]
  }

  /** Returns how each tool goes out. A tool whose schema cannot be made has no plan. */
  function plansOf(tools: readonly ToolDefinition[]): Map<ToolDefinition, Plan> {
    const plans = new Map<ToolDefinition, Plan>()
    if (provider === undefined || options.strict === 'as it is') return plans
    const limits = provider.request
    const sums = { tools: 0, optional: 0, unions: 0 }
    for (const tool of tools) {
      const given = optionsOf(tool)
      const own = isObject(given) ? given : {}
      if (tool.type === 'provider' || parts.replaces?.(own) === true) continue
      const { strict: asked = options.strict } = own
      const plan = planOf(tool, asked === true ? true : own['strict'] === undefined ? undefined : false)
      plans.set(tool, plan)
      if (limits === undefined || plan.strict !== true || plan.lowered === undefined) continue
      const { optional, unions } = plan.lowered
      const next = { tools: sums.tools + 1, optional: sums.optional + optional, unions: sums.unions + unions }
      const over = (['tools', 'optional', 'unions'] as const).find((name) => next[name] > limits[name])
      if (over === undefined) Object.assign(sums, next)
      else
        plans.set(tool, {
          ...usualPlan(tool),
          strict: false,
          refused: `one request takes ${limits[over]} ${units[over]}`,
        })
    }
    return plans
  }

  function planOf(tool: ToolDefinition, strict: boolean | undefined): Plan {
    const usual = (): Plan => ({ ...usualPlan(tool), ...(strict === undefined ? undefined : { strict }) })
    if (strict !== true || provider?.strict === 'any') return usual()
    if (provider?.strict === undefined) return usualPlan(tool)
    const lowered = loweredOf(tool, provider.strict)
    if (lowered === undefined || lowered.refused === undefined) return { ...(lowered && { lowered }), strict }
    return { ...usualPlan(tool), strict: false, refused: lowered.refused }
  }

  function usualPlan(tool: ToolDefinition): Plan {
    const lowered = provider && loweredOf(tool, provider.usual)
    if (lowered === undefined) return {}
    return lowered.refused === undefined ? { lowered } : { refused: lowered.refused }
  }
}

const units = {
  tools: 'strict tools',
  optional: 'optional fields in strict tools',
  unions: 'unions in strict tools',
}

const cache = new WeakMap<ToolDefinition, Map<Dialect | Leniency, LoweredSchema>>()

/** Returns the schema of a tool in a dialect, or `undefined` if the tool has none. Each is made once. */
function loweredOf(tool: ToolDefinition, dialect: Dialect | Leniency): LoweredSchema | undefined {
  let known = cache.get(tool)
  if (known === undefined) cache.set(tool, (known = new Map()))
  let lowered = known.get(dialect)
  if (lowered !== undefined) return lowered
  let schema: Node
  try {
    schema = copy(tool.describe().inputSchema) as Node
  } catch {
    return undefined // `definitions` throws what `describe` throws
  }
  lowered = 'keywords' in dialect ? lower(schema, dialect) : mend(schema, dialect)
  known.set(dialect, lowered)
  return lowered
}

/** Returns args as the tool takes them. What does not look lowered, or is no JSON text, is returned as it is. */
function lifted(args: unknown, { up }: LoweredSchema): unknown {
  try {
    const value = typeof args === 'string' ? parseJson(args) : args
    return up === undefined ? args : up(value, scope())
  } catch {
    return args
  }
}

function sunk(example: Fields, lowered: LoweredSchema | undefined): Fields {
  try {
    const value = lowered?.down?.(example, scope())
    return isObject(value) ? value : example
  } catch {
    return example // it is no JSON
  }
}

function scope(): Scope {
  return { steps: valueSteps }
}

function isOffered(tool: ToolDefinition): boolean {
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
export function takeTyped(options: Fields, isHosted: boolean): Taken {
  const { type } = options
  if (typeof type === 'string' || (type === undefined && !isHosted)) return { options }
  return { fault: '`type` must be a string that names a kind of tool' }
}

function defaultReport(error: unknown): void {
  console.error(error) // oxlint-disable-line eslint/no-console -- the documented default
}
