import { Tool, type Schema, type ToolContext, type ToolOptions } from '../index.ts'

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
  readonly requiresConfirmation?: boolean | ((input: unknown, context: ToolContext) => unknown)
  readonly libraryOptions?: object
  readonly handler?: (input: unknown, context: ToolContext) => unknown
}

/** Makes a tool of a framework's. Its own wish to be confirmed stays, unless the application says otherwise. */
export function foreignTool(foreign: Foreign, options: ForeignOptions): Tool {
  const { tools = {} } = options
  const own = Object.hasOwn(tools, foreign.name) ? tools[foreign.name] : undefined
  const { description, ...rest } = foreign
  const config = { ...rest, description: description || `Execute ${foreign.name}`, ...own }
  const defined = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))
  return new Tool(defined as unknown as ConstructorParameters<typeof Tool>[0])
}
