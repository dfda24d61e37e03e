// The tokens that a model reads in 40 turns, by a script: five tools, eight calls of each one after the other.
import { createExecutor, ToolRegistry, type ToolDefinition, type ToolExecutor } from 'toolwright'
import { estimateTokens } from 'toolwright/artifacts/tokens'
import { toolSearch } from 'toolwright/discovery/search'
import { anthropic } from 'toolwright/formats/anthropic'

/** The tools that are needed, with what a model asks for to find each, and its args. */
const repository = { owner: 'ada', repo: 'engine' }
const needed: Readonly<Record<string, { readonly query: string; readonly args: object }>> = {
  issues_create: { query: 'create an issue', args: { ...repository, body: { title: 'The mill stops' } } },
  'issues_add-labels': {
    query: 'add labels to an issue',
    args: { ...repository, issue_number: 7, body: { labels: ['bug'] } },
  },
  pulls_create: {
    query: 'create a pull request',
    args: { ...repository, body: { title: 'Oil the mill', head: 'oil', base: 'main' } },
  },
  pulls_merge: {
    query: 'merge a pull request',
    args: { ...repository, pull_number: 8, body: { merge_method: 'squash' } },
  },
  'repos_create-release': { query: 'create a release', args: { ...repository, body: { tag_name: 'v1' } } },
}
const names = Object.keys(needed)

interface Asked {
  readonly name: string
  readonly args: object
}

/** The calls of a model, which reads the result of each before the next. */
type Model = Iterator<Asked, unknown, unknown>

const callsEach = 8
const turnsOf = (name: string): Asked[] => Array.from({ length: callsEach }, () => ({ name, args: needed[name]!.args }))
const direct = names.flatMap(turnsOf)
const bridgedOf = (name: string): Asked[] =>
  turnsOf(name).map(({ args }) => ({ name: 'tool_call', args: { name, args } }))

/** Reads all tools at once, by their names. */
function* atOnce(): Generator<Asked, void, unknown> {
  yield { name: 'tool_search', args: { names } }
  for (const name of names) yield* bridgedOf(name)
}

/** Finds a tool when it is first needed: by a query, and then by its name if the answer has not its args. */
function* asNeeded(): Generator<Asked, void, unknown> {
  for (const name of names) {
    const found = yield { name: 'tool_search', args: { query: needed[name]!.query } }
    const { tools } = found as { readonly tools: readonly { readonly name: string; readonly inputSchema?: object }[] }
    if (tools.find((one) => one.name === name)?.inputSchema === undefined) {
      yield { name: 'tool_search', args: { names: [name] } }
    }
    yield* bridgedOf(name)
  }
}

/** Returns the tokens that go in over all requests of a model: definitions and messages. */
async function tokensOf(executor: ToolExecutor, model: Model): Promise<number> {
  const format = anthropic()
  const messages: unknown[] = [
    { role: 'user', content: 'Report that the mill stops, mend it, and release the mended engine.' },
  ]
  let [tokens, index] = [0, 0]
  let value: unknown
  for (let step = model.next(); step.done !== true; step = model.next(value)) {
    const { name, args: input } = step.value
    tokens += estimateTokens(JSON.stringify({ tools: format.definitions(executor.tools()), messages }))
    const message = { role: 'assistant', content: [{ type: 'tool_use', id: `toolu_${index++}`, name, input }] }
    const results = await executor.executeToolCalls(format.calls(message, executor.tools()))
    if (results[0]?.status !== 'ok') throw new Error(`${name} failed: ${results[0]?.error?.message}`)
    messages.push(message, format.results(results, message))
    value = results[0].value
  }
  return tokens
}

export interface TurnTokens {
  /** Of the tools that are needed alone, which are all shown. */
  readonly needed: number
  /** Behind the search. */
  readonly atOnce: number
  readonly asNeeded: number
  /** Of all tools, which are all shown. */
  readonly all: () => Promise<number>
}

/** Counts the tokens of 40 turns with these tools, which have those of GitHub's API among them. No call leaves the machine. */
export async function turnTokens(tools: readonly ToolDefinition[]): Promise<TurnTokens> {
  const registry = new ToolRegistry(tools)
  const five = names.map((name) => {
    const one = registry.get(name)
    if (one === undefined) throw new Error(`There is no tool ${name}.`)
    return one
  })
  const silent = { middleware: [async () => 'done'] }
  /** An executor of which only the search runs. */
  const searched = createExecutor({
    tools,
    use: [
      { middleware: [async (call, _context, next) => (call.name === 'tool_search' ? next() : 'done')] },
      toolSearch(),
    ],
  })
  return {
    needed: await tokensOf(createExecutor({ tools: five, use: [silent] }), direct.values()),
    atOnce: await tokensOf(searched, atOnce()),
    asNeeded: await tokensOf(searched, asNeeded()),
    all: async () => tokensOf(createExecutor({ tools, use: [silent] }), direct.values()),
  }
}
