import type { ToolDefinition } from '../index.ts'
import { UsageError, type Command } from './arguments.ts'
import { lossLines } from './check.ts'
import { formatHelp, formatsWith } from './formats.ts'
import { printAnswer, note, thrownMessage } from './host.ts'
import { openApiHelp, openApiOptions, tellNotes } from './openapi.ts'
import { sourceTools, type ToolSource } from './source.ts'

/** `toolwright list`: prints the definitions of the tools. */
export const listCommand: Command = {
  name: 'list',
  help: `\
Usage: toolwright list <module> [options]
       toolwright list --openapi <file> [options]

Prints the definitions of the tools that the module exports: all of them, or with
--format those that models may see, as the provider's request takes them.

  --shown           only the tools that the module's executor shows to models
  ${formatHelp}
  --strict          with --format: strict definitions, if tools can have them. Prints on
                    stderr what their schemas lose.
${openApiHelp}
  -h, --help`,
  options: {
    format: { type: 'string' },
    strict: { type: 'boolean' },
    shown: { type: 'boolean' },
    ...openApiOptions,
    help: { type: 'boolean', short: 'h' },
  },
  takes: [0, 1],

  async perform(options, host) {
    const named = options.text('format')
    const isStrict = options.flag('strict')
    if (isStrict && named === undefined) throw new UsageError('--strict needs --format: a provider is strict or not.')
    const source = await sourceTools('list', options, host)
    tellNotes(source.document?.notes ?? [], host)
    try {
      const format = named === undefined ? undefined : formatsWith(source.loaded, host).named(named, isStrict)
      const define = (tools: readonly ToolDefinition[]): unknown[] =>
        format === undefined ? tools.map((tool) => tool.describe()) : format.definitions(tools)
      const tools = shownOrAll(source, options.flag('shown')).filter((tool) => {
        try {
          return define([tool]) !== undefined
        } catch (error) {
          note(host, `a tool is set aside: ${thrownMessage(error)}`)
          return false
        }
      })
      await printAnswer(host, define(tools))
      if (isStrict) for (const line of (format?.report?.(tools) ?? []).flatMap(lossLines)) note(host, line)
      return 0
    } finally {
      await source.close()
    }
  },
}

/** @throws {UsageError} if there is no executor that shows them. */
function shownOrAll({ tools, loaded }: ToolSource, isShown: boolean): readonly ToolDefinition[] {
  if (!isShown) return tools
  if (loaded?.executor !== undefined) return loaded.executor.tools()
  throw new UsageError('--shown needs a module that exports an executor, which shows tools to models.')
}
