import { show } from './_messages.ts'
import { misfit, type Run, spend, type Test } from './_run.ts'
import type { Site } from './_site.ts'

const itself = (value: number): number => value

type Compare = (size: number, limit: number) => boolean

const atLeast: Compare = (size, limit) => size >= limit
const atMost: Compare = (size, limit) => size <= limit

/** Compiles the keywords that limit a number, or the count of characters, items or properties. */
export function boundKeywords(site: Site): void {
  const { numbers } = site
  bound(site, 'minimum', '>=', atLeast, numbers, itself)
  bound(site, 'maximum', '<=', atMost, numbers, itself)
  bound(site, 'exclusiveMinimum', '>', (value, limit) => value > limit, numbers, itself)
  bound(site, 'exclusiveMaximum', '<', (value, limit) => value < limit, numbers, itself)
  bound(site, 'multipleOf', 'a multiple of', isMultiple, numbers, itself)
  sizes(site, 'Length', site.strings, characters, 'length ')
  sizes(site, 'Items', site.arrays, (items) => items.length, 'number of items ')
  sizes(site, 'Properties', site.objects, properties, 'number of properties ')
}

type Measure<Value> = (value: Value, run: Run, limit: number) => number

function sizes<Value>(site: Site, what: string, tests: Test<Value>[], measure: Measure<Value>, label: string): void {
  bound(site, `min${what}`, '>=', atLeast, tests, measure, label)
  bound(site, `max${what}`, '<=', atMost, tests, measure, label)
}

function bound<Value>(
  { schema, asserts }: Site,
  keyword: string,
  words: string,
  fits: Compare,
  tests: Test<Value>[],
  measure: Measure<Value>,
  label = '',
): void {
  const limit = schema[keyword] as number | undefined
  if (!asserts || limit === undefined) return
  tests.push(
    (value, run) =>
      fits(measure(value, run, limit), limit) ||
      misfit(run, () => `${label}must be ${words} ${limit}, got ${show(measure(value, run, NaN))}`),
  )
}

function properties(value: object, run: Run): number {
  const { length } = Object.keys(value)
  spend(run, length)
  return length
}

/** Counts code points. Far from the limit it returns code units, which give the same answer for less work. */
function characters(text: string, run: Run, limit: number): number {
  if (text.length < limit || text.length > 2 * limit) return text.length
  spend(run, text.length >> 6)
  let pairs = 0
  for (let index = 1; index < text.length; index++) {
    // The upper six bits distinguish the two halves of a surrogate pair.
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800) pairs++
  }
  return text.length - pairs
}

/** Compares decimal notations: 19.99 is a multiple of 0.01, although not in binary. */
function isMultiple(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0
  if (!Number.isFinite(value)) return false
  let [digits, exponent] = decimal(value)
  let [divisorDigits, divisorExponent] = decimal(divisor)
  if (exponent > divisorExponent) digits *= 10n ** BigInt(exponent - divisorExponent)
  else divisorDigits *= 10n ** BigInt(divisorExponent - exponent)
  return digits % divisorDigits === 0n
}

function decimal(value: number): [digits: bigint, exponent: number] {
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  const [integerPart = '', fraction = ''] = mantissa.split('.')
  return [BigInt(integerPart + fraction), Number(exponent) - fraction.length]
}
