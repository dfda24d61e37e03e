import type { Format, ToolDefinition } from 'toolwright'
import { definer, schemasOf, toolCall } from 'toolwright/formats/kit'
import { expectTypeOf, test } from 'vitest'
import { acme, type AcmeReply, type AcmeTool } from './acme.ts'

const parts = { optionsOf: () => undefined, replaces: () => false }

test('a dialect is the name of a provider, or rules with keywords that providers take', () => {
  schemasOf({ ...parts, dialect: 'openai' }, { strict: true })
  schemasOf({ ...parts, dialect: { keywords: ['format'], formats: ['date'], enums: ['integer'] } }, {})
  // @ts-expect-error -- no provider has this name
  schemasOf({ ...parts, dialect: 'cohere' }, {})
  // @ts-expect-error -- no provider takes this keyword
  schemasOf({ ...parts, dialect: { keywords: ['not'] } }, {})
})

test('definitions have the type of the provider’s tools', () => {
  const definitions = definer<{ name: string }>(
    { optionsOf: () => undefined, accept: (options) => ({ options }), define: ({ name }) => ({ name }) },
    {},
  )
  expectTypeOf(definitions).toEqualTypeOf<(tools: readonly ToolDefinition[]) => { name: string }[]>()
  expectTypeOf(toolCall('x', 'add', {})).toExtend<{ readonly name: string }>()
})

test('a format of another package is a format', () => {
  expectTypeOf(acme()).toExtend<Format<AcmeTool, unknown, AcmeReply>>()
  expectTypeOf(acme()).toExtend<Format>()
})
