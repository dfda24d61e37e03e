import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import type { ToolDefinition } from '../index.ts'
import { UsageError, type Command } from './arguments.ts'
import { differences } from './difference.ts'
import { readDocument } from './document.ts'
import { terminalJson, note, printText, thrownMessage } from './host.ts'
import { openApiHelp, openApiOptions } from './openapi.ts'
import { sourceTools } from './source.ts'

const lockVersion = 1

/** What the lock file has of each tool, by name. */
type Locked = ReadonlyMap<string, unknown>

/** `toolwright lock`: writes the definitions of tools to a file, or compares them with it. */
export const lockCommand: Command = {
  name: 'lock',
  help: `\
Usage: toolwright lock <module> [options]
       toolwright lock --mcp "<command> …" | --mcp <url> [options]
       toolwright lock --openapi <file> [options]

Writes the definitions of the tools to a file of stable order: names, descriptions,
schemas, traits and sources. Commit it, and a change of a tool is a diff to review.

  --check           compare the tools with the file instead: prints each change on a line,
                    and exits with 1 if there is one
  --file FILE       the file (default toolwright.lock.json)
  --mcp SERVER      the tools of an MCP server: a command, which no shell reads, or a URL
${openApiHelp}
  -h, --help`,
  options: {
    check: { type: 'boolean' },
    file: { type: 'string' },
    mcp: { type: 'string' },
    ...openApiOptions,
    help: { type: 'boolean', short: 'h' },
  },
  takes: [0, 1],

  async perform(options, host) {
    const file = options.text('file') ?? 'toolwright.lock.json'
    const isCheck = options.flag('check')
    // Read first: a server need not start for a file that is missing.
    const before = isCheck ? await readLock(file, (path) => readDocument(path, host)) : undefined
    const loaded = await sourceTools('lock', options, host)
    try {
      const after = lockedOf(loaded.tools)
      if (before === undefined) {
        await writeLock(file, `${terminalJson({ version: lockVersion, tools: [...after.values()] }, 2)}\n`)
        note(host, `${file} has ${toolCount(after.size)}.`)
        return 0
      }
      const lines = differences(before, after)
      if (lines.length === 0) note(host, `${file} has ${toolCount(after.size)}, and none has changed.`)
      else await printText(host.stdout, `${lines.join('\n')}\n`)
      return lines.length === 0 ? 0 : 1
    } finally {
      await loaded.close()
    }
  },
}

function lockedOf(tools: readonly ToolDefinition[]): Locked {
  const entries = tools.map((tool) => {
    try {
      return [tool.name, ordered(lockedContent(tool))] as const
    } catch (error) {
      throw new UsageError(`The tool "${tool.name}" cannot be locked: ${thrownMessage(error)}`)
    }
  })
  return new Map(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** Returns what a reviewer of a tool wants to see: what models are shown of it, what it may do, and where it comes from. */
function lockedContent(tool: ToolDefinition): Record<string, unknown> {
  const { mcpConfig, aliases, examples, traits, requiresConfirmation, allowedCallers, meta } = tool
  const { name, ...description } = tool.describe()
  return {
    name, // first in the file
    ...description,
    traits,
    ...(aliases.length === 0 ? undefined : { aliases }),
    ...(examples.length === 0 ? undefined : { examples }),
    ...(allowedCallers === undefined ? undefined : { allowedCallers }),
    ...foreignOptions(tool),
    requiresConfirmation: typeof requiresConfirmation === 'function' ? 'by function' : requiresConfirmation,
    ...(mcpConfig === undefined ? { source: 'module' } : { source: mcpConfig, annotations: meta['annotations'] }),
  }
}

/** Returns the options for providers and libraries, which may replace the description and the schema. */
function foreignOptions({ providerOptions, libraryOptions }: ToolDefinition): object {
  const entries = Object.entries({ providerOptions, libraryOptions })
  return Object.fromEntries(entries.filter(([, options]) => Object.keys(options).length > 0))
}

/** Returns a JSON value whose objects have their fields in the order of their names; a tool's name stays first. */
function ordered({ name, ...fields }: Record<string, unknown>): unknown {
  const text = JSON.stringify(fields, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  })
  return { name, ...(JSON.parse(text) as object) }
}

/** @throws {UsageError} if the file is missing, or is no lock file. */
async function readLock(file: string, read: (path: string) => Promise<unknown>): Promise<Locked> {
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}. Run toolwright lock without --check first.`)
  const document = await read(file)
  const { version: found, tools } = Object(document) as { readonly version?: unknown; readonly tools?: unknown }
  const again = 'Run toolwright lock again, and review what changes.'
  if (!Array.isArray(tools) || typeof found !== 'number') throw new UsageError(`${file} is no lock file. ${again}`)
  if (found !== lockVersion) {
    throw new UsageError(`${file} has version ${found}; this release reads version ${lockVersion}. ${again}`)
  }
  const locked = new Map<string, unknown>()
  for (const tool of tools) {
    const { name } = Object(tool) as { readonly name?: unknown }
    if (typeof name !== 'string') throw new UsageError(`${file} is damaged: it has a tool without a name. ${again}`)
    if (locked.has(name)) throw new UsageError(`${file} is damaged: it has two tools "${name}". ${again}`)
    locked.set(name, tool)
  }
  return locked
}

/** Replaces a file as a whole, so that an interruption leaves the former one. */
async function writeLock(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`
  try {
    await writeFile(draft, text)
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw new UsageError(`${file} cannot be written: ${thrownMessage(error)}`)
  }
}

function toolCount(count: number): string {
  return count === 1 ? '1 tool' : `${count} tools`
}
