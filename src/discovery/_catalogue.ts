import type { Caller, ToolDefinition } from '../index.ts'
import { escapeDeceptive } from '../extension.ts'

/** Returns the tools that a caller sees. */
export type CatalogueOf = (caller: Caller) => readonly ToolDefinition[]

/** The tools of one list that are searched. */
export interface SearchedTools {
  readonly tools: readonly ToolDefinition[]
  readonly byName: ReadonlyMap<string, ToolDefinition>
  /** The tools of each group: those with most tools first. */
  readonly groups: ReadonlyMap<string, readonly ToolDefinition[]>
}

/** What models read of a group's name, which a server may have chosen. */
const longestGroup = 64
const longestSentence = 160
const mostCatalogueSessions = 10_000

/** Makes what returns the tools of a list that are searched, once for each list. */
export function catalogues(
  isSearched: (tool: ToolDefinition) => boolean,
  groupOf: (tool: ToolDefinition) => string | undefined,
): (list: readonly ToolDefinition[]) => SearchedTools {
  const cache = new WeakMap<readonly ToolDefinition[], SearchedTools>()
  return (list) => {
    let catalogue = cache.get(list)
    if (catalogue === undefined) {
      // Rankers of the application get these lists, and may not change them.
      const tools = Object.freeze(list.filter(isSearched))
      const groups = Map.groupBy(tools, groupOf)
      groups.delete(undefined)
      const largestFirst = [...groups].toSorted(([, one], [, other]) => other.length - one.length) as [
        string,
        ToolDefinition[],
      ][]
      for (const [, each] of largestFirst) Object.freeze(each)
      catalogue = {
        tools,
        byName: new Map(tools.map((tool) => [tool.name, tool])),
        groups: new Map(largestFirst),
      }
      cache.set(list, catalogue)
    }
    return catalogue
  }
}

/** Makes what returns the group of a tool as models read it, once for each tool. What throws is reported once. */
export function groupsOf(
  groupOf: (tool: ToolDefinition) => string | undefined,
  report: (error: unknown) => void,
): (tool: ToolDefinition) => string | undefined {
  const cache = new WeakMap<ToolDefinition, { readonly group: string | undefined }>()
  const groupText = (tool: ToolDefinition): string | undefined => {
    const group: unknown = groupOf(tool)
    return typeof group === 'string' && group !== '' ? briefLine(group, longestGroup) : undefined
  }
  const read = reportedOnce(groupText, undefined, report)
  return (tool) => {
    let entry = cache.get(tool)
    if (entry === undefined) cache.set(tool, (entry = { group: read(tool) }))
    return entry.group
  }
}

/** Makes a function that is asked of every tool answer something else if it throws, which is reported once. */
export function reportedOnce<Answer>(
  ask: (tool: ToolDefinition) => Answer,
  otherwise: Answer,
  report: (error: unknown) => void,
): (tool: ToolDefinition) => Answer {
  let hasFailed = false
  return (tool) => {
    try {
      return ask(tool)
    } catch (error) {
      if (!hasFailed) report(error)
      hasFailed = true
      return otherwise
    }
  }
}

/** Remembers how the tools of each session are asked for. */
export class SessionCatalogues {
  readonly #sessions = new Map<string, CatalogueOf>()

  set(session: string, catalogue: CatalogueOf): void {
    this.#sessions.delete(session) // set again below, as the most recently used
    this.#sessions.set(session, catalogue)
    if (this.#sessions.size > mostCatalogueSessions) this.#sessions.delete(this.#sessions.keys().next().value!)
  }

  get(session: string): CatalogueOf | undefined {
    return this.#sessions.get(session)
  }
}

/** Returns the first sentence of a description. */
export function firstSentence(description: string): string {
  const [sentence = ''] = description
    .slice(0, 4 * longestSentence)
    .trim()
    .split(/(?<=[.!?])\s|\n/, 1)
  return briefLine(sentence, longestSentence)
}

/** Returns the beginning of a text of others on one line, with what deceives a reader escaped. */
export function briefLine(text: string, longest: number): string {
  const line = escapeDeceptive(
    text
      .slice(0, 2 * longest)
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return line.length > longest ? `${line.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…` : line
}
