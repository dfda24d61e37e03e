/**
 * Tools made of the methods of an object. This file adds no state and runs nothing by itself.
 *
 * @module
 */
import { tool, type Tool, type ToolContext, type ToolOptions } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'

/** The options of a method that is a tool. */
export interface ToolMethodOptions extends Omit<ToolOptions<unknown>, 'name'> {
  /** Default: the name of the method. */
  readonly name?: string
  /** A schema of any library, or JSON Schema. Default: any object. */
  readonly inputSchema?: object
  readonly outputSchema?: object
}

type MarkedMethod = (this: never, input: never, context: ToolContext) => unknown

type MethodHandler = (input: unknown, context: ToolContext) => unknown

const markedMethods = new WeakMap<object, ToolMethodOptions>()

/**
 * Marks a method as a tool. It is a plain function and a standard decorator alike: `@toolMethod({ … })` before a method, or
 * `toolMethod({ … })(function …)` without the syntax.
 *
 * @param options As those of `tool`, without the handler: the method is the handler, and gets the input and the context.
 * @throws `E_INVALID_CONFIGURATION` if it decorates no method, or a private one.
 * @example
 * ```ts
 * import { toolMethod, toolsOf } from 'toolwright/builtins/methods'
 *
 * class Counter {
 *   count = 0
 *   add = toolMethod({ description: 'Adds a number to the count' })(({ by }: { by: number }) => (this.count += by))
 * }
 * console.log(toolsOf(new Counter()).map(({ name }) => name)) // [ 'add' ]
 * ```
 * @experimental
 */
export function toolMethod(
  options: ToolMethodOptions,
): <Marked extends MarkedMethod>(method: Marked, decorated?: ClassMethodDecoratorContext) => Marked {
  if (typeof options !== 'object' || options === null) throw wrongMethods('`toolMethod` takes an object of options')
  return (method, decorated) => {
    if (typeof method !== 'function' || (decorated !== undefined && decorated.kind !== 'method')) {
      throw wrongMethods('`toolMethod` decorates methods, and nothing else')
    }
    if (decorated?.private === true)
      throw wrongMethods(`\`toolMethod\` cannot reach the private method ${String(decorated.name)}`)
    markedMethods.set(method, options)
    return method
  }
}

/**
 * Makes tools of the marked methods of an object: its own and those of its classes. A method of a subclass replaces the one
 * that it overrides, whose mark it keeps unless it has its own.
 *
 * @throws `E_INVALID_CONFIGURATION` if there is none, and what `tool` throws.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { toolMethod, toolsOf } from 'toolwright/builtins/methods'
 *
 * const clock = { now: toolMethod({ description: 'Gives the time' })(() => new Date().toISOString()) }
 * const executor = createExecutor({ tools: toolsOf(clock) })
 * ```
 * @experimental
 */
export function toolsOf(instance: object): Tool[] {
  if (typeof instance !== 'object' || instance === null) throw wrongMethods('`toolsOf` takes an object')
  const methods = new Map<string, ToolMethodOptions>()
  for (let owner: object | null = instance; owner !== null && owner !== Object.prototype;) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      const options: ToolMethodOptions | undefined = typeof value === 'function' ? markedMethods.get(value) : undefined
      if (options !== undefined && !methods.has(name)) methods.set(name, options)
    }
    owner = Object.getPrototypeOf(owner) as object | null
  }
  if (methods.size === 0) throw wrongMethods('`toolsOf` found no method that `toolMethod` marks')
  return Array.from(methods, ([method, options]) => methodTool(instance, method, options))
}

function methodTool(instance: object, method: string, options: ToolMethodOptions): Tool {
  return tool({
    inputSchema: { type: 'object' },
    ...options,
    name: options.name ?? method,
    handler: (input: unknown, context: ToolContext) =>
      (instance as Record<string, MethodHandler>)[method]?.(input, context),
  } as never)
}

function wrongMethods(message: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`${message}.`)
}
