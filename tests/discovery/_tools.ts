import { createExecutor, tool, type Tool, type ToolDefinition } from 'toolwright'
import type { ToolRanker } from 'toolwright/discovery/search'

/** Makes definitions of tools from their names and descriptions. */
export function definitionsOf(descriptions: Readonly<Record<string, string>>): readonly ToolDefinition[] {
  const tools = Object.entries(descriptions).map(([name, description]) =>
    tool({ name, description, handler: () => name }),
  )
  return createExecutor({ tools }).tools()
}

/** The names that a ranker finds, at most five. */
export async function namesFound(
  ranker: ToolRanker,
  query: string,
  tools: readonly ToolDefinition[],
): Promise<string[]> {
  const ranked = await ranker.rank(query, tools, 5, new AbortController().signal)
  return ranked.map(({ name }) => name)
}

/** Makes tools with one tag from their names and descriptions. */
export function tagged(tag: string, descriptions: Readonly<Record<string, string>>): Tool[] {
  return Object.entries(descriptions).map(([name, description]) =>
    tool({ name, description, metadata: { tags: [tag] }, handler: () => name }),
  )
}
