import type { ArtifactOption, SpooledArtifact } from '../result/artifact.ts'
import { assemble } from '../assemble.ts'
import type { CallOptions } from '../call/call.ts'
import { define, definitionKey, isToolLike, partsOf, type ToolDefinition, type ToolDescription } from './definition.ts'
import { callDirectly, type DirectContext } from '../direct.ts'
import { ToolDeniedError } from '../errors.ts'
import { createExecutor, type ToolExecutor } from '../executor.ts'
import type { InputOf, OutputOf, Schema } from '../schema/infer.ts'
import type { Kernel, Observer, ToolContext } from '../ports.ts'
import { pump } from '../run/stream-events.ts'
import { invalidArgs } from '../schema/validator.ts'
import type { StandardSchemaV1 } from '../schema/standard.ts'
import { fieldNames, issuesOfConfig } from './checks.ts'
import type { ErasedConfig, ToolOptions, ToolType } from './options.ts'

/** What does the work: a plain function, an async one, or an async generator that yields progress and returns the result. */
export type ToolHandler<Input, Result, Progress = unknown> = (
  input: Input,
  context: ToolContext,
  // oxlint-disable-next-line typescript/no-explicit-any -- what a consumer sends into the generator is not ours to type
) => AsyncGenerator<Progress, Result, any> | Promise<Result> | Result

/** What a direct call gives: what `outputSchema` gives out, else what the handler returned. */
export type CheckedResult<Output, Result> = Output extends undefined ? Result : OutputOf<Output>

/** A handler is required where we run the tool ourselves. Deferred on purpose, so that literals are not widened. */
export type HandlerField<Type, Input, Result, Progress> = Type extends 'server' | 'mcp'
  ? { readonly handler: ToolHandler<Input, Result, Progress> }
  : { readonly handler?: ToolHandler<Input, Result, Progress> }

/**
 * The handler of a tool: it returns what `outputSchema` takes in, else whatever it returns. The choice is around the whole
 * handler, since within a choice the members of a union that it returns would be inferred apart, and only the first be taken.
 */
export type CheckedHandlerField<Type, Input, Output, Result, Progress> = Output extends undefined
  ? HandlerField<Type, Input, Result, Progress>
  : HandlerField<Type, Input, InputOf<Output>, Progress>

/** A tool, as its author writes it. */
export interface ToolConfig<Input, Parsed, Output, Artifact extends SpooledArtifact, Type> extends ToolOptions<Parsed> {
  readonly type?: Type
  /** Any Standard Schema, or a raw JSON Schema. Default: it takes no arguments. */
  readonly inputSchema?: Input
  /** Checks what the handler returns. */
  readonly outputSchema?: Output
  /** How the result is read. Default: by what it is. */
  readonly artifact?: ArtifactOption<Artifact>
  /** `HandlerField` types it; named here, since from a config that lacks a field and has another too many nothing is inferred. */
  readonly handler?: unknown
}

/** What binds a tool to the passage. */
export interface BoundOptions extends Omit<CallOptions, 'invocationId'> {
  /** Default: one that holds this tool alone. `caller` is `'user'` where it is not said. */
  readonly executor?: ToolExecutor
  /** Hears the events of the calls. */
  readonly on?: Observer
}

/** Gives a function the prototype of the class that is being made, so that the class's fields land on the function itself. */
const Callable = class {
  constructor(body: (...input: never[]) => unknown) {
    return Object.setPrototypeOf(body, new.target.prototype) as object
  }
} as unknown as new (body: (...input: never[]) => unknown) => object
Object.setPrototypeOf(Callable.prototype, Function.prototype)

let bare: Kernel | undefined

/** The kernel of direct calls: no doors, and the args stay the caller's. */
function bareKernel(): Kernel {
  bare ??= { ...assemble({ inlineLimit: Infinity }, () => 'direct').kernel, owns: () => false }
  return bare
}

/** A tool: everything that is known of it, and a function that runs it. */
// oxlint-disable-next-line eslint/no-unused-vars -- an interface that merges with a class has the same parameters
export interface Tool<Input, Result, Progress, Artifact extends SpooledArtifact> extends ToolDefinition {
  /** Runs the tool for the host itself: validated in and out, without policies, events or a record. */
  (args: Input, context?: DirectContext): Promise<Result>
}
export class Tool<
  // oxlint-disable-next-line typescript/no-explicit-any -- so that tools of any input fit a `Tool[]`
  Input = any,
  Result = unknown,
  Progress = unknown,
  Artifact extends SpooledArtifact = SpooledArtifact,
> extends Callable {
  /** A Standard Schema of what `new Tool(config)` takes, to nest in schemas of one's own. */
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
    for (const field of fieldNames) {
      if (field === 'name' || field === 'handler') continue // a function has its name; the handler is the kernel's
      Object.defineProperty(this.prototype, field, {
        get(this: Tool): unknown {
          return this[definitionKey][field as keyof ToolDefinition]
        },
        configurable: true,
      })
    }
  }

  /**
   * @param config The tool, as its author writes it.
   * @param takesAnyObject Without an input schema: whether any object is taken, instead of no arguments. Default: `false`.
   * @throws `E_INVALID_INITIAL_TOOL_VALUE` naming every field that is wrong.
   */
  constructor(config: ErasedConfig, takesAnyObject = false) {
    const definition = define(config, takesAnyObject)
    const { name } = definition
    // A computed key names the function; `defineProperty` would do it too, and make every read of it slow.
    const named: Record<string, (args: Input, context?: DirectContext) => Promise<Result>> = {
      [name]: (args, context) => this.invoke(args, context),
    }
    super(named[name] as (...input: never[]) => unknown)
    Object.defineProperty(this, definitionKey, { value: definition })
  }

  /** Whether a value is a tool, whichever copy of the package made it. */
  static isTool(value: unknown): value is Tool {
    return typeof value === 'function' && isToolLike(value)
  }

  /**
   * Asks the input schema about args, and gives what it gives back: defaults filled in, transforms done.
   *
   * @throws `E_INVALID_TOOL_ARGS`, `E_VALIDATOR_FAILED`, `E_SCHEMA_CONVERSION`.
   */
  async validate(args: unknown): Promise<unknown> {
    const outcome = await partsOf(this[definitionKey]).input.validate(args === undefined ? {} : args)
    if (outcome.issues === undefined) return outcome.value
    throw invalidArgs(this.name, outcome.issues)
  }

  /** What can be written down and sent anywhere: name, description, JSON Schemas, and who runs it. */
  describe(): ToolDescription {
    return this[definitionKey].describe()
  }

  /**
   * Runs the tool for the host itself, as calling it does.
   *
   * @throws `E_INVALID_TOOL_ARGS`, `E_VALIDATOR_FAILED`, `E_TOOL_DOWNSTREAM_ERROR`, `E_INVALID_TOOL_RESULT`, `E_TOOL_TIMEOUT`,
   * `E_TOOL_CANCELLED`, `E_TOOL_NO_HANDLER`.
   */
  invoke(args: Input, context?: DirectContext): Promise<Result> {
    return callDirectly(this[definitionKey], args, context ?? {}, bareKernel()) as Promise<Result>
  }

  /** Runs the tool for the host itself, yields its progress, and returns its result. */
  async *stream(args: Input, context: DirectContext = {}): AsyncGenerator<Progress, Result, undefined> {
    const events = pump<unknown>(
      (watcher, signal) => callDirectly(this[definitionKey], args, { ...context, signal }, bareKernel(), watcher),
      context.signal,
    )
    try {
      let step = await events.next()
      for (; step.done !== true; step = await events.next()) {
        if (step.value.event === 'tool:progress' && step.value.type === 'yield') yield step.value.data as Progress
      }
      return step.value as Result
    } finally {
      await events.return(undefined)
    }
  }

  /**
   * Binds the passage to this tool: the function that it gives resolves to the artifact, and rejects with the typed error.
   *
   * @param bound Which executor, in which session, and who hears the events. Call it once a turn, and use the function again.
   */
  executor(bound: BoundOptions = {}): (args: Input) => Promise<Artifact> {
    const { executor = createExecutor({ tools: [this] }), on, ...options } = bound
    return async (args) => {
      const events = executor.stream({ name: this.name, args }, { caller: 'user', ...options })
      let step = await events.next()
      while (step.done !== true) {
        on?.(step.value)
        step = await events.next()
      }
      const { error, artifact, status } = step.value
      if (error !== undefined) throw error
      if (artifact === undefined) throw new ToolDeniedError(`${this.name} has not run: it is ${status}.`)
      return artifact as Artifact
    }
  }

  /** The same as `describe`, so that a tool can be written as JSON. */
  toJSON(): ToolDescription {
    return this.describe()
  }
}

/**
 * Makes a tool.
 *
 * @param config Its name, its description, its schemas and its handler; without `inputSchema` it takes no arguments.
 * @throws `E_INVALID_INITIAL_TOOL_VALUE` naming every field that is wrong.
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 *
 * const add = tool({
 *   name: 'add',
 *   description: 'Adds two numbers',
 *   inputSchema: {
 *     type: 'object',
 *     properties: { a: { type: 'number' }, b: { type: 'number' } },
 *     required: ['a', 'b'],
 *   },
 *   handler: ({ a, b }) => a + b,
 * })
 * const sum = await add({ a: 1, b: 2 }) // 3
 * ```
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { z } from 'zod'
 *
 * const sendEmail = tool({
 *   name: 'send_email',
 *   description: 'Sends an email',
 *   inputSchema: z.object({ to: z.email(), body: z.string().default('Hello') }),
 *   handler: ({ to, body }, { toolName }) => `${toolName}: ${body} to ${to}`,
 * })
 * const said = await sendEmail({ to: 'ada@example.com' }) // "send_email: Hello to ada@example.com"
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
    CheckedHandlerField<Type, OutputOf<Input>, Output, Result, Progress>,
): Tool<InputOf<Input>, CheckedResult<Output, Result>, Progress, Artifact>
/**
 * Makes a tool in one line: it takes any object, and is described as `Execute <name>`.
 *
 * @param name How models call it.
 * @param handler What does the work.
 */
export function tool<Input, Result, Progress = never>(
  name: string,
  handler: ToolHandler<Input, Result, Progress>,
): Tool<Input, Result, Progress>
export function tool(config: string | object, handler?: unknown): Tool {
  if (typeof config !== 'string') return new Tool(config as ErasedConfig)
  return new Tool({ name: config, description: `Execute ${config}`, handler } as ErasedConfig, true)
}

/** A tool of type `client` as a client describes it, in plain JSON. */
export interface ClientToolDescription extends Pick<
  ToolOptions,
  'name' | 'description' | 'title' | 'intent' | 'requiresResponse' | 'timeout' | 'defaultResult'
> {
  /** Default: any object. */
  readonly inputSchema?: Schema
}

/**
 * Makes a tool out of what a client says of its own: run by the client, meant to render where it does not say otherwise.
 *
 * @throws `E_INVALID_INITIAL_TOOL_VALUE` naming every field that is wrong.
 */
export function clientTool(description: ClientToolDescription): Tool {
  return new Tool({ intent: 'render', ...description, type: 'client' }, true)
}
