import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isToolError, ToolRegistry, type Format, type ToolDefinition, type ToolExecutor } from '../index.ts'
import { catalogueOf } from '../kernel/run/served.ts'
import { UsageError } from './arguments.ts'
import { note, thrownMessage, type Host } from './host.ts'

// Registered, to recognise tools of another copy of the package: the module may have its own `node_modules`.
const foreignDefinitionKey = Symbol.for('toolwright.definition')

/** What a module exports. */
export interface Loaded {
  /** The path, as the user typed it. */
  readonly path: string
  /** The tools that the executor can call, if it exports one. */
  readonly tools: readonly ToolDefinition[]
  readonly executor?: ToolExecutor
  /** Returns the exported formats, which stand alone or in an array. @throws {UsageError} if one cannot be read. */
  readonly formats: () => readonly ExportedFormat[]
}

/** A format that a module exports. */
export interface ExportedFormat {
  readonly name: string
  /** The name of the export. */
  readonly place: string
  readonly format: Format
}

/** The members that every format has. */
const membersOfFormats = ['name', 'detect', 'definitions', 'calls', 'results'] as const

/**
 * Loads a module and collects its exported tools, arrays of tools and registries, under any name. A tool whose schema cannot
 * be shown to a model is set aside and reported on stderr. If the module exports an executor, the tools are those of the
 * executor. Exported tools that it does not have are left out and reported. Formats are read when a command needs them.
 *
 * @param path As the user typed it, relative to the working directory.
 * @throws {UsageError} if the module cannot be loaded, has no tools and no executor, has two tools with one name, or has two
 * executors.
 */
export async function loadModule(path: string, host: Host): Promise<Loaded> {
  const exported = await loadExports(path, 'tools or an executor')
  // The default export of a CommonJS module is an object of its exports.
  const values = [...Object.entries(exported), ...exportedEntries(exported['default'], path, host)]
  const formats = (): readonly ExportedFormat[] => formatsIn(values, path)
  const tools = new Set<ToolDefinition>()
  for (const [, value] of values) gather(value, tools)
  const executor = executorOf(values, path)
  if (executor !== undefined) {
    const own = executorTools(executor, host)
    const beside = [...tools].filter((tool) => !own.includes(tool)).map(({ name }) => name)
    if (beside.length > 0) {
      note(host, `${path} exports tools that its executor does not have, and that are left out: ${beside.join(', ')}`)
    }
    return { path, tools: own, executor, formats }
  }
  if (tools.size === 0) {
    throw new UsageError(
      `${path} exports no tools, but ${inWords(exported)}. Export what tool({ … }) or createExecutor({ … }) returns, an array of tools, or a ToolRegistry.`,
      'E_INVALID_CONFIGURATION',
    )
  }
  const registry = new ToolRegistry()
  for (const tool of tools) addTool(tool, registry, path, host)
  return { path, tools: registry.list(), formats }
}

/**
 * Loads a module and returns the function that is its default export.
 *
 * @param path As the user typed it, relative to the working directory.
 * @throws {UsageError} if the module cannot be loaded, or its default export is no function.
 */
export async function loadFunction(path: string): Promise<(...args: never) => unknown> {
  const exported = await loadExports(path, 'a function')
  const { default: loaded } = exported
  if (typeof loaded === 'function') return loaded as (...args: never) => unknown
  throw new UsageError(
    `${path} exports no function as its default, but ${inWords(exported)}.`,
    'E_INVALID_CONFIGURATION',
  )
}

async function loadExports(path: string, what: string): Promise<Readonly<Record<string, unknown>>> {
  const file = resolve(path)
  if (!existsSync(file)) {
    throw new UsageError(`There is no file ${path}. Give the path of a module that exports ${what}.`)
  }
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>
  } catch (thrown) {
    throw new UsageError(`${path} cannot be loaded: ${thrownMessage(thrown)}`)
  }
}

function gather(value: unknown, tools: Set<ToolDefinition>): void {
  try {
    for (const one of Array.isArray(value) ? value : isRegistry(value) ? value.list() : [value]) {
      if ((typeof one !== 'object' && typeof one !== 'function') || one === null) continue
      const definition = (one as { readonly [foreignDefinitionKey]?: ToolDefinition })[foreignDefinitionKey]
      if (definition !== undefined) tools.add(definition)
    }
  } catch {
    // A value that throws when it is read is not a tool.
  }
}

function isRegistry(value: unknown): value is { list(): Iterable<unknown> } {
  if (typeof value !== 'object' || value === null) return false
  const { list, resolve: find } = value as Record<string, unknown>
  return typeof list === 'function' && typeof find === 'function'
}

/** @throws {UsageError} if there are two. */
function executorOf(
  values: readonly (readonly [name: string, value: unknown])[],
  path: string,
): ToolExecutor | undefined {
  const names = new Map<ToolExecutor, string>()
  for (const [name, value] of values) if (isExecutor(value) && !names.has(value)) names.set(value, name)
  const [executor, other] = names.keys()
  if (other === undefined) return executor
  throw new UsageError(
    `${path} exports two executors, ${[...names.values()].slice(0, 2).join(' and ')}. Export one.`,
    'E_INVALID_CONFIGURATION',
  )
}

/** Returns whether it is an executor. It may be of another copy of the package. */
function isExecutor(value: unknown): value is ToolExecutor {
  try {
    const { calls, executeToolCalls, stream, tools } = Object(value) as Readonly<Record<string, unknown>>
    const { decide } = Object(calls) as { readonly decide?: unknown }
    return [executeToolCalls, stream, tools, decide].every((method) => typeof method === 'function')
  } catch {
    return false
  }
}

/** Returns the tools of an executor that any caller may call. */
function executorTools(executor: ToolExecutor, host: Host): readonly ToolDefinition[] {
  const callers = ['model', 'user', { app: 'toolwright' }] as const
  return describable([...new Set(callers.flatMap((caller) => catalogueOf(executor, caller)))], host)
}

/** Returns the tools whose schemas can be shown. The others are set aside, and told on stderr. */
export function describable(tools: readonly ToolDefinition[], host: Host): ToolDefinition[] {
  return tools.filter((tool) => {
    try {
      return tool.describe() !== undefined
    } catch (error) {
      note(host, `a tool is set aside: ${thrownMessage(error)}`)
      return false
    }
  })
}

/** Returns the fields of a default export that is a plain object. One that cannot be read is told on stderr. */
function exportedEntries(value: unknown, path: string, host: Host): readonly (readonly [string, unknown])[] {
  try {
    const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    if (!isPlain) return []
    return Object.keys(value).flatMap((name) => {
      try {
        return [[name, (value as Readonly<Record<string, unknown>>)[name]] as const]
      } catch (error) {
        note(
          host,
          `${path}: the field ${JSON.stringify(name)} of its default export cannot be read: ${thrownMessage(error)}`,
        )
        return []
      }
    })
  } catch {
    return []
  }
}

/** @throws {UsageError} if a format cannot be read. */
function formatsIn(values: readonly (readonly [name: string, value: unknown])[], path: string): ExportedFormat[] {
  const found = new Map<Format, ExportedFormat>()
  for (const [place, value] of values) {
    for (const item of listedItems(value)) {
      if (isMeantAsFormat(item) && !found.has(item))
        found.set(item, { name: formatName(item, place, path), place, format: item })
    }
  }
  return [...found.values()]
}

function listedItems(value: unknown): readonly unknown[] {
  try {
    return Array.isArray(value) ? [...(value as unknown[])] : [value]
  } catch {
    return [] // a value that throws when it is read is not a format
  }
}

/** Returns whether a value has every member of a format, of whatever type. */
function isMeantAsFormat(value: unknown): value is Format {
  try {
    const isObject = (typeof value === 'object' || typeof value === 'function') && value !== null
    return isObject && membersOfFormats.every((member) => Reflect.has(value, member))
  } catch {
    return false
  }
}

/** Returns the name of a format. @throws {UsageError} if it or another member cannot be read, or has another type. */
function formatName(format: Format, place: string, path: string): string {
  const refuse = (what: string): UsageError =>
    new UsageError(
      `${path} exports ${place}, which has the members of a format, but ${what}. See toolwright/formats/kit.`,
      'E_INVALID_CONFIGURATION',
    )
  const types = membersOfFormats.map((member) => {
    try {
      return typeof format[member]
    } catch (error) {
      throw refuse(`its "${member}" cannot be read: ${thrownMessage(error)}`)
    }
  })
  const wrong = membersOfFormats.find((member, index) => types[index] !== (member === 'name' ? 'string' : 'function'))
  if (wrong !== undefined) throw refuse(`its "${wrong}" is no ${wrong === 'name' ? 'text' : 'function'}`)
  return format.name
}

function addTool(tool: ToolDefinition, registry: ToolRegistry, path: string, host: Host): void {
  try {
    registry.add(tool, { onCollision: tool.onCollision })
  } catch (error) {
    if (!isToolError(error)) throw error
    if (error.code !== 'E_SCHEMA_CONVERSION') throw new UsageError(`${path}: ${error.message}`, error.code)
    note(host, `a tool is set aside: ${error.message}`)
  }
}

function inWords(exported: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(exported)
  if (names.length === 0) return 'nothing at all'
  const listed = names.slice(0, 8).map((name) => `${name} (${kindWord(exported[name])})`)
  return listed.join(', ') + (names.length > 8 ? ` and ${names.length - 8} more` : '')
}

function kindWord(value: unknown): string {
  if (value === null) return 'null'
  try {
    return Array.isArray(value) ? 'array' : typeof value
  } catch {
    return 'object'
  }
}
