import type { ToolDefinition } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import { checkOptions, functionOption, numberFrom, optionsError } from '../extension.ts'
import { byScore, ToolIndex, type RankedTool } from './_rank.ts'
import { Vocabulary } from './_vocabulary.ts'

/** Finds the tools that fit a query. */
export interface ToolRanker {
  /**
   * Returns the tools that fit, the best first.
   *
   * @param query What a model asked for, as it wrote it.
   * @param tools The tools that it may see. The same array means the same tools.
   * @param limit The most tools to return.
   * @param signal Aborts if the answer is no longer awaited.
   */
  rank(
    query: string,
    tools: readonly ToolDefinition[],
    limit: number,
    signal: AbortSignal,
  ): readonly RankedTool[] | Promise<readonly RankedTool[]>
}

/** The options of `words`. */
export interface WordsOptions {
  /** Returns the group of a tool, whose words count too. Default: the MCP server that it is of, or its first tag. */
  readonly group?: (tool: ToolDefinition) => string | undefined
}

/** The options of `blend`. */
export interface BlendOptions {
  /** How much the second ranker counts, from 0 to 1. Default: 0.1. */
  readonly share?: number
}

/** The most lists of tools whose indexes are kept. Sessions and callers have lists of their own. */
const mostIndexes = 8
/**
 * What keeps the first places of a blended list from counting for all. With many more, a tool that both rankers put last of twenty
 * stands before the first of one of them: a weak ranker then takes nine in a hundred of what `words()` finds.
 */
const placesBefore = 2
const leastBlended = 20

/** Returns the group of a tool if the application names none. */
export function defaultGroup({ mcpConfig, metadata }: ToolDefinition): string | undefined {
  return mcpConfig?.serverName ?? metadata.tags?.[0]
}

/**
 * Ranks tools by the words of their names, groups, titles, descriptions and parameters. It knows endings and related verbs of
 * English; words of other languages match by themselves. The same query over the same tools always gives the same answer.
 *
 * @param options How tools are grouped.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong or unknown.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { words } from 'toolwright/discovery/search'
 *
 * const executor = createExecutor({ tools: [tool('list_invoices', () => []), tool('send_mail', () => 'sent')] })
 * const found = await words().rank('show all bills', executor.tools(), 5, new AbortController().signal)
 * ```
 * @experimental
 */
export function words(options: WordsOptions = {}): ToolRanker {
  checkOptions('words', options, { group: functionOption })
  const { group = defaultGroup } = options
  let vocabulary = new Vocabulary(group)
  let indexes: ToolIndex[] = []
  /** Returns the index of a list, as the most recently used. An equal list has the same one. */
  const indexOf = (tools: readonly ToolDefinition[]): ToolIndex => {
    if (vocabulary.isFull) [vocabulary, indexes] = [new Vocabulary(group), []]
    const index = indexes.find((each) => isSameList(each.tools, tools)) ?? new ToolIndex(tools, vocabulary)
    indexes = [index, ...indexes.filter((each) => each !== index)].slice(0, mostIndexes)
    return index
  }
  return { rank: (query, tools, limit) => indexOf(tools).search(query, Math.max(0, limit)) }
}

/**
 * Joins two rankers by the places that they give: of two tools at one place, that which both find stands first. Neither has to score
 * as the other does.
 *
 * @param first Such as `words()`.
 * @param second Such as a ranker of your own, by embeddings.
 * @param options How much the second counts.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong or unknown.
 * @example
 * ```ts
 * import { blend, toolSearch, words, type ToolRanker } from 'toolwright/discovery/search'
 *
 * const longestName: ToolRanker = {
 *   rank: (_query, tools, limit) => tools.map(({ name }) => ({ name, score: name.length })).slice(0, limit),
 * }
 * const search = toolSearch({ ranker: blend(words(), longestName, { share: 0.2 }) })
 * ```
 * @experimental
 */
export function blend(first: ToolRanker, second: ToolRanker, options: BlendOptions = {}): ToolRanker {
  const ofBoth = [first, second]
  if (ofBoth.some((each) => typeof each?.rank !== 'function')) {
    throw optionsError('blend', 'takes two rankers, such as `words()`, and then its options')
  }
  checkOptions('blend', options, {
    share: { ...numberFrom(0), expected: 'a number from 0 to 1', accepts: isShare },
  })
  const { share = 0.1 } = options
  return {
    async rank(query, tools, limit, signal) {
      const wanted = Math.max(leastBlended, limit * 2)
      const lists = await Promise.all(ofBoth.map(async (each) => each.rank(query, tools, wanted, signal)))
      const scores = new Map<string, number>()
      for (const [index, list] of lists.entries()) {
        if (!Array.isArray(list)) throw new InvalidConfigurationError('A ranker of `blend` returned no list.')
        const weight = index === 0 ? 1 - share : share
        const names = new Set(list.slice(0, wanted).map(({ name }) => name)) // a name counts once
        for (const [place, name] of [...names].entries()) {
          scores.set(name, (scores.get(name) ?? 0) + weight / (placesBefore + place))
        }
      }
      return Array.from(scores, ([name, score]) => ({ name, score }))
        .toSorted(byScore)
        .slice(0, Math.max(0, limit))
    },
  }
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1
}

function isSameList(one: readonly ToolDefinition[], other: readonly ToolDefinition[]): boolean {
  return one.length === other.length && one.every((tool, index) => tool === other[index])
}
