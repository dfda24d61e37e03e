/**
 * Puts a long list of tools behind two: one that finds tools, and one that calls what was found. What a model is shown stays the same,
 * whatever is found, added or removed. Search gives no right and takes none: what may be called is decided as before.
 *
 * @module
 */
import {
  shown,
  tool,
  ToolFailure,
  type Caller,
  type Extension,
  type Shelf,
  type Tool,
  type ToolDefinition,
} from '../index.ts'
import {
  callableNames,
  checkOptions,
  functionOption,
  integerFrom,
  optionsError,
  reporterOf,
  timerOption,
} from '../extension.ts'
import { searchAnswer, type SearchRequest } from './_answer.ts'
import { catalogues, groupsOf, reportedOnce, SessionCatalogues } from './_catalogue.ts'
import { guarded } from './_guarded.ts'
import { reportLacking, reportTaken } from './_lacking.ts'
import { defaultGroup, words, type ToolRanker } from './_rankers.ts'
import { foundText } from './_text.ts'

export type { RankedTool } from './_rank.ts'
export { blend, words } from './_rankers.ts'
export type { BlendOptions, ToolRanker, WordsOptions } from './_rankers.ts'

/** The options of `toolSearch`. */
export interface ToolSearchOptions {
  /** The tools that models are shown beside the two. Those of type `provider` and `output` always are. Default: none. */
  readonly always?: readonly string[] | ((tool: ToolDefinition) => boolean)
  /** Returns the group of a tool. Default: the MCP server that it is of, or its first tag. */
  readonly group?: (tool: ToolDefinition) => string | undefined
  /** The groups that the description of the search names, with what they are for. You write it, so that no server changes the list. */
  readonly groups?: Readonly<Record<string, string>>
  /** Default: `words()`, which also answers if another one throws, takes too long, or returns no list. */
  readonly ranker?: ToolRanker
  /** How many tools a search returns if the model does not say. Default: 5, at most 20. */
  readonly results?: number
  /** The names of the two tools. Default: `tool_search` and `tool_call`. */
  readonly names?: { readonly search?: string; readonly call?: string }
  /** How long a ranker may take before `words()` answers instead, in milliseconds. Default: 5,000. */
  readonly rankTimeout?: number
  /** Takes the faults of rankers, of `group` and `always`, and of names that are taken or name nothing. Default: `console.error`. */
  readonly report?: (error: unknown) => void
}

const mostFound = 20
/** The most bytes of an answer that stay in the result: more than the answer can have. */
const answerLimit = 65_536

const searchSchema = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'What the tool should do, in a few words' },
    names: { type: 'array', items: { type: 'string' }, description: 'Exact names' },
    group: { type: 'string' },
    detail: { enum: ['line', 'schema'] },
    limit: { type: 'integer', minimum: 1, description: 'At most 20' },
  },
  additionalProperties: false,
} as const

const callSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    args: { type: 'object', additionalProperties: true },
  },
  required: ['name', 'args'],
  additionalProperties: false,
} as const

/**
 * Shows models two tools instead of all: `tool_search` finds tools by what they do, and `tool_call` calls one by its name. The call
 * is then that of the tool it names, for policies, approvals, limits, events and records.
 *
 * Give it before `mcpTools` in `use`, so that no server takes the names of the two.
 *
 * @param options What is shown beside the two, how tools are grouped and ranked.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong or unknown.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { toolSearch } from 'toolwright/discovery/search'
 *
 * const tools = ['list_invoices', 'send_mail', 'read_file'].map((name) => tool(name, () => 'done'))
 * const executor = createExecutor({ tools, use: [toolSearch({ always: ['read_file'] })] })
 * const names = executor.tools().map(({ name }) => name) // read_file, tool_search, tool_call
 * const found = await executor.execute({ name: 'tool_search', args: { query: 'show all bills' } })
 * ```
 * @experimental
 */
export function toolSearch(options: ToolSearchOptions = {}): Extension & Required<Pick<Extension, 'tools' | 'offers'>> {
  checkOptions('toolSearch', options, {
    always: { expected: 'a list of names, or a function', accepts: isNamesOrFunction },
    group: functionOption,
    groups: { expected: 'an object of descriptions by their groups', accepts: isTexts },
    ranker: { expected: 'an object with `rank()`', accepts: isRanker },
    results: integerFrom(1, mostFound),
    names: {
      expected: 'an object with `search` and `call`, names of 1 to 64 letters, digits, "_" or "-"',
      accepts: isToolNames,
    },
    rankTimeout: timerOption,
    report: functionOption,
  })
  const { always = [], groups = {}, results = 5, names = {}, rankTimeout = 5_000 } = options
  const report = reporterOf(options.report)
  const groupOf = groupsOf(options.group ?? defaultGroup, report)
  const namesAlways = new Set(typeof always === 'function' ? [] : always)
  const isAlways =
    typeof always === 'function'
      ? reportedOnce((each) => always(each) === true, false, report)
      : ({ name }: ToolDefinition) => namesAlways.has(name)
  const own: OwnNames = { search: names.search ?? 'tool_search', call: names.call ?? 'tool_call' }
  if (own.search === own.call) throw optionsError('toolSearch', 'takes two different names as `names`')
  const byWords = words({ group: groupOf })
  const rank = guarded(options.ranker ?? byWords, byWords, rankTimeout, report)
  const catalogueOf = catalogues((each) => isSearched(each, own), groupOf)
  const settings = { groupOf, rank, results, most: mostFound }

  /** Makes the two tools of an executor. */
  const make = (sessions: SessionCatalogues): readonly Tool[] => {
    const search = tool({
      name: own.search,
      description: searchDescription(own, groups),
      inputSchema: searchSchema,
      traits: { readonly: true },
      metadata: { cacheable: false }, // tools come and go
      inlineLimit: answerLimit,
      handler: async (request: SearchRequest, { session, caller, signal }) => {
        const listFor = sessions.get(session)
        if (listFor === undefined) throw new ToolFailure('It finds the tools of an executor, and none runs it.')
        const answer = await searchAnswer(request, catalogueOf(listFor(caller)), settings, signal)
        return shown(foundText(answer), answer.found)
      },
    })
    const call = tool({
      name: own.call,
      type: 'bridge',
      description: `Calls a tool that ${own.search} found, by its name.`,
      inputSchema: callSchema,
    })
    return [search, call]
  }
  const executors = new WeakMap<Shelf, { readonly sessions: SessionCatalogues; readonly tools: readonly Tool[] }>()
  return {
    tools({ session, shelf, isTaken, catalogue }) {
      let entry = executors.get(shelf) // each executor has its own
      if (entry === undefined) {
        const sessions = new SessionCatalogues()
        executors.set(shelf, (entry = { sessions, tools: make(sessions) }))
        reportTaken(own, isTaken, report)
        reportLacking(namesAlways, catalogue, report)
      }
      entry.sessions.set(session, (caller: Caller) => catalogue(caller))
      return entry.tools
    },
    offers: (each) => isOwn(each, own) || each.type === 'provider' || each.type === 'output' || isAlways(each),
  }
}

/** Whether search finds a tool: not what names others, and nothing that models are always shown and a provider or nothing runs. */
function isSearched({ type, name, mcpConfig }: ToolDefinition, own: OwnNames): boolean {
  return !['bridge', 'provider', 'output'].includes(type) && (name !== own.search || mcpConfig !== undefined)
}

/** Whether a tool is one of the two, and not a server's of the same name. */
function isOwn({ name, type, mcpConfig }: ToolDefinition, own: OwnNames): boolean {
  return (
    mcpConfig === undefined && ((name === own.search && type === 'server') || (name === own.call && type === 'bridge'))
  )
}

interface OwnNames {
  readonly search: string
  readonly call: string
}

function searchDescription({ call }: OwnNames, groups: Readonly<Record<string, string>>): string {
  const named = Object.entries(groups).map(([group, purpose]) => `\n- ${group}: ${purpose}`)
  const ofGroups = named.length === 0 ? '' : `\nGroups:${named.join('')}`
  return `Finds tools by what they do. If it shows no args of a tool, give its name in names, or detail "schema", before you call it with ${call}.${ofGroups}`
}

function isRanker(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'rank' in value && typeof value.rank === 'function'
}

function isTexts(value: unknown): boolean {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject && Object.values(value).every((each) => typeof each === 'string')
}

function isToolNames(value: unknown): boolean {
  if (!isTexts(value)) return false
  return Object.entries(value as Record<string, string>).every(
    ([key, name]) => ['search', 'call'].includes(key) && callableNames([{ key, name }]).get(key) === name,
  )
}

function isNamesOrFunction(value: unknown): boolean {
  return typeof value === 'function' || (Array.isArray(value) && value.every((each) => typeof each === 'string'))
}
