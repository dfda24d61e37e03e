import { parseJson, type ToolCall, type ToolDefinition } from '../index.ts'
import type { SchemaReport } from '../extension.ts'
import { copy, isOffered, type OutgoingSchema } from './_definitions.ts'
import type { Provider, RequestLimits } from './_dialects.ts'
import type { Dialect, Leniency, Sums } from './_lower/dialect.ts'
import { translate } from './_lower/translate.ts'
import { same, type LoweredSchema, type Node } from './_lower/schema.ts'
import { isObject, type Fields } from './_read.ts'

/** Options of formats whose providers take a part of JSON Schema. */
export interface SchemaOptions {
  /**
   * `false`: schemas change only as far as the provider refuses them otherwise. `true`: tools are strict, if their schemas can
   * be; the others go out as with `false`. `'as it is'`: no schema changes. `strict` in the options of a tool takes
   * precedence, except over `'as it is'`. Default: `false`.
   */
  readonly strict?: boolean | 'as it is'
}

/** What a tool's options decide of its schema. */
export interface SchemaParts {
  /** Returns the tool's options for this provider: of `providerOptions` or `libraryOptions`. */
  readonly optionsOf: (tool: ToolDefinition) => unknown
  /** Returns whether the options bring a schema of their own, so that the tool's does not go out. */
  readonly replaces: (options: Fields) => boolean
}

/** What decides how the schema of a tool goes out. */
interface Deciding extends SchemaParts {
  /** Missing: schemas go out as they are. */
  readonly provider: Provider | undefined
  /** Needed for a provider that limits the strict tools of one request. */
  readonly beyond?: (limits: RequestLimits, schemas: readonly Sums[]) => readonly (string | undefined)[]
}

/** The parts of a format that know schemas. */
export interface Schemas {
  /** Returns how the schemas of tools go out, for `definer`. */
  readonly plansOf: (tools: readonly ToolDefinition[]) => ReadonlyMap<ToolDefinition, OutgoingSchema>
  /** Returns how the schemas of tools go out, and what they lose: `report` of a format. */
  readonly report: (tools: readonly ToolDefinition[]) => SchemaReport[]
  /** Returns calls with the args that the tools take, if the model wrote them for lowered schemas. */
  readonly lift: (calls: ToolCall[], tools: readonly ToolDefinition[] | undefined) => ToolCall[]
}

interface SchemaPlan extends OutgoingSchema {
  readonly lowered?: LoweredSchema
  /** The reason why the schema is not as it was asked for. */
  readonly refused?: string
}

/** Returns the parts of a format that know schemas. */
export function schemasOf({ provider, optionsOf, replaces, beyond }: Deciding, options: SchemaOptions): Schemas {
  return {
    plansOf,

    report: (tools) =>
      [...plansOf(tools)].map(([tool, { lowered, strict, refused }]) => {
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
      const called = new Set(calls.map(({ name }) => byName.get(name)))
      // Limits of the whole request decide which tools are strict. Without them, the tools that are called are enough.
      const plans = plansOf(provider.request === undefined ? tools.filter((tool) => called.has(tool)) : tools)
      return calls.map((call) => {
        const tool = byName.get(call.name)
        const lowered = tool && plans.get(tool)?.lowered
        return lowered === undefined || lowered.way === same ? call : { ...call, args: lifted(call.args, lowered) }
      })
    },
  }

  /** Returns how the schemas of tools go out. A tool whose own schema does not go out has no plan. */
  function plansOf(tools: readonly ToolDefinition[]): Map<ToolDefinition, SchemaPlan> {
    const plans = new Map<ToolDefinition, SchemaPlan>()
    if (options.strict === 'as it is') return plans
    for (const tool of tools) {
      const providerOptions = optionsOf(tool)
      const own = isObject(providerOptions) ? providerOptions : {}
      if (!isOffered(tool) || tool.type === 'provider' || replaces(own)) continue
      const { strict = options.strict === true ? true : undefined } = own
      plans.set(tool, planOf(tool, strict === undefined ? undefined : strict === true))
    }
    const strict = [...plans].flatMap(([tool, plan]) =>
      plan.strict === true && plan.lowered ? [[tool, plan.lowered] as const] : [],
    )
    const lowered = strict.map(([, schema]) => schema)
    const refusals = (provider?.request && beyond?.(provider.request, lowered)) ?? []
    for (const [index, [tool]] of strict.entries()) {
      const refused = refusals[index]
      if (refused !== undefined) plans.set(tool, unstrict(tool, refused))
    }
    return plans
  }

  function planOf(tool: ToolDefinition, strict: boolean | undefined): SchemaPlan {
    if (provider === undefined) return strict === undefined ? {} : { strict }
    if (strict !== true || typeof provider.strict !== 'object') {
      return {
        ...usualPlan(tool, provider),
        ...(strict === undefined || provider.strict === undefined ? {} : { strict }),
      }
    }
    const lowered = loweredOf(tool, provider.strict)
    return lowered?.refused === undefined ? { ...planned(lowered), strict } : unstrict(tool, lowered.refused)
  }

  function unstrict(tool: ToolDefinition, refused: string): SchemaPlan {
    return { ...(provider && usualPlan(tool, provider)), strict: false, refused }
  }
}

function usualPlan(tool: ToolDefinition, provider: Provider): SchemaPlan {
  const lowered = loweredOf(tool, provider.usual)
  return lowered?.refused === undefined ? planned(lowered) : { refused: lowered.refused }
}

function planned(lowered: LoweredSchema | undefined): SchemaPlan {
  if (lowered === undefined) return {}
  const { schema, way } = lowered
  return { lowered, schema, sink: way === same ? undefined : (example) => sunk(example, lowered) }
}

const loweredSchemas = new WeakMap<ToolDefinition, Map<Dialect | Leniency, LoweredSchema>>()

/** Returns the schema of a tool in a dialect, or `undefined` if the tool has none. Each is made once. */
function loweredOf(tool: ToolDefinition, dialect: Dialect | Leniency): LoweredSchema | undefined {
  let schemas = loweredSchemas.get(tool)
  if (schemas === undefined) loweredSchemas.set(tool, (schemas = new Map()))
  let lowered = schemas.get(dialect)
  if (lowered !== undefined) return lowered
  let schema: Node
  try {
    schema = copy(tool.describe().inputSchema) as Node
  } catch {
    return undefined // `definitions` throws what `describe` throws
  }
  lowered = dialect.compile(schema, dialect as never)
  schemas.set(dialect, lowered)
  return lowered
}

/** Returns args as the tool takes them. What does not look lowered, or is no JSON text, is returned as it is. */
function lifted(args: unknown, lowered: LoweredSchema): unknown {
  if (typeof args !== 'string') return translate(lowered, args, true)
  try {
    return translate(lowered, parseJson(args), true)
  } catch {
    return args // the kernel refuses it in its own words
  }
}

function sunk(example: Fields, lowered: LoweredSchema): Fields {
  const value = translate(lowered, example, false)
  return isObject(value) ? value : example
}
