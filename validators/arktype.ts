/**
 * ArkType types as Standard Schemas that refuse what ArkType lets through or leaves unsaid.
 *
 * This file must not change the type, and must not wait: ArkType is synchronous.
 */
import { ArkErrors, type Type } from 'arktype'
import { SchemaConversionError, type StandardJSONSchemaV1, type StandardSchemaV1 } from '../src/index.ts'

/**
 * Makes a Standard Schema of an ArkType type. Plain types work in tools too; this one also
 *
 * - refuses a call where a narrow or a morph gives a promise, which ArkType takes for a yes,
 * - keeps defaults in what the model is shown, and refuses to show `Date`, `bigint` and the like as if they were anything,
 * - says each issue without its path, which stands beside it.
 *
 * Narrows that JSON Schema cannot say are left out of what the model is shown, and are validated all the same.
 *
 * @throws SchemaConversionError (`E_SCHEMA_CONVERSION`) where it is no ArkType type; the converters throw it where JSON cannot
 *   hold what the type asks for.
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

/** The same type, whose narrows and morphs throw where they give a promise. */
function withoutPromises(type: Type): (value: unknown) => unknown {
  const { internal } = type
  if (!internal.references.some(({ kind }) => kind === 'predicate' || kind === 'morph')) return type
  return internal.transform((kind, inner) => {
    const { predicate, morphs } = inner as { readonly predicate?: Author; readonly morphs?: readonly Author[] }
    if (kind === 'predicate' && predicate !== undefined) return { ...inner, predicate: guarded(predicate) }
    // A morph may be a type itself, which is transformed as a node of its own.
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
    Promise.resolve(answer).catch(() => {}) // nobody waits for it
    throw new TypeError('a narrow or a morph gave a promise, and ArkType does not wait for it')
  }
  return Object.defineProperty(guard, 'name', { value: author.name }) // messages name it
}

// ---- showing the type

type Fallback = Extract<NonNullable<NonNullable<Parameters<Type['toJsonSchema']>[0]>['fallback']>, object>

const targets = ['draft-2020-12', 'draft-07'] as const
const unsaid = '~unsaid'

function show(type: Type, side: 'input' | 'output', target: string): Record<string, unknown> {
  const known = targets.find((name) => name === target)
  if (known === undefined) throw new SchemaConversionError(`JSON Schema cannot be shown as ${target}.`)
  // Some of what has no words is asked for and then left out, so the whole is looked through at the end.
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
    throw new SchemaConversionError('JSON Schema has no words for the result of a morph that does not declare it')
  }
  const shown = (side === 'output' ? type.out : type).toJsonSchema({ target: known, fallback })
  JSON.stringify(shown, (key, value: unknown) => {
    if (key === unsaid) throw new SchemaConversionError(`JSON Schema has no words for ${String(value)}`)
    return value
  })
  return shown as Record<string, unknown>
}

function isUntold(result: { readonly expression: string }): boolean {
  return result.expression === 'unknown'
}
