import { Buffer } from 'node:buffer'
import type { Format, ToolDefinition } from '../index.ts'
import { policiesOf, type SchemaReport } from '../extension.ts'
import { namedBridges } from '../kernel/tool/named-bridges.ts'
import { UsageError, type Command } from './arguments.ts'
import { formatHelp, formatsWith } from './formats.ts'
import { note, printAnswer, terminalLine, printText } from './host.ts'
import { documentPage, openApiHelp, openApiOptions } from './openapi.ts'
import { sourceTools } from './source.ts'

/** The reports of a format, by the names of the tools. */
type Column = readonly [format: string, reports: ReadonlyMap<string, SchemaReport>]

/** `toolwright check`: prints what the schemas of tools lose with each provider. */
export const checkCommand: Command = {
  name: 'check',
  help: `\
Usage: toolwright check <module> [options]
       toolwright check --mcp "<command> …" | --mcp <url> [options]
       toolwright check --openapi <file> [options]

Prints how the schemas of tools go out to each provider, and what they lose there: a row
for each tool, then a line for each loss, then an estimate of the tokens that the
definitions take in every request. Of an OpenAPI document it first prints the tool,
traits and credentials of each operation, and what is left out or mended.

  ${formatHelp}
                    (default: anthropic, openai and gemini; may come several times)
  --mcp SERVER      the tools of an MCP server: a command, which no shell reads, or a URL
${openApiHelp}
  --strict          as strict tools, if they can be
  --json            the reports as JSON, by format
  --fail-on WHAT    exit with 1 if a schema loses anything (loss), or cannot go out as it
                    was asked for (refused), or an operation is left out (omitted)
  -h, --help`,
  options: {
    format: { type: 'string', multiple: true },
    mcp: { type: 'string' },
    ...openApiOptions,
    strict: { type: 'boolean' },
    json: { type: 'boolean' },
    'fail-on': { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
  takes: [0, 1],

  async perform(options, host) {
    const failOn = options.text('fail-on')
    if (failOn !== undefined && failOn !== 'loss' && failOn !== 'refused' && failOn !== 'omitted') {
      throw new UsageError(`--fail-on takes loss, refused or omitted, got "${failOn}".`)
    }
    const named = options.texts('format')
    const names = named.length === 0 ? ['anthropic', 'openai', 'gemini'] : [...new Set(named)]
    const source = await sourceTools('check', options, host)
    const { tools, loaded, document } = source
    try {
      const knownFormats = formatsWith(loaded, host)
      const formats = names.map((name) => knownFormats.named(name, options.flag('strict')))
      const columns = formats.map((format, index): Column => {
        const reports = format.report?.(tools) ?? []
        return [names[index] ?? '', new Map(reports.map((each) => [each.toolName, each]))]
      })
      if (options.flag('json')) {
        await printAnswer(host, Object.fromEntries(columns.map(([name, reports]) => [name, [...reports.values()]])))
      } else {
        if (document !== undefined) await printText(host.stdout, `${documentPage(document)}\n`)
        await printText(host.stdout, `${checkPage(tools, columns)}\n${weights(tools, formats)}`)
      }
      const { executor } = loaded ?? {}
      if (executor !== undefined) {
        for (const words of namedBridges(policiesOf(executor), tools)) note(host, words)
      }
      const reports = columns.flatMap(([, each]) => [...each.values()])
      const isLoss = reports.some(({ losses }) => losses.length > 0)
      const isRefused = reports.some(({ refused }) => refused !== undefined)
      if (failOn === 'omitted' && document !== undefined && document.omitted.length > 0) return 1
      return (failOn === 'loss' && (isLoss || isRefused)) || (failOn === 'refused' && isRefused) ? 1 : 0
    } finally {
      await source.close()
    }
  },
}

/** Returns the losses of a tool, a line each. */
export function lossLines({ toolName, losses, refused }: SchemaReport): string[] {
  const lines = losses.map(({ pointer, done, note: remark }) => {
    return `${toolName} ${pointer === '' ? '/' : pointer}: ${done}${remark === undefined ? '' : ` (${remark})`}`
  })
  return refused === undefined ? lines : [`${toolName}: not as asked: ${refused}`, ...lines]
}

/** Returns a table, the losses, and the limits of requests that tools are beyond. */
function checkPage(tools: readonly ToolDefinition[], columns: readonly Column[]): string {
  const names = tools.map(({ name }) => name)
  const rows = [
    ['tool', ...columns.map(([format]) => format)],
    ...names.map((name) => [name, ...columns.map(([, reports]) => cellOf(reports.get(name)))]),
  ]
  const losses = columns.flatMap(([format, reports]) => {
    const lines = [...reports.values()].flatMap(lossLines)
    return lines.length === 0 ? [] : ['', `${format}:`, ...lines.map((line) => `  ${terminalLine(line)}`)]
  })
  return `${[...aligned(rows), ...losses, ...limitsOf(columns)].join('\n')}\n`
}

/** Returns a table of the tokens that the definitions of each tool take in a request, and of all together. */
function weights(tools: readonly ToolDefinition[], formats: readonly Format[]): string {
  const weigh = (some: readonly ToolDefinition[]): string[] =>
    formats.map((format) => estimatedTokens(format.definitions(some)).toLocaleString('en'))
  const rows = [
    ['tokens', ...formats.map(({ name }) => name)],
    ...tools.map((tool) => [tool.name, ...weigh([tool])]),
    ['all', ...weigh(tools)],
  ]
  return `${aligned(rows).join('\n')}\n`
}

/** Estimates the tokens of definitions: a quarter of their bytes. */
function estimatedTokens(definitions: readonly unknown[]): number {
  return definitions.length === 0 ? 0 : Math.ceil(Buffer.byteLength(JSON.stringify(definitions)) / 4)
}

/** Returns the lines of a table with its columns aligned. */
function aligned(table: readonly (readonly string[])[]): string[] {
  const rows = table.map((row) => row.map((cell) => terminalLine(cell, 80)))
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function cellOf(report: SchemaReport | undefined): string {
  if (report === undefined) return '–'
  const { schema, losses, refused } = report
  if (refused !== undefined) return `not as asked: ${refused}`
  return losses.length === 0 ? schema : `${schema} (${losses.length})`
}

/** Returns how many tools each limit of a whole request leaves without strictness. */
function limitsOf(columns: readonly Column[]): string[] {
  const lines = columns.flatMap(([format, reports]) => {
    const counts = new Map<string, number>()
    for (const { refused } of reports.values()) {
      if (refused?.includes(' in one request, ') === true) counts.set(refused, (counts.get(refused) ?? 0) + 1)
    }
    return [...counts].map(
      ([why, count]) => `${format}: ${why}: ${count} ${count === 1 ? 'tool stays' : 'tools stay'} non-strict`,
    )
  })
  return lines.length === 0 ? [] : ['', ...lines]
}
