import type { Extension, ToolDefinition } from 'toolwright'
import { blend, toolSearch, words, type RankedTool, type ToolRanker } from 'toolwright/discovery/search'
import { expectTypeOf, test } from 'vitest'

test('a ranker answers at once or later, and gets what it may not change', () => {
  const found: readonly RankedTool[] = []
  const atOnce: ToolRanker = { rank: () => found }
  const later: ToolRanker = { rank: async () => found }
  expectTypeOf<ToolRanker['rank']>().parameter(1).toEqualTypeOf<readonly ToolDefinition[]>()
  expectTypeOf(blend(atOnce, later, { share: 0.2 })).toEqualTypeOf<ToolRanker>()
  expectTypeOf(words()).toEqualTypeOf<ToolRanker>()
  // @ts-expect-error -- a score is a number
  const wrong: ToolRanker = { rank: () => [{ name: 'a', score: '1' }] }
  void wrong
})

test('the extension has its tools and what it offers, and takes known options', () => {
  expectTypeOf(toolSearch()).toExtend<Extension>()
  expectTypeOf<ReturnType<typeof toolSearch>['offers']>().toEqualTypeOf<NonNullable<Extension['offers']>>()
  toolSearch({ always: ({ traits }) => traits.readonly, names: { call: 'use_tool' }, ranker: words() })
  // @ts-expect-error -- at most two names
  toolSearch({ names: { find: 'find_tool' } })
})
