import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isToolError, ToolRegistry, type ToolDefinition } from '../index.ts'
import { UsageError } from './arguments.ts'
import { note, wordsOf, type Host } from './host.ts'

// Registered, to recognise tools of another copy of the package: the module may have its own `node_modules`.
const definitionKey = Symbol.for('toolwright.definition')

/**
 * Loads a module and collects its exported tools, arrays of tools and registries, under any name. A tool whose schema cannot
 * be shown to a model is set aside and reported on stderr.
 *
 * @param path As the user typed it, relative to the working directory.
 * @throws {UsageError} if the module cannot be loaded, has no tools, or has two tools with one name.
 */
export async function loadTools(path: string, host: Host): Promise<ToolRegistry> {
  const exported = await load(path, 'tools')
  const tools = new Set<ToolDefinition>()
  for (const value of Object.values(exported)) gather(value, tools)
  // The default export of a CommonJS module is an object of its exports.
  for (const value of fieldsOf(exported['default'])) gather(value, tools)
  if (tools.size === 0) {
    throw new UsageError(
      `${path} exports no tools, but ${inWords(exported)}. Export what tool({ … }) returns, an array of tools, or a ToolRegistry.`,
      'E_INVALID_CONFIGURATION',
    )
  }
  const registry = new ToolRegistry()
  for (const tool of tools) add(tool, registry, path, host)
  return registry
}

/**
 * Loads a module and returns the function that is its default export.
 *
 * @param path As the user typed it, relative to the working directory.
 * @throws {UsageError} if the module cannot be loaded, or its default export is no function.
 */
export async function loadFunction(path: string): Promise<(...args: never) => unknown> {
  const exported = await load(path, 'a function')
  const { default: loaded } = exported
  if (typeof loaded === 'function') return loaded as (...args: never) => unknown
  throw new UsageError(
    `${path} exports no function as its default, but ${inWords(exported)}.`,
    'E_INVALID_CONFIGURATION',
  )
}

async function load(path: string, what: string): Promise<Readonly<Record<string, unknown>>> {
  const file = resolve(path)
  if (!existsSync(file)) {
    throw new UsageError(`There is no file ${path}. Give the path of a module that exports ${what}.`)
  }
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>
  } catch (thrown) {
    throw new UsageError(`${path} cannot be loaded: ${wordsOf(thrown)}`)
  }
}

function gather(value: unknown, tools: Set<ToolDefinition>): void {
  try {
    for (const one of Array.isArray(value) ? value : isRegistry(value) ? value.list() : [value]) {
      if ((typeof one !== 'object' && typeof one !== 'function') || one === null) continue
      const definition = (one as { readonly [definitionKey]?: ToolDefinition })[definitionKey]
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

/** Returns the values of a plain object, or an empty list for any other value. */
function fieldsOf(value: unknown): readonly unknown[] {
  try {
    const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    return isPlain ? Object.values(value) : []
  } catch {
    return []
  }
}

function add(tool: ToolDefinition, registry: ToolRegistry, path: string, host: Host): void {
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
  const listed = names.slice(0, 8).map((name) => `${name} (${kindOf(exported[name])})`)
  return listed.join(', ') + (names.length > 8 ? ` and ${names.length - 8} more` : '')
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  try {
    return Array.isArray(value) ? 'array' : typeof value
  } catch {
    return 'object'
  }
}
