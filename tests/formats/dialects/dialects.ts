import { providerOf, type DialectName } from '../../../src/formats/_dialects.ts'
import type { Dialect, Leniency } from '../../../src/formats/_lower/dialect.ts'
import type { LoweredSchema, Node } from '../../../src/formats/_lower/schema.ts'

const names: readonly DialectName[] = [
  'anthropic',
  'bedrock',
  'gemini',
  'gemini-openapi',
  'groq',
  'mistral',
  'openai',
  'xai',
]

/** Every dialect once. */
export const dialects: readonly (Dialect | Leniency)[] = [
  ...new Map(
    names
      .map((name) => providerOf(name))
      .flatMap(({ usual, strict }) => [usual, strict])
      .filter((one) => typeof one === 'object')
      .map((one) => [one.name, one]),
  ).values(),
]

export function dialectNamed(name: string): Dialect | Leniency {
  const found = dialects.find((dialect) => dialect.name === name)
  if (found === undefined) throw new Error(`There is no dialect ${name}`)
  return found
}

export function compile(schema: Node, dialect: Dialect | Leniency): LoweredSchema {
  return dialect.compile(schema, dialect as never)
}
