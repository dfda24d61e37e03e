import { Tool, ToolFailure, type StandardSchemaV1, type ToolDescription } from '../../index.ts'
import type { ErasedConfig } from '../../extension.ts'
import type { ToolChildren, ToolLifecycle } from './_lifecycle.ts'

/** What a component gives: the config of a tool, or a tool and what differs from it; and what the loop calls. */
export interface ComponentTool extends Partial<ErasedConfig>, ToolLifecycle {
  readonly tool?: Tool
}

/**
 * The tool of a component. It stays the same until something changes that models, people or policies are told of it. Its
 * functions are those of the newest render.
 */
export interface Version {
  readonly tool: Tool
  /** Equal for configs that tell the same. */
  readonly key: string
  /** What the newest render gave. */
  component: ComponentTool
}

/** What lasts as long as a component is mounted. */
export interface Seat {
  isMounted: boolean
  version: Version | undefined
}

/** The fields that are compared by what is told of them, and never called by their identity. */
const schemaFields: readonly string[] = ['inputSchema', 'outputSchema', 'jsonSchema']

/** A Zod schema, as what it has beside the standard. */
interface AsyncParser {
  safeParseAsync(value: unknown): Promise<unknown>
}

/** The fields whose members are functions. */
const holders: readonly string[] = ['hooks', 'middleware']

/** Returns the version of a render: the former one if the same is told, so that the tool stays in the registry. */
export function versionOf(component: ComponentTool, seat: Seat): Version {
  const { version: former } = seat
  const options = toolOptions(component)
  if (former !== undefined && hasSameOptions(component, options, former.component)) return former
  const open = { component }
  const config = Object.fromEntries(
    options.map(([field, value]) => {
      const newest = (): unknown => open.component[field as keyof ComponentTool]
      if (field === 'handler') return [field, liveHandler(String(component.name), seat, newest)]
      if (schemaFields.includes(field)) return [field, liveSchema(value, newest)]
      return [field, isLive(field, value) || holders.includes(field) ? live(value, newest) : value]
    }),
  ) as unknown as ErasedConfig
  const isChanged = options.length > 0
  const tool =
    component.tool === undefined ? new Tool(config) : isChanged ? component.tool.with(config) : component.tool
  const toolFields = options.filter(([field]) => !schemaFields.includes(field))
  const libraries = schemaFields.map((field) => standardOf(component[field as keyof ComponentTool])?.vendor)
  const key = [
    objectNumber(component.tool),
    comparedText(safeDescription(tool)),
    ...libraries,
    ...toolFields.map(([field, value]) => field + comparedText(value)),
  ]
  const version = Object.assign(open, { tool, key: key.join() })
  return former?.key === version.key ? former : version
}

/** What a component says beside the options of its tool. */
const besides: Readonly<Record<Exclude<keyof ComponentTool, keyof ErasedConfig> | keyof ToolChildren, true>> = {
  tool: true,
  children: true,
  render: true,
  onMount: true,
  onUnmount: true,
  onStart: true,
  onTickStart: true,
  onTickEnd: true,
  onMessagesChanged: true,
  onAfterCompile: true,
  onComplete: true,
  onError: true,
}

/** Returns the options of the tool itself. */
function toolOptions(component: ComponentTool): [field: string, value: unknown][] {
  return Object.entries(component).filter(([field, value]) => value !== undefined && !Object.hasOwn(besides, field))
}

/** Whether only functions differ, as in most renders. */
function hasSameOptions(
  component: ComponentTool,
  options: readonly [field: string, value: unknown][],
  former: ComponentTool,
): boolean {
  if (component.tool !== former.tool || options.length !== toolOptions(former).length) return false
  return options.every(([field, value]) => {
    const before = former[field as keyof ComponentTool]
    return Object.is(value, before) || (isLive(field, value) && isLive(field, before))
  })
}

/** Whether a field is a function that the newest render may replace. A class of artifacts is none, nor is a schema. */
function isLive(field: string, value: unknown): boolean {
  return typeof value === 'function' && field !== 'artifact' && !schemaFields.includes(field)
}

function liveHandler(name: string, seat: Seat, newest: () => unknown): ErasedConfig['handler'] {
  return (input, context) => {
    if (seat.isMounted) return (newest() as NonNullable<ErasedConfig['handler']>)(input, context)
    throw new ToolFailure(
      `The component of ${JSON.stringify(name)} was unmounted before the call began. Nothing was run.`,
    )
  }
}

/** Returns a copy in which each function calls the newest one at its place. */
function live(value: unknown, newest: () => unknown): unknown {
  if (typeof value === 'function')
    return (...input: unknown[]) => (newest() as (...input: unknown[]) => unknown)(...input)
  if (!isPlainData(value)) return value
  const members = Object.entries(value).map(([key, member]): [string, unknown] => [
    key,
    live(member, () => (newest() as Record<string, unknown>)[key]),
  ])
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members)
}

function standardOf(schema: unknown): StandardSchemaV1['~standard'] | undefined {
  return (schema as Partial<StandardSchemaV1> | null | undefined)?.['~standard']
}

/**
 * Returns a schema that is described as before, and validates with the newest one. Raw JSON Schema stays as it is. What Zod has
 * beside the standard goes with it: a tool asks Zod asynchronously by that.
 */
function liveSchema(schema: unknown, newest: () => unknown): unknown {
  const standard = standardOf(schema)
  if (typeof standard?.validate !== 'function') return schema
  const validate = (value: unknown): unknown => standardOf(newest())?.validate(value)
  const parse = (value: unknown): unknown => (newest() as AsyncParser).safeParseAsync(value)
  const isZod = typeof (schema as Partial<AsyncParser>).safeParseAsync === 'function'
  return { '~standard': { ...standard, validate }, ...(isZod ? { safeParseAsync: parse } : undefined) }
}

function safeDescription(tool: Tool): ToolDescription | undefined {
  try {
    return tool.describe()
  } catch {
    return undefined // the registry refuses it, if models would see it
  }
}

function isPlainData(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === null || prototype === Object.prototype
}

/** Returns a text that is equal for equal data. All functions are equal, and other objects equal themselves alone. */
function comparedText(value: unknown): string {
  try {
    return JSON.stringify(value, (_key, member: unknown) => {
      if (typeof member === 'object' && member !== null) return isPlainData(member) ? member : objectNumber(member)
      if (typeof member === 'function') return 'function'
      return typeof member === 'bigint' || member === undefined || !Number.isFinite(member ?? 0)
        ? String(member)
        : member
    })
  } catch {
    return String(objectNumber(value as object)) // it refers to itself
  }
}

const numbers = new WeakMap<object, number>()
let lastNumber = 0

function objectNumber(value: object | undefined): number {
  if (value === undefined) return 0
  const number = numbers.get(value) ?? ++lastNumber
  numbers.set(value, number)
  return number
}
