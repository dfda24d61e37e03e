import type { Draft } from './_dialect.ts'
import type { Target } from './_resolve.ts'
import type { Cell, Resource, Test } from './_run.ts'
import type { Schema } from './_snapshot.ts'

/** A compiled regular expression. */
export interface Pattern {
  test(text: string): boolean
  /** The maximum steps for one character of text. Default: 1/64. */
  readonly cost?: number
}

/** Tests whether a text has a format, by format name. */
export type Formats = Readonly<Record<string, (value: string) => boolean>>

/** One schema object during compilation. Keywords read it, and add their tests to it. */
export interface Site {
  readonly schema: Schema
  readonly draft: Draft
  /** Whether the keywords of the validation vocabulary apply. */
  readonly asserts: boolean
  readonly formats: Formats
  /** Compiles the schema of a part of the value. */
  part(schema: unknown): Cell
  /** Compiles a schema for the same value. The test may be called only after the compilation. */
  beside(schema: unknown): Test
  /** Returns the target of a reference. */
  resolve(reference: unknown): Target
  /** Compiles the target of a reference, for the same value. */
  follow(target: Target): Test
  /** Returns the schemas that a dynamic reference may choose, by resource. The map is complete after the compilation. */
  dynamicCells(name: string): ReadonlyMap<Resource, Cell>
  /** Compiles the regular expression of a keyword. */
  pattern(source: string, keyword: string): Pattern
  readonly anything: Test[]
  readonly strings: Test<string>[]
  readonly numbers: Test<number>[]
  readonly arrays: Test<readonly unknown[]>[]
  readonly objects: Test<Readonly<Record<string, unknown>>>[]
  /** Tests that run last, because they need the evaluated parts of all others. */
  readonly last: Test[]
  /** Steps of one application, without those that its loops count. */
  weight: number
}

/** Returns the entries of an object in a schema, or an empty list. */
export function entries<Value>(map: unknown): [string, Value][] {
  return Object.entries((map ?? {}) as Record<string, Value>)
}
