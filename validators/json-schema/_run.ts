import type { Issue } from '../../src/kernel/schema/standard.ts'
import type { Dialect } from './_dialect.ts'
import { applicationDepth, issueCount } from './_limits.ts'
import type { Schema } from './_snapshot.ts'

/** A schema with its own URI, and the anchors in it. */
export interface Resource {
  readonly uri: string
  readonly root: Schema | boolean
  readonly dialect: Dialect
  readonly anchors: Map<string, Schema>
}

/** The entered resources, innermost first. Dynamic references search them. */
export interface Scope {
  readonly resource: Resource
  readonly outer: Scope | null
}

/** An issue, with the data to choose among alternatives. */
export interface Finding extends Issue {
  /** Set if the value has another type, or is not one of the allowed values. */
  readonly kind?: 'type' | 'value' | undefined
  readonly allowed?: readonly string[] | undefined
  readonly got?: string | undefined
}

/** The evaluated items and properties, for `unevaluatedItems` and `unevaluatedProperties`. */
export class Evaluated {
  /** The number of evaluated items from the start; `keys` has further ones. */
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

/** The state of one pass over one value. */
export interface Run {
  /** The allowed number of steps; `steps` is the rest. */
  readonly limit: number
  steps: number
  depth: number
  scope: Scope
  /** The path of the current part; maintained only while findings are collected. */
  readonly path: (string | number)[]
  /** `null` if only the answer is needed. */
  findings: Finding[] | null
}

/** Returns whether a value fits. Continues after a misfit only while findings are collected. */
export type Test<Value = unknown> = (value: Value, run: Run, evaluated: Evaluated | null) => boolean

/** A compiled schema. The cell exists before its test, so that schemas can refer to each other. */
export interface Cell {
  test: Test
}

/** Throws a RangeError, as a stack overflow does, if the nesting is too deep. */
export function checkDepth(depth: number): void {
  if (depth > applicationDepth) throw new RangeError(`more than ${applicationDepth} levels`)
}

/** Counts steps; every loop over a value or a schema calls it. Throws a RangeError at the limit. */
export function spend(run: Run, steps: number): void {
  run.steps -= steps
  if (run.steps < 0) throw new RangeError(`more than ${run.limit} steps`)
}

/** Returns whether the pass can stop after a misfit. */
export function isEnough(run: Run): boolean {
  return run.findings === null || run.findings.length >= issueCount
}

/** Records a misfit. Builds the message only if findings are collected. */
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

/** Applies a schema without collecting findings. */
export function testQuietly(test: Test, value: unknown, run: Run, evaluated: Evaluated | null = null): boolean {
  const { findings } = run
  run.findings = null
  const fits = testBranch(test, value, run, evaluated)
  run.findings = findings
  return fits
}

/** Applies a schema that may fail. Its evaluated parts count only if it fits. */
export function testBranch(test: Test, value: unknown, run: Run, evaluated: Evaluated | null): boolean {
  if (evaluated === null) return test(value, run, null)
  const own = new Evaluated()
  if (!test(value, run, own)) return false
  evaluated.take(own, run)
  return true
}

/** Combines several tests. */
export function allOf<Value>(tests: readonly Test<Value>[]): Test<Value> | null {
  if (tests.length < 2) return tests[0] ?? null
  return (value, run, evaluated) => {
    let fits = true
    for (let index = 0; index < tests.length; index++) {
      if (tests[index]!(value, run, evaluated)) continue
      fits = false
      if (isEnough(run)) return false
    }
    return fits
  }
}
