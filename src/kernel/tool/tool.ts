import type { SpooledArtifact } from '../result/artifact.ts'
import { changed, define, definitionKey, isToolLike } from './definition.ts'
import type { ToolDefinition, ToolDescription } from './definition.ts'
import { whenLoaded } from '../json/thenable.ts'
import type { InputOf, OutputOf, Schema } from '../schema/infer.ts'
import type { StandardSchemaV1 } from '../schema/standard.ts'
import { fieldNames, issuesOfConfig } from './checks.ts'
import type { BoundOptions, CheckedHandlerField, CheckedResult, ClassConfig, ClientToolDescription } from './options.ts'
import type {
  DirectContext,
  ErasedConfig,
  ParsedOf,
  ToolConfig,
  ToolHandler,
  ToolOptions,
  ToolType,
} from './options.ts'

/** Gives a function the prototype of the class under construction, so that the fields of the class land on the function. */
const Callable = class {
  constructor(body: (...input: never[]) => unknown) {
    return Object.setPrototypeOf(body, new.target.prototype) as object
  }
} as unknown as new (body: (...input: never[]) => unknown) => object
Object.setPrototypeOf(Callable.prototype, Function.prototype)

type Direct = typeof import('../direct.ts')

let direct: Direct | undefined

/** Loads the module that runs tools without an executor, so that a program that only defines tools does not bundle it. */
async function loadDirect(): Promise<Direct> {
  return (direct ??= await whenLoaded(import('../direct.ts')))
}

const loadAndCall: Direct['callDirectly'] = async (...call) => (await loadDirect()).callDirectly(...call)

/** A tool: its definition, and a function that runs it. @example const isTool = Tool.isTool(tool('now', () => '12:00')) */
export interface Tool<
  // oxlint-disable-next-line typescript/no-explicit-any -- so that tools of any input fit a `Tool[]`
  Input = any,
  Result = unknown,
  Progress = unknown,
  Artifact extends SpooledArtifact = SpooledArtifact,
  Parsed = ParsedOf<Input>,
> extends CallableTool<Input, Result, Progress, Artifact, Parsed> {}

/** The class of tools. */
export interface ToolConstructor {
  // oxlint-disable-next-line typescript/no-explicit-any -- TypeScript 5 wants that of a subclass to fit
  readonly prototype: Tool<any, unknown, unknown, SpooledArtifact, any>
  /** A Standard Schema of the config of a tool, for use inside other schemas. */
  readonly schema: StandardSchemaV1<ErasedConfig>
  /** Whether a value is a tool of any copy of the package. */
  isTool(value: unknown): value is Tool
  /**
   * Infers the types of the tool from its schemas and its handler, as `tool` does. TypeScript chooses the constructor of
   * `extends Tool<…>` by the number of its type arguments: the first six, which hold nothing, leave this one to `new Tool`.
   *
   * @throws `E_INVALID_INITIAL_TOOL_VALUE` naming every field that is wrong.
   */
  new <
    _1,
    _2,
    _3,
    _4,
    _5,
    _6,
    const Input extends Schema | undefined = undefined,
    Result = unknown,
    Progress = never,
    const Output extends Schema | undefined = undefined,
    Artifact extends SpooledArtifact = SpooledArtifact,
    const Type extends ToolType | (string & {}) = 'server',
  >(
    config: ToolConfig<Input, OutputOf<Input>, Output, Artifact, Type> &
      CheckedHandlerField<Type, Input, Output, Result, Progress>,
  ): Tool<InputOf<Input>, CheckedResult<Output, Result>, Progress, Artifact, OutputOf<Input>>
  /**
   * Takes the types of the tool from the class, as in `class Forecast extends Tool<{ city: string }, string>`.
   *
   * @param config The config of the tool.
   * @param takesAnyObject Whether a tool without an input schema takes any object instead of no arguments. Default: `false`.
   * @throws `E_INVALID_INITIAL_TOOL_VALUE` naming every field that is wrong.
   */
  new <
    // oxlint-disable-next-line typescript/no-explicit-any -- as that of `Tool`
    Input = any,
    Result = unknown,
    Progress = unknown,
    Artifact extends SpooledArtifact = SpooledArtifact,
    Parsed = ParsedOf<Input>,
  >(
    config: ClassConfig<Input, Result, Progress, Artifact, Parsed>,
    takesAnyObject?: boolean,
  ): Tool<Input, Result, Progress, Artifact, Parsed>
}

// oxlint-disable-next-line eslint/no-unused-vars -- an interface that merges with a class has the same parameters
interface CallableTool<Input, Result, Progress, Artifact extends SpooledArtifact, Parsed> extends ToolDefinition {
  /** Runs the tool for the application itself: validates args and result, without policies, events or a record. */
  (args: Input, context?: DirectContext): Promise<Result>
}
class CallableTool<Input, Result, Progress, Artifact extends SpooledArtifact, Parsed> extends Callable {
  static readonly schema: StandardSchemaV1<ErasedConfig> = {
    '~standard': {
      version: 1,
      vendor: 'toolwright',
      validate(value) {
        const issues = issuesOfConfig(value)
        return issues.length === 0 ? { value: value as ErasedConfig } : { issues }
      },
    },
  }

  static {
    // React takes a function for a component, and would call it. A class component it constructs, which throws.
    Object.defineProperty(this.prototype, 'prototype', { value: { isReactComponent: true } })
    for (const field of fieldNames) {
      if (field === 'name' || field === 'handler') continue // a function has a `name`; the handler is private
      Object.defineProperty(this.prototype, field, {
        get(this: Tool): unknown {
          return this[definitionKey][field as keyof ToolDefinition]
        },
        configurable: true,
      })
    }
  }

  constructor(config: ErasedConfig, takesAnyObject = false) {
    const definition = define(config, takesAnyObject)
    const { name } = definition
    // A computed key names the function. `defineProperty` would too, but makes reads of the name slow.
    const named: Record<string, (args: Input, context?: DirectContext) => Promise<Result>> = {
      [name]: (args, context) => this.invoke(args, context),
    }
    super(named[name] as (...input: never[]) => unknown)
    Object.defineProperty(this, definitionKey, { value: definition })
  }

  static isTool(value: unknown): value is Tool {
    return typeof value === 'function' && isToolLike(value)
  }

  /**
   * Validates args. Returns them with defaults and after transforms.
   *
   * @throws `E_INVALID_TOOL_ARGS` if they do not fit the schema, `E_VALIDATOR_FAILED` or `E_SCHEMA_CONVERSION` if the schema fails.
   */
  async validate(args: unknown): Promise<unknown extends Parsed ? unknown : Parsed> {
    const { validateDirectly } = direct ?? (await loadDirect())
    return validateDirectly(this[definitionKey], args) as Promise<never>
  }

  /**
   * Validates a result, such as a form, against `outputSchema`. Returns what the schema gives back.
   *
   * @throws `E_INVALID_TOOL_RESULT` if it does not fit, `E_VALIDATOR_FAILED` or `E_SCHEMA_CONVERSION` if the schema fails.
   */
  async checkOutput(value: unknown): Promise<unknown> {
    const { checkDirectly } = direct ?? (await loadDirect())
    return checkDirectly(this[definitionKey], value)
  }

  /** Returns a tool with other options, and the same type, schemas and handler. @throws `E_INVALID_INITIAL_TOOL_VALUE`. */
  with(
    options: Partial<ToolOptions<unknown extends Parsed ? never : Parsed>>,
  ): Tool<Input, Result, Progress, Artifact, Parsed> {
    return new CallableTool(...changed(this[definitionKey], options))
  }

  /** Returns a description in plain JSON: name, description, JSON Schemas, and who runs the tool. */
  describe(): ToolDescription {
    return this[definitionKey].describe()
  }

  /**
   * Runs the tool for the application itself, as a call of the function does.
   *
   * @throws `E_INVALID_TOOL_ARGS`, `E_VALIDATOR_FAILED`, `E_TOOL_DOWNSTREAM_ERROR`, `E_INVALID_TOOL_RESULT`, `E_TOOL_TIMEOUT`,
   * `E_TOOL_CANCELLED`, `E_TOOL_NO_HANDLER`.
   */
  invoke(args: Input, context?: DirectContext): Promise<Result> {
    const call = direct === undefined ? loadAndCall : direct.callDirectly
    return call(this[definitionKey], args, context) as Promise<Result>
  }

  /** Runs the tool for the application itself, yields its progress, and returns its result. */
  async *stream(args: Input, context?: DirectContext): AsyncGenerator<Progress, Result, undefined> {
    const { streamDirectly } = direct ?? (await loadDirect())
    return (yield* streamDirectly(this[definitionKey], args, context)) as Result
  }

  /**
   * Returns a function that runs the tool through an executor. It resolves to the artifact, or rejects with the typed error.
   *
   * @param bound The executor, the session and the listener. Call `executor` once a turn and reuse the function.
   */
  executor(bound: BoundOptions = {}): (args: Input) => Promise<Artifact> {
    const own = { ...bound }
    return async (args) => {
      const { callBound } = direct ?? (await loadDirect())
      return callBound(this[definitionKey], args, own) as Promise<Artifact>
    }
  }

  /** Returns the same as `describe`, for `JSON.stringify`. */
  toJSON(): ToolDescription {
    return this.describe()
  }
}

export const Tool: ToolConstructor = CallableTool as unknown as ToolConstructor
Object.defineProperty(Tool, 'name', { value: 'Tool' })

/**
 * Makes a tool.
 *
 * @param config Name, description, schemas and handler; without `inputSchema` the tool takes no arguments.
 * @throws `E_INVALID_INITIAL_TOOL_VALUE` naming every field that is wrong.
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { z } from 'zod'
 *
 * const add = tool({
 *   name: 'add',
 *   description: 'Adds two numbers',
 *   inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
 *   handler: ({ a, b }) => a + b,
 * })
 * const sum = await add({ a: 1, b: 2 }) // 3
 *
 * const sendEmail = tool({
 *   name: 'send_email',
 *   description: 'Sends an email',
 *   inputSchema: z.object({ to: z.email(), body: z.string().default('Hello') }),
 *   handler: ({ to, body }, { toolName }) => `${toolName}: ${body} to ${to}`,
 * })
 * const answer = await sendEmail({ to: 'ada@example.com' }) // "send_email: Hello to ada@example.com"
 * ```
 */
export function tool<
  const Input extends Schema | undefined = undefined,
  Result = unknown,
  Progress = never,
  const Output extends Schema | undefined = undefined,
  Artifact extends SpooledArtifact = SpooledArtifact,
  const Type extends ToolType | (string & {}) = 'server',
>(
  config: ToolConfig<Input, OutputOf<Input>, Output, Artifact, Type> &
    CheckedHandlerField<Type, Input, Output, Result, Progress>,
): Tool<InputOf<Input>, CheckedResult<Output, Result>, Progress, Artifact, OutputOf<Input>>
/**
 * Makes a tool in one line: it takes any object, and its description is `Execute <name>`.
 *
 * @param name The name that models call.
 * @param handler Runs the tool.
 */
export function tool<Input, Result, Progress = never>(
  name: string,
  handler: ToolHandler<Input, Result, Progress>,
): Tool<Input, Result, Progress>
export function tool(config: string | object, handler?: unknown): Tool {
  if (typeof config !== 'string') return new Tool(config as ErasedConfig)
  return new Tool({ name: config, description: `Execute ${config}`, handler } as ErasedConfig, true)
}

/**
 * Makes a tool of type `client` from the client's description. The default of `intent` is `'render'`.
 *
 * @throws `E_INVALID_INITIAL_TOOL_VALUE` naming every field that is wrong.
 * @example
 * const ask = clientTool({ name: 'ask', description: 'Asks the user', requiresResponse: true })
 * const executor = createExecutor({ tools: [ask] })
 * const { token = '' } = await executor.execute({ name: 'ask', args: { text: 'Tea?' } }) // it waits
 * console.log((await executor.calls.respond(token, 'yes')).status) // ok
 */
export function clientTool(description: ClientToolDescription): Tool {
  return new Tool({ intent: 'render', ...description, type: 'client' }, true)
}
