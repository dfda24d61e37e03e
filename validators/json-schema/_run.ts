import type { Issue } from '../../src/kernel/standard.ts'
import type { Dialect } from './_dialect.ts'
import { applicationDepth, issueCount } from './_limits.ts'
import type { Schema } from './_snapshot.ts'

/** A schema with a URI of its own, and the names that stand in it. */
export interface Resource {
  readonly uri: string
  readonly root: Schema | boolean
  readonly dialect: Dialect
  readonly anchors: Map<string, Schema>
}

/** The resources that were entered on the way here, the innermost first: what dynamic references look through. */
export interface Scope {
  readonly resource: Resource
  readonly outer: Scope | null
}

/** An issue, with what is needed to choose among alternatives. */
export interface Finding extends Issue {
  /** Set where the value was of another type, or not among the values allowed. */
  readonly kind?: 'type' | 'value' | undefined
  readonly allowed?: readonly string[] | undefined
  readonly got?: string | undefined
}

/** What a schema and those beside it have looked at, for `unevaluatedItems` and `unevaluatedProperties`. */
export class Evaluated {
  /** So many items from the start, and those in `keys` besides. */
  items = 0
  readonly keys: Set<string | number> = new Set()

  has(key: string | number): boolean {
    return this.keys.has(key) || (typeof key === 'number' && key < this.items)
  }

  take(other: Evaluated, run: Run): void {
    spend(run, other.keys.size)
    this.items = Math.max(this.items, other.items)
    for (const key of other.keys) this.keys.add(key)
  }
}

/** One pass over one value. */
export interface Run {
  /** How many steps it may take, and how many are left. */
  readonly limit: number
  steps: number
  depth: number
  scope: Scope
  /** Where the pass stands; kept only while findings are collected. */
  readonly path: (string | number)[]
  /** `null` while only the answer is asked. */
  findings: Finding[] | null
}

/** Whether a value fits; it goes on after a misfit only while findings are collected. */
export type Test<Value = unknown> = (value: Value, run: Run, seen: Evaluated | null) => boolean

/** A compiled schema. A cell is there before its test, so that schemas can refer to each other. */
export interface Cell {
  test: Test
}

/** Counts a level of nesting. A limit that is reached ends the pass like a stack that is full, which it comes before. */
export function checkDepth(depth: number): void {
  if (depth > applicationDepth) throw new RangeError(`more than ${applicationDepth} levels`)
}

/** Counts work; every loop over a value or a schema pays here. */
export function spend(run: Run, steps: number): void {
  run.steps -= steps
  if (run.steps < 0) throw new RangeError(`more than ${run.limit} steps`)
}

/** Whether there is no use in going on after a misfit. */
export function isEnough(run: Run): boolean {
  return run.findings === null || run.findings.length >= issueCount
}

/** Notes a misfit; the message is made only if somebody will read it. */
export function misfit(run: Run, message: () => string): false {
  if (!isEnough(run)) run.findings!.push({ message: message(), path: [...run.path] })
  return false
}

/** Applies a schema to a part of the value. */
export function testPart(cell: Cell, key: string | number, part: unknown, run: Run): boolean {
  if (run.findings === null) return cell.test(part, run, null)
  run.path.push(key)
  const fits = cell.test(part, run, null)
  run.path.pop()
  return fits
}

/** Applies a schema whose findings are of no interest. */
export function testQuietly(test: Test, value: unknown, run: Run, seen: Evaluated | null = null): boolean {
  const { findings } = run
  run.findings = null
  const fits = testBranch(test, value, run, seen)
  run.findings = findings
  return fits
}

/** Applies a schema that may fail without the whole failing: what it has looked at counts only if it fits. */
export function testBranch(test: Test, value: unknown, run: Run, seen: Evaluated | null): boolean {
  if (seen === null) return test(value, run, null)
  const own = new Evaluated()
  if (!test(value, run, own)) return false
  seen.take(own, run)
  return true
}

/** Several tests as one. */
export function allOf<Value>(tests: readonly Test<Value>[]): Test<Value> | null {
  if (tests.length < 2) return tests[0] ?? null
  return (value, run, seen) => {
    let fits = true
    for (let index = 0; index < tests.length; index++) {
      if (tests[index]!(value, run, seen)) continue
      fits = false
      if (isEnough(run)) return false
    }
    return fits
  }
}
