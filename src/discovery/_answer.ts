import type { ToolDefinition } from '../index.ts'
import { escapeDeceptive, type JsonSchemaObject } from '../extension.ts'
import { briefLine, firstSentence, type SearchedTools } from './_catalogue.ts'
import type { Rank } from './_guarded.ts'
import type { RankedTool } from './_rank.ts'

/** What a model asks the search for. */
export interface SearchRequest {
  readonly query?: string
  readonly names?: readonly string[]
  readonly group?: string
  readonly detail?: 'line' | 'schema'
  readonly limit?: number
}

/** What a model reads of a tool. */
export interface FoundTool {
  readonly name: string
  readonly group?: string
  readonly description: string
  readonly inputSchema?: JsonSchemaObject
}

export interface FoundTools {
  readonly tools: readonly FoundTool[]
  /** How many tools were searched. */
  readonly of: number
  readonly note?: string
  /** If nothing was found: how many tools each group has. */
  readonly groups?: Readonly<Record<string, number>>
}

/** What a search found, and the schemas in it as JSON text by the names of the tools, since they are written once. */
export interface CatalogueAnswer {
  readonly found: FoundTools
  readonly schemaTexts: ReadonlyMap<string, string>
}

export interface SearchSettings {
  readonly groupOf: (tool: ToolDefinition) => string | undefined
  readonly rank: Rank
  /** How many tools are returned if the model does not say, and at most. */
  readonly results: number
  readonly most: number
}

/** The most tools that are described whole in one answer, and the most bytes of their descriptions and schemas together. */
const mostWhole = 10
const mostWholeBytes = 32_768
const mostGroups = 50
/** How many more places a ranker is asked for, so that another group can take one. */
const spareFactor = 3
/** How near the tool of another group has to come to the one whose place it takes. */
const leastShareOfScore = 0.5
const mostListedNames = 20
const longestShownText = 4_096
/** How much better the first tool has to fit than the second, so that it is described whole, and the most bytes of it. */
const leastLead = 1.1
const mostBytesAtOnce = 4_096

/** Answers a search of a catalogue. */
export async function searchAnswer(
  request: SearchRequest,
  catalogue: SearchedTools,
  settings: SearchSettings,
  signal: AbortSignal,
): Promise<CatalogueAnswer> {
  // Models fill in what they leave out: an empty text or list asks for nothing.
  const { query = '' } = request
  const names = request.names?.length === 0 ? undefined : request.names
  const group = request.group?.trim() === '' ? undefined : request.group
  const { detail = names === undefined ? undefined : 'schema' } = request
  const tools = group === undefined ? catalogue.tools : (catalogue.groups.get(group) ?? [])
  const limit = Math.min(request.limit ?? settings.results, settings.most)
  const notes: string[] = []
  const found = new Set(namedTools(names ?? [], catalogue, notes))
  let leader: ToolDefinition | undefined
  if (group !== undefined && tools.length === 0)
    notes.push(`There is no group ${JSON.stringify(briefLine(group, 64))}.`)
  if (query.trim() !== '') {
    const fitting = await fittingTools(query, tools, limit, catalogue, settings, signal)
    for (const { tool } of fitting) found.add(tool)
    if (detail === undefined) leader = leaderOf(fitting)
  } else if (names === undefined && group !== undefined) {
    for (const one of tools.slice(0, limit)) found.add(one)
    if (tools.length > limit) notes.push('The group has more tools than these: give a `query`.')
  }
  const { described, schemaTexts } = shownTools([...found], detail ?? leader, settings, notes)
  if (described.length === 0) return { found: nothingFound(query, tools.length, catalogue, notes), schemaTexts }
  const note = notes.length > 0 && { note: notes.join(' ') }
  return { found: { tools: described, of: tools.length, ...note }, schemaTexts }
}

/** Returns the tools with these names. Says in the notes which there are not. */
function namedTools(names: readonly string[], { byName }: SearchedTools, notes: string[]): ToolDefinition[] {
  const missing = [...new Set(names)].filter((name) => !byName.has(name))
  if (missing.length > 0) notes.push(`There is no tool ${listed(missing)}.`)
  return names.flatMap((name) => byName.get(name) ?? [])
}

/** A tool that fits a query, and how well. */
interface FittingTool {
  readonly tool: ToolDefinition
  readonly score: number
}

/** Returns the tools that fit a query, the best first. */
async function fittingTools(
  query: string,
  tools: readonly ToolDefinition[],
  limit: number,
  { byName, groups }: SearchedTools,
  settings: SearchSettings,
  signal: AbortSignal,
): Promise<readonly FittingTool[]> {
  const [largest = tools] = groups.values()
  const isMixed = tools.length > largest.length
  const groupOf = (name: string): string | undefined => {
    const tool = byName.get(name)
    return tool && settings.groupOf(tool)
  }
  const found = await ranked(query, tools, limit, isMixed ? groupOf : undefined, settings.rank, signal)
  return found.flatMap(({ name, score }) => {
    const tool = byName.get(name)
    return tool === undefined ? [] : { tool, score }
  })
}

/** Returns the tool that fits far better than all others: a model most likely calls it, and then need not ask for its args. */
function leaderOf([first, second]: readonly FittingTool[]): ToolDefinition | undefined {
  const isFarBetter = first !== undefined && first.score > 0 && first.score >= leastLead * (second?.score ?? 0)
  return isFarBetter ? first.tool : undefined
}

/** Says why there are no tools, and which groups there are. */
function nothingFound(query: string, of: number, catalogue: SearchedTools, notes: string[]): FoundTools {
  if (catalogue.tools.length === 0) notes.push('There are no tools to find now.')
  else if (query.trim() === '') notes.push('Say in `query` what the tool should do.')
  else notes.push('Nothing was found: say it in other words.')
  const groups = [...catalogue.groups].slice(0, mostGroups).map(([each, { length }]) => [each, length] as const)
  return {
    tools: [],
    of,
    note: notes.join(' '),
    ...(groups.length > 0 && { groups: Object.fromEntries(groups) }),
  }
}

/** Ranks tools. If all places were one group's, the best tool of another takes the last, unless it fits far less. */
async function ranked(
  query: string,
  tools: readonly ToolDefinition[],
  limit: number,
  groupOf: ((name: string) => string | undefined) | undefined,
  rank: Rank,
  signal: AbortSignal,
): Promise<readonly RankedTool[]> {
  if (groupOf === undefined || limit < 2) return rank(query, tools, limit, signal)
  let found = await rank(query, tools, limit * spareFactor, signal)
  const group = found[0] && groupOf(found[0].name)
  const first = found.slice(0, limit)
  const last = first.at(-1)
  if (group === undefined || first.length < limit || last === undefined) return first
  const isOther = ({ name }: RankedTool): boolean => groupOf(name) !== group
  if (first.some(isOther)) return first
  if (!found.some(isOther)) found = await rank(query, tools, tools.length, signal)
  const other = found.find(isOther)
  return other === undefined || other.score < leastShareOfScore * last.score ? first : [...first.slice(0, -1), other]
}

/** Describes tools: by a line, all whole, or one of them. Says in the notes what has no room, if all were asked for. */
function shownTools(
  found: readonly ToolDefinition[],
  detail: 'line' | 'schema' | ToolDefinition | undefined,
  { groupOf, most }: SearchSettings,
  notes: string[],
): { readonly described: FoundTool[]; readonly schemaTexts: ReadonlyMap<string, string> } {
  const first = found.slice(0, detail === 'schema' ? mostWhole : most)
  const late = found.slice(first.length).map(({ name }) => name) // a model may have named thousands
  const described: FoundTool[] = []
  const schemaTexts = new Map<string, string>()
  let room = detail === 'schema' ? mostWholeBytes : mostBytesAtOnce
  for (const tool of first) {
    const line = lineFor(tool, groupOf)
    const wholeTool = detail === 'schema' || detail === tool ? wholeFor(tool) : undefined
    if (wholeTool !== undefined && wholeTool.bytes <= room) {
      const { description, inputSchema, schemaText, bytes } = wholeTool
      described.push({ ...line, description, inputSchema })
      schemaTexts.set(tool.name, schemaText)
      room -= bytes
    } else if (detail !== 'schema') described.push(line)
    else if (wholeTool === undefined) {
      described.push(line)
      notes.push(`The schema of ${listed([tool.name])} cannot be shown.`)
    } else if (wholeTool.bytes > mostWholeBytes) {
      described.push(line)
      notes.push(`The schema of ${listed([tool.name])} is too large to show.`)
    } else late.push(tool.name)
  }
  if (late.length > 0) notes.push(`There was no room for ${listed(late)}: ask for fewer by \`names\`.`)
  return { described, schemaTexts }
}

function lineFor(tool: ToolDefinition, groupOf: SearchSettings['groupOf']): FoundTool {
  const group = groupOf(tool)
  return { name: tool.name, ...(group !== undefined && { group }), description: firstSentence(tool.description) }
}

/** What a tool says of itself, as far as models read it. */
interface WholeTool {
  readonly description: string
  readonly inputSchema: JsonSchemaObject
  readonly schemaText: string
  /** How much of the room of an answer it takes. */
  readonly bytes: number
}

/** Describes a tool with its schema. Returns nothing for a schema that cannot be written. */
function wholeFor(tool: ToolDefinition): WholeTool | undefined {
  try {
    const { inputSchema } = tool.describe()
    const schemaText = JSON.stringify(inputSchema)
    const words = tool.description.slice(0, longestShownText).replaceAll('\r\n', '\n')
    const description = escapeDeceptive(words, '\n\t')
    const bytes = new TextEncoder().encode(tool.name + description + schemaText).length
    return { description, inputSchema, schemaText, bytes }
  } catch {
    return undefined
  }
}

/** Lists names that a model gave, or tools have: the first of them, on one line. */
function listed(names: readonly string[]): string {
  const first = names.slice(0, mostListedNames).map((name) => JSON.stringify(briefLine(name, 64)))
  return [...first, ...(names.length > mostListedNames ? [`${names.length - mostListedNames} more`] : [])].join(', ')
}
