import type { ArtifactOption } from '../result/artifact.ts'
import { SchemaConversionError } from '../errors.ts'
import { copyOfPlain, isPlainObject } from '../json/copy.ts'
import type { Schema } from '../schema/infer.ts'
import {
  isStandardSchema,
  jsonSchemaOf,
  noFields,
  reasonOf,
  requireConverter,
  requireObjectRoot,
  rootObject,
} from '../schema/json-schema.ts'
import type { Validator } from '../schema/validator.ts'
import type { JsonSchema, JsonSchemaObject } from '../schema/standard.ts'
import { invalidConfig, issuesOfConfig } from './checks.ts'
import type { DefaultedOptions, ErasedConfig, ErasedHandler, ToolOptions } from './options.ts'
import type { ToolTraits } from './traits.ts'

/** The part of a definition that is plain JSON. */
export interface ToolDescription
  extends
    Pick<ToolOptions, 'name' | 'title' | 'description' | 'requiresResponse' | 'timeout' | 'defaultResult' | 'ui'>,
    Required<Pick<ToolOptions, 'intent' | 'audience'>> {
  readonly type: string
  /** JSON Schema of the args; its root is an object. */
  readonly inputSchema: JsonSchemaObject
  /** JSON Schema of the result, if its schema can be converted. */
  readonly outputSchema?: JsonSchemaObject
}

// Registered, so that the tools of another copy of the package can be read.
export const definitionKey: unique symbol = Symbol.for('toolwright.definition')
const internalsKey: unique symbol = Symbol.for('toolwright.parts')

/** A value with a definition: a `Tool` of this or another copy of the package, or the definition itself. */
export interface ToolLike {
  readonly [definitionKey]: ToolDefinition
}

type Defaulted = keyof DefaultedOptions | 'requiresConfirmation' | 'middleware'

/** The complete data of a tool; the registry, the stages and the formats use only this. */
export interface ToolDefinition
  extends ToolLike, Omit<ToolOptions<unknown>, Defaulted>, Required<Pick<ToolOptions<unknown>, Defaulted>> {
  readonly type: string
  readonly traits: Required<Omit<ToolTraits, 'coalesce'>> & Pick<ToolTraits, 'coalesce'>
  readonly inputSchema?: Schema
  readonly outputSchema?: Schema
  readonly artifact?: ArtifactOption
  /** Returns the description. Throws `E_SCHEMA_CONVERSION` if JSON Schema cannot express the input schema. */
  describe(): ToolDescription
}

/** The parts of a definition that only the kernel uses. */
interface Internals {
  /** Made for the first call: `validators.ts` has it. */
  input: Validator | undefined
  output: Validator | undefined
  readonly handler: ErasedHandler | undefined
  /** Whether a tool without an input schema takes any object. */
  readonly takesAnyObject: boolean
}

/** Makes a definition from a config. Throws `E_INVALID_INITIAL_TOOL_VALUE` naming every field that is wrong. */
export function define(config: ErasedConfig, takesAnyObject = false): ToolDefinition {
  const issues = issuesOfConfig(config)
  if (issues.length > 0) throw invalidConfig(config, issues)
  const { handler, ...options } = ownOptions(config)
  const { name } = options
  const parts: Internals = { input: undefined, output: undefined, handler, takesAnyObject }
  let description: ToolDescription | undefined
  const definition = {
    intent: 'compute',
    audience: 'model',
    requiresConfirmation: false,
    requiresResponse: false,
    defaultResult: [{ type: 'text', text: `[${name} rendered on client]` }],
    middleware: [],
    ephemeral: false,
    trusted: false,
    onCollision: 'throw',
    meta: {},
    metadata: {},
    aliases: [],
    providerOptions: {},
    libraryOptions: {},
    examples: [],
    secrets: [],
    ...options,
    type: options.type ?? 'server',
    traits: {
      readonly: false,
      destructive: false,
      idempotent: false,
      openWorld: false,
      concurrent: true,
      ...statedTraits(options.traits),
    },
    describe: () => (description ??= descriptionOf(definition, takesAnyObject)),
  } as Omit<ToolDefinition, typeof definitionKey> as ToolDefinition
  Object.defineProperty(definition, definitionKey, { value: definition })
  Object.defineProperty(definition, internalsKey, { value: parts })
  Object.freeze(definition.traits)
  return Object.freeze(definition)
}

/** Leaves `coalesce` out unless it is set: the hash of a definition without it stays what it was. */
function statedTraits({ coalesce, ...traits }: ToolTraits = {}): ToolTraits {
  return coalesce === true ? { ...traits, coalesce } : traits
}

/** What a validator or a class knows by its identity. */
const sharedFields: readonly string[] = ['inputSchema', 'outputSchema', 'artifact', 'handler']

/** Returns the fields of a config that are set. What its author still holds is copied, and frozen. */
function ownOptions(config: ErasedConfig): ErasedConfig {
  const fields = Object.entries(withoutUndefined(config))
  const own = fields.map(([field, value]) => [field, sharedFields.includes(field) ? value : frozenCopy(value)])
  return Object.fromEntries(own) as ErasedConfig
}

function frozenCopy(value: unknown): unknown {
  const copy = copyOfPlain(value)
  return copy === value ? value : deepFrozen(copy)
}

/** Freezes arrays and plain objects all the way down. */
function deepFrozen(value: unknown): unknown {
  if ((!Array.isArray(value) && !isPlainObject(value)) || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const member of Object.values(value)) deepFrozen(member)
  return value
}

/** Returns the definition of a tool of any copy of the package. */
export function definitionOf(tool: ToolLike): ToolDefinition {
  return tool[definitionKey]
}

export function isToolLike(value: unknown): value is ToolLike {
  return value !== null && (typeof value === 'object' || typeof value === 'function') && definitionKey in value
}

/** Returns the handler of a tool and its validators, if they are made, for the kernel alone. */
export function internals(definition: ToolDefinition): Internals {
  return (definition as ToolDefinition & { readonly [internalsKey]: Internals })[internalsKey]
}

/** Returns what `define` takes for the same tool with other options: its type, its schemas and its handler stay. */
export function changed(definition: ToolDefinition, options: Partial<ToolOptions>): Parameters<typeof define> {
  // oxlint-disable-next-line typescript/unbound-method -- it is left out, and not called
  const { describe: _describe, ...own } = definition
  const { handler, takesAnyObject } = internals(definition)
  const { type, inputSchema, outputSchema } = own
  const config = { ...own, ...options, type, inputSchema, outputSchema, handler } as unknown as ErasedConfig
  return [config, takesAnyObject]
}

/** Throws `E_SCHEMA_CONVERSION` if a tool for models has a schema that obviously has no JSON Schema. Converts nothing. */
export function requireDescribable(definition: ToolDefinition): void {
  const { audience, jsonSchema, inputSchema, name } = definition
  if (audience === 'user') return
  converting(name, () => {
    if (jsonSchema !== undefined) requireObjectRoot(jsonSchema)
    else if (isStandardSchema(inputSchema)) requireConverter(inputSchema)
    else if (inputSchema !== undefined) requireObjectRoot(inputSchema as JsonSchema)
  })
}

/** Whether a tool can be described. Reports the reason if not. */
export function canBeDescribed(definition: ToolDefinition, report: (error: unknown) => void): boolean {
  try {
    definition.describe()
    return true
  } catch (error) {
    report(error)
    return false
  }
}

/** Names the tool in what a conversion throws. */
function converting<Converted>(name: string, convert: () => Converted): Converted {
  try {
    return convert()
  } catch (cause) {
    throw new SchemaConversionError(`Tool ${JSON.stringify(name)}: ${reasonOf(cause)}`, { cause })
  }
}

function descriptionOf(definition: ToolDefinition, takesAnyObject: boolean): ToolDescription {
  const { name, title, description, jsonSchema, type, intent, audience, ui } = definition
  const { requiresResponse, timeout = 30_000, defaultResult } = definition
  const inputSchema = converting(name, () => rootObject(jsonSchema ?? inputJsonSchema(definition, takesAnyObject)))
  const outputSchema = outputJsonSchema(definition)
  const ofClients = type === 'client' && { requiresResponse, timeout, defaultResult }
  const all = { name, title, description, inputSchema, outputSchema, type, intent, audience, ...ofClients, ui }
  return withoutUndefined(all) as ToolDescription
}

function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value
}

function inputJsonSchema({ inputSchema }: ToolDefinition, takesAnyObject: boolean): JsonSchemaObject {
  if (inputSchema !== undefined) return jsonSchemaOf(inputSchema, 'input')
  return takesAnyObject ? { type: 'object' } : noFields
}

/** Returns the JSON Schema of the result, or `undefined` if there is none: such a schema still validates. */
function outputJsonSchema({ outputSchema }: ToolDefinition): JsonSchemaObject | undefined {
  try {
    return outputSchema === undefined ? undefined : jsonSchemaOf(outputSchema, 'output')
  } catch {
    return undefined
  }
}
