import * as fc from 'fast-check'
import { canonicalize, computeCallId } from 'toolwright'
import { jsonSchema } from 'toolwright/validators/json-schema'
import { describe, expect, test } from 'vitest'
import { providers, type Dialect, type Leniency } from '../../../src/formats/_dialects.ts'
import { mend } from '../../../src/formats/_lower/lenient.ts'
import { lower } from '../../../src/formats/_lower/lower.ts'
import { valueSteps, type LoweredSchema, type Node, type Scope } from '../../../src/formats/_lower/schema.ts'
import { faultsOf } from './rules.ts'
import { roots } from './schemas.ts'

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 300)
const all = Object.values(providers).flatMap(({ usual, strict }) => [
  usual,
  ...(typeof strict === 'object' ? [strict] : []),
])
const dialects = [...new Map(all.map((dialect) => [dialect.name, dialect])).values()]

describe.each(dialects)('a schema in the dialect $name', (dialect) => {
  test('is taken, has room for every value, and gives each back as it was', { timeout: 3_600_000 }, () => {
    const sums = { lowered: 0, refused: 0 }
    fc.assert(
      fc.property(roots, ([schema, value]) => {
        const copied = JSON.parse(JSON.stringify(schema)) as Node
        const made = lowered(copied, dialect)
        // Generated schemas may have more optional fields than a grammar takes.
        if (made.refused !== undefined) return void (sums.refused += expectLimit(made.refused))
        sums.lowered += 1
        expect(JSON.stringify(copied)).toBe(JSON.stringify(schema))
        const out = JSON.parse(JSON.stringify(made.schema)) as Node
        expect(faultsOf(out, dialect.name)).toEqual([])
        if (made.losses.length === 0) expect(out).toEqual(copied)
        for (const { pointer } of made.losses) expect(at(copied, pointer)).toBeDefined()
        expectValid(copied, value)
        const sunk = made.down === undefined ? value : made.down(value, scope(out))
        expectValid(plain(out), sunk)
        const lifted = made.up === undefined ? sunk : made.up(JSON.parse(JSON.stringify(sunk)), scope(out))
        expect(canonicalize(lifted)).toBe(canonicalize(value))
        expect(computeCallId('tool', lifted)).toBe(computeCallId('tool', value))
      }),
      { numRuns },
    )
    expect(sums.lowered).toBeGreaterThan(numRuns / 2)
  })
})

function expectLimit(reason: string): number {
  expect(reason).toMatch(/^it has \d+ .*, and \d+ are taken$/)
  return 1
}

function lowered(schema: Node, dialect: Dialect | Leniency): LoweredSchema {
  return 'keywords' in dialect ? lower(schema, dialect) : mend(schema, dialect)
}

/** The branches of unions are chosen by a validator, as the model would. */
function scope(root: Node): Scope {
  const { $defs = {} } = root
  return { steps: valueSteps, accepts: (schema, value) => isValid(plain({ ...schema, $defs }), value) }
}

function isValid(schema: Node, value: unknown): boolean {
  const result = jsonSchema(JSON.parse(JSON.stringify(schema)) as object)['~standard'].validate(value) as {
    issues?: unknown
  }
  return result.issues === undefined
}

function expectValid(schema: Node, value: unknown): void {
  const { issues } = jsonSchema(JSON.parse(JSON.stringify(schema)) as object)['~standard'].validate(value) as {
    issues?: unknown
  }
  if (issues !== undefined)
    throw new Error(`${JSON.stringify(value)} does not fit ${JSON.stringify(schema)}: ${JSON.stringify(issues)}`)
}

/** JSON Schema without `nullable`, which is OpenAPI's. */
function plain(schema: Node): Node {
  if (JSON.stringify(schema).includes('"nullable":true')) return strip(schema) as Node
  return schema
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip)
  if (typeof value !== 'object' || value === null) return value
  const { nullable, ...rest } = value as Record<string, unknown>
  const inner = Object.fromEntries(
    Object.entries(rest).map(([key, item]) => [
      key,
      key === 'properties'
        ? Object.fromEntries(Object.entries(item as object).map(([name, one]) => [name, strip(one)]))
        : key === 'enum' || key === 'default'
          ? item
          : strip(item),
    ]),
  )
  return nullable === true ? { anyOf: [inner, { type: 'null' }] } : inner
}

function at(root: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (found, part) => (found as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')],
      root,
    )
}
