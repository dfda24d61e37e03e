// A ranker by embeddings, as an application would write it: the vectors of tools are kept, and each query has one made.
import type { ToolDefinition } from 'toolwright'
import type { ToolRanker } from 'toolwright/discovery/search'

export type Embed = (texts: string[]) => Promise<number[][]>

export function byEmbeddings(embed: Embed): ToolRanker {
  const vectors = new WeakMap<ToolDefinition, number[]>()
  const textOf = ({ name, description }: ToolDefinition): string =>
    `${name.replaceAll(/[_-]+/g, ' ')}: ${description.split(/(?<=[.!?])\s|\n/, 1)[0]!.slice(0, 250)}`
  return {
    async rank(query, tools, limit, signal) {
      const unread = tools.filter((one) => !vectors.has(one))
      for (let start = 0; start < unread.length; start += 64) {
        signal.throwIfAborted()
        const part = unread.slice(start, start + 64)
        const ofPart = await embed(part.map(textOf))
        for (const [index, one] of part.entries()) vectors.set(one, ofPart[index]!)
      }
      const [wanted] = await embed([query])
      const scoreOf = (one: ToolDefinition): number =>
        vectors.get(one)!.reduce((sum, value, index) => sum + value * wanted![index]!, 0)
      const ranked = tools.map((one) => ({ name: one.name, score: scoreOf(one) }))
      return ranked.toSorted((one, other) => other.score - one.score).slice(0, limit)
    },
  }
}
