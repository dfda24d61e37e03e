/**
 * ArkType types as Standard Schemas, with stricter checks and a complete JSON Schema.
 *
 * This file must not change the type, and must not be asynchronous: ArkType is synchronous.
 */
import { ArkErrors, type Type } from 'arktype'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '../src/index.ts'
import { SchemaConversionError } from '../src/errors.ts'

/**
 * Makes a Standard Schema from an ArkType type. Plain types work in tools too. In addition, this one
 *
 * - refuses a call if a narrow or a morph returns a promise, which ArkType would accept as a pass,
 * - shows defaults to the model, and refuses to convert `Date`, `bigint` and the like to a schema that accepts anything,
 * - leaves the path out of issue messages, since the issue has a `path` field.
 *
 * The model does not see narrows that JSON Schema cannot express. They are still validated.
 *
 * @param type A type of ArkType.
 * @throws SchemaConversionError (`E_SCHEMA_CONVERSION`) if `type` is not an ArkType type. The converters throw it if JSON
 *   cannot represent a value of the type.
 * @example
 * ```ts
 * import { type } from 'arktype'
 * import { arktype } from 'toolwright/validators/arktype'
 *
 * const place = arktype(type({ city: 'string > 0', days: 'number.integer = 3', since: 'string.date.parse' }))
 * ```
 * @see https://arktype.io/docs/configuration#tojsonschema
 */
export function arktype<Checked extends Type>(
  type: Checked,
): StandardSchemaV1<Checked['inferIn'], Checked['inferOut']> &
  StandardJSONSchemaV1<Checked['inferIn'], Checked['inferOut']> {
  if (typeof type !== 'function' || type['~standard']?.vendor !== 'arktype') {
    throw new SchemaConversionError('arktype() takes a type of ArkType 2.')
  }
  let check: ((value: unknown) => unknown) | undefined
  return {
    '~standard': {
      version: 1,
      vendor: 'arktype',
      validate(value) {
        check ??= withoutPromises(type)
        const result = check(value)
        if (!(result instanceof ArkErrors)) return { value: result as Checked['inferOut'] }
        return { issues: result.map(({ problem, path }) => ({ message: problem, path: [...path] })) }
      },
      jsonSchema: {
        input: ({ target }) => show(type, 'input', target),
        output: ({ target }) => show(type, 'output', target),
      },
    },
  }
}

// ---- promises

type Author = (...args: unknown[]) => unknown

/** Returns a validator of the same type whose narrows and morphs throw if they return a promise. */
function withoutPromises(type: Type): (value: unknown) => unknown {
  const { internal } = type
  if (!internal.references.some(({ kind }) => kind === 'predicate' || kind === 'morph')) return type
  return internal.transform((kind, inner) => {
    const { predicate, morphs } = inner as { readonly predicate?: Author; readonly morphs?: readonly Author[] }
    if (kind === 'predicate' && predicate !== undefined) return { ...inner, predicate: guarded(predicate) }
    // A morph may itself be a type, which `transform` visits separately.
    if (kind === 'morph' && morphs !== undefined) {
      return { ...inner, morphs: morphs.map((morph) => ('internal' in morph ? morph : guarded(morph))) }
    }
    return inner
  })
}

function guarded(author: Author): Author {
  const guard: Author = (...args) => {
    const answer = author(...args)
    if (typeof (answer as { readonly then?: unknown } | null | undefined)?.then !== 'function') return answer
    Promise.resolve(answer).catch(() => {}) // swallows a late rejection, which would be unhandled
    throw new TypeError('a narrow or a morph returned a promise, which ArkType does not await')
  }
  return Object.defineProperty(guard, 'name', { value: author.name }) // ArkType's messages contain the name
}

// ---- showing the type

type Fallback = Extract<NonNullable<NonNullable<Parameters<Type['toJsonSchema']>[0]>['fallback']>, object>

const targets = ['draft-2020-12', 'draft-07'] as const
const unsaid = '~unsaid'

function show(type: Type, side: 'input' | 'output', target: string): Record<string, unknown> {
  const jsonTarget = targets.find((name) => name === target)
  if (jsonTarget === undefined) throw new SchemaConversionError(`JSON Schema cannot be shown as ${target}.`)
  // ArkType asks the fallback for some nodes that it then drops, so marks are searched in the finished schema.
  const mark = (what: string): never => ({ [unsaid]: what }) as never
  const fallback: Fallback = {
    default: ({ code }) => mark(code),
    predicate: ({ base }) => base,
    arrayObject: ({ base }) => base,
    defaultValue: () => undefined,
    patternIntersection: ({ base, pattern }) => ({ allOf: [base, { pattern }] }) as never,
    morph: ({ base }) => base,
    unit: ({ unit }) => (unit === undefined ? { not: {} } : mark(typeof unit)),
    domain: ({ domain }) => mark(domain),
    proto: ({ proto }) => mark(proto.name),
    date: () => (side === 'output' ? { type: 'string', format: 'date-time' } : mark('Date')),
  }
  if (side === 'output' && type.internal.references.some((node) => node.hasKind('morph') && isUntold(node.rawOut))) {
    throw new SchemaConversionError('JSON Schema cannot express the result of a morph that does not declare it')
  }
  const shape = (side === 'output' ? type.out : type).toJsonSchema({ target: jsonTarget, fallback })
  JSON.stringify(shape, (key, value: unknown) => {
    if (key === unsaid) throw new SchemaConversionError(`JSON Schema cannot express ${String(value)}`)
    return value
  })
  return shape as Record<string, unknown>
}

function isUntold(result: { readonly expression: string }): boolean {
  return result.expression === 'unknown'
}
