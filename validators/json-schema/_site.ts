import type { Draft } from './_dialect.ts'
import type { Target } from './_resolve.ts'
import type { Cell, Resource, Test } from './_run.ts'
import type { Schema } from './_snapshot.ts'

/** A compiled regular expression. */
export interface Pattern {
  test(text: string): boolean
  /** Steps that one character of text costs at worst. Default: one for 64 characters. */
  readonly cost?: number
}

/** Says whether a text is of a format. */
export type Formats = Readonly<Record<string, (value: string) => boolean>>

/** One schema object while it is compiled: what the keywords read, and where they put their tests. */
export interface Site {
  readonly schema: Schema
  readonly draft: Draft
  /** Whether the keywords of the validation vocabulary assert anything. */
  readonly asserts: boolean
  readonly formats: Formats
  /** The schema of a part of the value. */
  part(schema: unknown): Cell
  /** A schema that looks at the same value; the test calls it when it is compiled. */
  beside(schema: unknown): Test
  /** What a reference leads to. */
  resolve(reference: unknown): Target
  /** What a reference leads to, as a schema that looks at the same value. */
  follow(target: Target): Test
  /** Every schema that a dynamic reference to a name may choose, by its resource; all are there when the compilation ends. */
  dynamicCells(name: string): ReadonlyMap<Resource, Cell>
  /** A regular expression that stands at a keyword. */
  pattern(source: string, keyword: string): Pattern
  readonly anything: Test[]
  readonly strings: Test<string>[]
  readonly numbers: Test<number>[]
  readonly arrays: Test<readonly unknown[]>[]
  readonly objects: Test<Readonly<Record<string, unknown>>>[]
  /** Tests that need to know what all the others have looked at. */
  readonly last: Test[]
  /** Steps that one application costs, besides those that its loops count. */
  weight: number
}

/** The members of an object in a schema, or nothing. */
export function entries<Value>(map: unknown): [string, Value][] {
  return Object.entries((map ?? {}) as Record<string, Value>)
}
