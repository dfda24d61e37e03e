import { ArtifactError } from '../../errors.ts'
import type { Matcher } from '../_patterns.ts'
import type { Operand, Query, Segment, Selector, Test } from './_path.ts'

/** A marker between values: the search has run for so long that other tasks should run. */
export const pauseMark: unique symbol = Symbol('pause')

const stepsUntilPause = 100_000

/** Counts and limits the steps of a path. */
export class Work {
  #left: number
  #pauseAt: number
  readonly #most: number

  constructor(most: number) {
    this.#left = this.#most = most
    this.#pauseAt = most - stepsUntilPause
  }

  spend(steps: number): void {
    this.#left -= steps
    if (this.#left >= 0) return
    throw new ArtifactError(
      `The JSONPath takes more than ${this.#most.toLocaleString('en')} steps here. Ask for less at once: name members instead of "..", and compare within the items alone.`,
    )
  }

  /** Adds steps to the budget, up to its maximum. Each line of JSON Lines brings its own. */
  allow(steps: number): void {
    this.#left = Math.min(this.#most, this.#left + steps)
  }

  get isDue(): boolean {
    if (this.#left > this.#pauseAt) return false
    this.#pauseAt = this.#left - stepsUntilPause
    return true
  }
}

/** The context of an evaluation. */
export interface EvaluationContext {
  readonly root: unknown
  readonly work: Work
  readonly matchers: ReadonlyMap<string, Matcher>
}

/** Yields what the segments select from a value, in the order of RFC 9535. */
export function* select(value: unknown, segments: readonly Segment[], asking: EvaluationContext): Generator {
  const [first] = segments
  if (first === undefined) {
    yield value
    return
  }
  const open = [nodes(value, first, asking)]
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const { done, value: found } = last.next()
    const next = segments[open.length]
    if (done === true) open.pop()
    else if (found === pauseMark || next === undefined) yield found
    else open.push(nodes(found, next, asking))
  }
}

function* nodes(value: unknown, { isDescendant, selectors }: Segment, asking: EvaluationContext): Generator {
  if (!isDescendant) {
    for (const selector of selectors) yield* selected(value, selector, asking)
    return
  }
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    asking.work.spend(1)
    for (const selector of selectors) yield* selected(next, selector, asking)
    if (typeof next !== 'object' || next === null) continue
    const children = Array.isArray(next) ? next : Object.values(next)
    for (let index = children.length - 1; index >= 0; index--) waiting.push(children[index])
    if (asking.work.isDue) yield pauseMark
  }
}

/** Yields what one selector selects among the children of a value. */
export function* selected(value: unknown, selector: Selector, asking: EvaluationContext): Generator {
  const { work } = asking
  work.spend(1)
  if (typeof value !== 'object' || value === null) return
  switch (selector.kind) {
    case 'name':
      if (!Array.isArray(value) && Object.hasOwn(value, selector.name)) yield value[selector.name as keyof typeof value]
      return
    case 'index': {
      const index = selector.index < 0 && Array.isArray(value) ? value.length + selector.index : selector.index
      if (Array.isArray(value) && index >= 0 && index < value.length) yield value[index]
      return
    }
    case 'slice':
      if (!Array.isArray(value)) return
      for (const index of sliceIndices(selector, value.length)) {
        work.spend(1)
        yield value[index]
      }
      return
    default:
  }
  for (const child of Array.isArray(value) ? value : Object.values(value)) {
    work.spend(1)
    if (selector.kind === 'wildcard' || (yield* holds(selector.test, child, asking))) yield child
    if (work.isDue) yield pauseMark
  }
}

/** Yields the indices of a slice of an array. */
export function* sliceIndices(selector: Selector & { kind: 'slice' }, length: number): Generator<number> {
  const { step } = selector
  const bound = (edge: number | undefined, otherwise: number): number => {
    if (edge === undefined) return otherwise
    const index = edge < 0 ? length + edge : edge
    return step > 0 ? Math.min(Math.max(index, 0), length) : Math.min(Math.max(index, -1), length - 1)
  }
  if (step > 0) {
    const end = bound(selector.end, length)
    for (let index = bound(selector.start, 0); index < end; index += step) yield index
  } else if (step < 0) {
    const end = bound(selector.end, -1)
    for (let index = bound(selector.start, length - 1); index > end; index += step) yield index
  }
}

/** The result of a query without a value. */
const nothing = Symbol('nothing')

/** Long work: yields a `pauseMark` now and then, and returns its result. */
export type SlicedWork<Result> = Generator<typeof pauseMark, Result, undefined>

/** Whether a filter holds for a value. */
export function* holds(test: Test, value: unknown, asking: EvaluationContext): SlicedWork<boolean> {
  asking.work.spend(1)
  switch (test.kind) {
    case 'or':
      for (const each of test.tests) if (yield* holds(each, value, asking)) return true
      return false
    case 'and':
      for (const each of test.tests) if (!(yield* holds(each, value, asking))) return false
      return true
    case 'not':
      return !(yield* holds(test.test, value, asking))
    case 'exists':
      if (test.query.isSingular) return onlyOf(test.query, value, asking) !== nothing
      for (const each of queried(test.query, value, asking)) {
        if (each !== pauseMark) return true
        yield pauseMark
      }
      return false
    case 'matches':
      return matchesPattern(test.pattern, yield* operandValue(test.text, value, asking), asking)
    case 'compare': {
      const left = yield* operandValue(test.left, value, asking)
      return yield* compare(test.operator, left, yield* operandValue(test.right, value, asking), asking.work)
    }
  }
}

function queried(query: Query, value: unknown, asking: EvaluationContext): Generator {
  return select(query.isAbsolute ? asking.root : value, query.segments, asking)
}

/** Returns the value of a singular query without generators, which cost more. */
function onlyOf({ isAbsolute, segments }: Query, value: unknown, { root, work }: EvaluationContext): unknown {
  let at = isAbsolute ? root : value
  for (const { selectors } of segments) {
    work.spend(1)
    const [selector] = selectors
    if (typeof at !== 'object' || at === null) return nothing
    if (selector?.kind === 'name') {
      if (Array.isArray(at) || !Object.hasOwn(at, selector.name)) return nothing
      at = at[selector.name as keyof typeof at]
    } else if (selector?.kind === 'index' && Array.isArray(at)) {
      const index = selector.index < 0 ? at.length + selector.index : selector.index
      if (index < 0 || index >= at.length) return nothing
      at = at[index]
    } else return nothing
  }
  return at
}

function* operandValue(operand: Operand, value: unknown, asking: EvaluationContext): SlicedWork<unknown> {
  switch (operand.kind) {
    case 'literal':
      return operand.value
    case 'query':
      return onlyOf(operand.query, value, asking) // the parser lets only singular queries be compared
    case 'value': {
      let only: unknown = nothing
      for (const each of queried(operand.query, value, asking)) {
        if (each === pauseMark) yield pauseMark
        else if (only !== nothing) return nothing
        else only = each
      }
      return only
    }
    case 'count': {
      let count = 0
      for (const each of queried(operand.query, value, asking)) {
        if (each === pauseMark) yield pauseMark
        else count++
      }
      return count
    }
    case 'length': {
      const of = yield* operandValue(operand.of, value, asking)
      if (typeof of === 'string') return yield* characterCount(of, asking.work)
      if (typeof of !== 'object' || of === null) return nothing
      return Array.isArray(of) ? of.length : Object.keys(of).length
    }
  }
}

/** Counts characters: a surrogate pair is one. */
function* characterCount(text: string, work: Work): SlicedWork<number> {
  let length = text.length
  for (let at = 0; at < text.length; at += lengthAtOnce) {
    const part = text.slice(at, at + lengthAtOnce + 1) // one more, for a pair on the border
    work.spend(part.length / 32)
    for (let index = 0; index < part.length - 1 && index < lengthAtOnce; index++) {
      if (isHigh(part.charCodeAt(index)) && isLow(part.charCodeAt(index + 1))) length--
    }
    if (work.isDue) yield pauseMark
  }
  return length
}

const lengthAtOnce = 1_048_576
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

function matchesPattern(pattern: string, text: unknown, { matchers, work }: EvaluationContext): boolean {
  const matcher = matchers.get(pattern)
  if (typeof text !== 'string' || matcher === undefined) return false
  if (text.length > matcher.longest) {
    throw new ArtifactError(
      `A text of ${text.length} characters is too long for match() and search() with this pattern.`,
    )
  }
  work.spend((text.length * matcher.cost) / 32)
  return matcher.test(text)
}

function* compare(operator: string, left: unknown, right: unknown, work: Work): SlicedWork<boolean> {
  switch (operator) {
    case '==':
      return yield* isEqual(left, right, work)
    case '!=':
      return !(yield* isEqual(left, right, work))
    case '<':
      return isLess(left, right)
    case '<=':
      return isLess(left, right) || (yield* isEqual(left, right, work))
    case '>':
      return isLess(right, left)
    default:
      return isLess(right, left) || (yield* isEqual(left, right, work))
  }
}

function isLess(left: unknown, right: unknown): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right
  return typeof left === 'string' && typeof right === 'string' && left < right
}

/** Compares without recursion, since values may be nested deeper than the stack. */
function* isEqual(left: unknown, right: unknown, work: Work): SlicedWork<boolean> {
  const pairs: [unknown, unknown][] = [[left, right]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [one, other] = pair
    work.spend(1)
    if (one === other) continue
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
    if (Array.isArray(one) !== Array.isArray(other)) return false
    const keys = Object.keys(one)
    if (keys.length !== Object.keys(other).length) return false
    work.spend(keys.length)
    for (const key of keys) {
      if (!Object.hasOwn(other, key)) return false
      pairs.push([one[key as keyof typeof one], other[key as keyof typeof other]])
    }
    if (work.isDue) yield pauseMark
  }
  return true
}
