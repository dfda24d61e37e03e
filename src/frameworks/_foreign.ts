import { Tool, type Schema, type ToolContext, type ToolOptions } from '../index.ts'
import { checkOptions, optionsError, type OptionCheck, type OptionChecks } from '../extension.ts'
import { isObject } from '../formats/_read.ts'

/** What only the application knows of a framework's tool. */
export type ForeignToolOptions = Partial<
  Pick<
    ToolOptions<unknown>,
    | 'aliases'
    | 'audience'
    | 'confirmationMessage'
    | 'description'
    | 'exposeErrors'
    | 'hooks'
    | 'inlineLimit'
    | 'intent'
    | 'jsonSchema'
    | 'metadata'
    | 'middleware'
    | 'name'
    | 'requiresConfirmation'
    | 'secrets'
    | 'timeout'
    | 'title'
    | 'traits'
    | 'trusted'
  >
>

/** How tools of a framework become tools of an executor. */
export interface ForeignOptions {
  /** By the framework's name of each tool. What the framework says of a tool never makes a policy milder; what stands here may. */
  readonly tools?: { readonly [name: string]: ForeignToolOptions }
}

/** A tool of a framework, as far as this package needs it. */
export interface Foreign {
  readonly name: string
  readonly title?: string | undefined
  readonly description: string | undefined
  readonly inputSchema: Schema
  readonly outputSchema?: Schema | undefined
  readonly type?: string
  readonly examples?: readonly unknown[] | undefined
  readonly requiresResponse?: boolean
  readonly timeout?: number
  readonly requiresConfirmation?: boolean | ((input: unknown, context: ToolContext) => unknown)
  readonly libraryOptions?: object
  readonly handler?: (input: unknown, context: ToolContext) => unknown
}

const mostForeignNames = 20
const byNames: OptionCheck = { expected: 'options of tools by their names', accepts: isObject }

/**
 * Checks what a function is given that makes tools of a framework's.
 *
 * @param owner The function, for the error.
 * @param own The options that it has beside `tools`.
 * @param isNamed Whether it takes the tools by their names. Default: it takes an array.
 * @throws `E_INVALID_CONFIGURATION` if they are no tools, an option is unknown, missing or wrong, or `tools` names none of them.
 */
export function checkForeign<Options extends ForeignOptions>(
  owner: string,
  tools: unknown,
  options: Options,
  own: OptionChecks<Omit<Options, 'tools'>>,
  isNamed = false,
): void {
  const isFitting = isNamed ? isObject(tools) : Array.isArray(tools)
  if (!isFitting || !Object.values(tools as object).every((each) => Object(each) === each)) {
    throw optionsError(owner, isNamed ? 'takes tools by their names, such as { search }' : 'takes an array of tools')
  }
  checkOptions<object>(owner, options, { tools: byNames, ...own })
  const list = Object.values(tools as object) as readonly { readonly id?: unknown; readonly name?: unknown }[]
  const names = isNamed ? Object.keys(tools as object) : list.map(({ id, name }) => name ?? id)
  const stranger = Object.keys(options.tools ?? {}).find((name) => !names.includes(name))
  if (stranger === undefined) return
  const present = names.length === 0 ? 'it is given none' : `these are ${foreignNames(names)}`
  throw optionsError(owner, `has no tool ${JSON.stringify(stranger)} for the options in \`tools\`: ${present}`)
}

function foreignNames(names: readonly unknown[]): string {
  const rest = names.length > mostForeignNames ? ` and ${names.length - mostForeignNames} more` : ''
  return names.slice(0, mostForeignNames).map(String).join(', ') + rest
}

/** Makes a tool of a framework's. Its own wish to be confirmed stays, unless the application says otherwise. */
export function foreignTool(foreign: Foreign, options: ForeignOptions): Tool {
  const { tools = {} } = options
  const own = Object.hasOwn(tools, foreign.name) ? tools[foreign.name] : undefined
  const { description, inputSchema, ...rest } = foreign
  const config = {
    ...rest,
    inputSchema: withProperties(inputSchema),
    description: description || `Execute ${foreign.name}`,
    ...own,
  }
  const defined = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))
  return new Tool(defined as unknown as ConstructorParameters<typeof Tool>[0])
}

/** A server's schema may have words beside its keywords, and would be refused as fields that its author has misplaced. It may have none. */
function withProperties(schema: Schema): Schema {
  return isBare(schema) ? { properties: {}, ...schema } : schema
}

/** Whether it is raw JSON Schema of an object that says more than that, and nothing of its fields. */
function isBare(schema: unknown): schema is object {
  if (typeof schema !== 'object' || schema === null || Object.getPrototypeOf(schema) !== Object.prototype) return false
  const { type, properties } = schema as { readonly type?: unknown; readonly properties?: unknown }
  return type === 'object' && properties === undefined && Object.keys(schema).length > 1 && !('~standard' in schema)
}
