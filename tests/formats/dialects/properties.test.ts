import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { canonicalize, computeCallId } from 'toolwright'
import { jsonSchema } from 'toolwright/validators/json-schema'
import { describe, expect, test } from 'vitest'
import type { LoweredSchema, Node } from '../../../src/formats/_lower/schema.ts'
import { translate } from '../../../src/formats/_lower/translate.ts'
import { compile, dialects as all } from './dialects.ts'
import { faultsOf } from './rules.ts'
import { garbage, roots } from './schemas.ts'

/** Runs of each property. A failure prints the seed. */
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 300)
const timeout = 6 * 3_600_000

// Generated schemas are beyond the limits of some. The table of cases has those.
const dialects = all.map((dialect) => {
  const unlimited: object = { ...dialect, limit: undefined }
  return unlimited as typeof dialect
})

describe('a schema with values of its own', () => {
  test('is taken in every dialect, has room for every value, and gives each back with one callId', { timeout }, () => {
    fc.assert(
      fc.property(roots, ([schema, value]) => {
        const original = copyOf(schema)
        expectFit(original, value)
        const callId = computeCallId('tool', value)
        for (const dialect of dialects) {
          const made = compile(original, dialect)
          if (made.refused !== undefined) throw new Error(`${dialect.name}: ${made.refused}`)
          expectTaken(original, made, dialect.name)
          if (computeCallId('tool', throughModel(made, value)) !== callId) {
            throw new Error(`${dialect.name}: another value came back through ${JSON.stringify(made.schema)}`)
          }
        }
        if (canonicalize(original) !== canonicalize(schema)) throw new Error('the schema was changed')
      }),
      { numRuns },
    )
  })
})

describe('a value', () => {
  test('of the tool’s own shape comes back as it is, if it does not look lowered', { timeout }, () => {
    const plain = {
      type: 'object',
      properties: {
        map: { type: 'object', additionalProperties: { type: 'integer' } },
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: ['integer', 'null'] }], items: false },
        'filter[id]': { type: 'integer' },
        left: { type: ['string', 'null'] },
        either: { anyOf: [{ type: 'object', additionalProperties: { type: 'string' } }, { type: 'integer' }] },
        id: { type: 'object', properties: { id: { type: 'integer' } }, additionalProperties: { type: 'integer' } },
      },
    }
    const values = fc.record(
      {
        map: fc.dictionary(fc.string(), fc.integer()),
        pair: fc.oneof(fc.tuple(fc.string()), fc.tuple(fc.string(), fc.option(fc.integer()))),
        'filter[id]': fc.integer(),
        left: fc.string(),
        either: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.integer()),
        id: fc.record({ id: fc.integer(), extra: fc.integer(), others: fc.integer() }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    )
    const compiled = dialects.map((dialect) => compile(plain, dialect))
    fc.assert(
      fc.property(values, (value) => {
        for (const made of compiled) expect(canonicalize(translate(made, value, true))).toBe(canonicalize(value))
      }),
      { numRuns },
    )
  })
})

describe('garbage', () => {
  const runs = Math.max(numRuns, 3_000)

  test('as a schema is compiled or refused, and throws, hangs or pollutes nothing', { timeout }, () => {
    let slowest = 0
    const counts = { taken: 0, refused: 0 }
    fc.assert(
      fc.property(garbage, fc.jsonValue(), (schema, value) => {
        for (const dialect of dialects) {
          const before = performance.now()
          const made = compile(copyOf(schema), dialect)
          slowest = Math.max(slowest, performance.now() - before)
          counts[made.refused === undefined ? 'taken' : 'refused'] += 1
          if (made.losses.some(({ pointer }) => at(schema, pointer) === undefined))
            throw new Error('a pointer leads nowhere')
          translate(made, value, true)
          translate(made, value, false)
        }
      }),
      { numRuns: runs },
    )
    expect(counts.taken).toBeGreaterThan(0)
    expect(counts.refused).toBeGreaterThan(0)
    expect(Object.keys(Object.prototype)).toEqual([])
    if (numRuns > 300)
      console.log(`${runs} runs of garbage: ${JSON.stringify(counts)}, slowest ${slowest.toFixed(0)} ms`)
  })

  test('as args comes back, whatever the schema is', { timeout }, () => {
    fc.assert(
      fc.property(roots, fc.jsonValue(), ([schema], value) => {
        for (const dialect of dialects) {
          translate(compile(copyOf(schema), dialect), value, true)
        }
      }),
      { numRuns },
    )
  })
})

function expectTaken(original: Node, { schema, losses }: LoweredSchema, dialect: string): void {
  const out = copyOf(schema)
  const faults = faultsOf(out, dialect)
  if (faults.length > 0) throw new Error(`${dialect}: ${faults.join('; ')} in ${JSON.stringify(out)}`)
  if (losses.length === 0 && !isDeepStrictEqual(out, original)) throw new Error(`${dialect}: changed without a loss`)
  const lost = losses.find(({ pointer }) => at(original, pointer) === undefined)
  if (lost !== undefined) throw new Error(`${dialect}: ${lost.pointer} leads nowhere`)
}

/** What the tool gets of args that a model wrote for the lowered schema: it means the value, and a validator decides. */
function throughModel(made: LoweredSchema, value: unknown): unknown {
  const { $defs = {} } = made.schema
  const checks = new Map<Node, Check>()
  const written = translate(made, value, false, (branch, candidate) => {
    const check = checks.get(branch) ?? checkOf({ ...branch, $defs })
    checks.set(branch, check)
    return candidate !== undefined && check(candidate) === undefined
  })
  expectFit(made.schema, written)
  return translate(made, copyOf(written as Node), true)
}

/** Returns the issues of a value, or `undefined`. */
type Check = (value: unknown) => unknown

function checkOf(schema: Node): Check {
  const text = JSON.stringify(schema)
  const plain: unknown = text.includes('"nullable":true') ? withoutNullable(JSON.parse(text)) : JSON.parse(text)
  const standard = jsonSchema(plain as object)['~standard']
  return (value) => (standard.validate(value) as { readonly issues?: unknown }).issues
}

function expectFit(schema: Node, value: unknown): void {
  const issues = checkOf(schema)(value)
  if (issues === undefined) return
  throw new Error(`${JSON.stringify(value)} does not fit ${JSON.stringify(schema)}: ${JSON.stringify(issues)}`)
}

/** Returns JSON Schema for a schema of OpenAPI. */
function withoutNullable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullable)
  if (typeof value !== 'object' || value === null) return value
  const { nullable, ...rest } = value as Record<string, unknown>
  const entries = Object.entries(rest).map(([key, item]): [string, unknown] => {
    if (key === 'enum' || key === 'default') return [key, item]
    return [key, key === 'properties' ? mapValues(item as object, withoutNullable) : withoutNullable(item)]
  })
  const inner = Object.fromEntries(entries)
  return nullable === true ? { anyOf: [inner, { type: 'null' }] } : inner
}

function mapValues(fields: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(value)]))
}

function copyOf(schema: Node): Node {
  return JSON.parse(JSON.stringify(schema)) as Node
}

function at(root: unknown, pointer: string): unknown {
  const keys = pointer.split('/').slice(1)
  return keys.reduce<unknown>(
    (found, key) => (found as Record<string, unknown>)[key.replaceAll('~1', '/').replaceAll('~0', '~')],
    root,
  )
}
