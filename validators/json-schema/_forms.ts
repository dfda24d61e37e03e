import type { Draft } from './_dialect.ts'
import { SchemaError } from './_error.ts'
import { isSchemaObject, pointerPart, type Schema } from './_snapshot.ts'

type Fits = (value: unknown, draft: Draft) => boolean

/** What the value of a keyword must be, and whether it contains schemas. */
interface Form {
  readonly wants: string
  readonly fits: Fits
  readonly holds: 'nothing' | 'schemas' | 'map'
}

function define(wants: string, fits: Fits, holds: Form['holds'] = 'nothing'): Form {
  return { wants, fits, holds }
}

function isListOf({ fits }: Pick<Form, 'fits'>, least = 0): Fits {
  return (value, draft) => Array.isArray(value) && value.length >= least && value.every((item) => fits(item, draft))
}

function isMapOf(fits: Fits): Fits {
  return (value, draft) => isSchemaObject(value) && Object.values(value).every((member) => fits(member, draft))
}

function either(one: Form, other: Form): Fits {
  return (value, draft) => one.fits(value, draft) || other.fits(value, draft)
}

const typeNames = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']

const text = define('a string', (value) => typeof value === 'string')
const flag = define('a boolean', (value) => typeof value === 'boolean')
const number = define('a number', (value) => typeof value === 'number')
const divisor = define('a number above 0', (value) => typeof value === 'number' && value > 0)
const count = define('a whole number from 0', (value) => Number.isInteger(value) && (value as number) >= 0)
const anything = define('a list', Array.isArray)
const names = define('a list of strings', isListOf(text))
const type = define('', (value) => typeNames.includes(value as string))
const types = define(`${typeNames.join(', ')} or a list of them`, either(type, define('', isListOf(type, 1))))
const oneSchema = define('a schema', (value) => flag.fits(value, 7) || isSchemaObject(value), 'schemas')
const tuple = define('a list of schemas', isListOf(oneSchema), 'schemas')
const schemas = define('a list of one or more schemas', isListOf(oneSchema, 1), 'schemas')
const items = define(
  'a schema (prefixItems takes a list)',
  (value, draft) => oneSchema.fits(value, draft) || (draft < 2020 && tuple.fits(value, draft)),
  'schemas',
)
const map = define('an object of schemas', isMapOf(oneSchema.fits), 'map')
const needs = define('an object of lists of strings', isMapOf(names.fits))
const dependencies = define('an object of schemas or lists of strings', isMapOf(either(oneSchema, names)), 'map')
const hash = define('"#"', (value) => value === '#')

/** The form of each keyword, with the first and last draft that have it. */
const table: readonly (readonly [keywords: string, form: Form, from?: Draft, until?: Draft])[] = [
  ['$schema $id $ref pattern format', text],
  ['$anchor', text, 2019],
  ['$dynamicRef $dynamicAnchor', text, 2020],
  ['$recursiveRef', hash, 2019, 2019],
  ['$recursiveAnchor', flag, 2019, 2019],
  ['type', types],
  ['enum', anything],
  ['minimum maximum exclusiveMinimum exclusiveMaximum', number],
  ['multipleOf', divisor],
  ['minLength maxLength minItems maxItems minProperties maxProperties', count],
  ['minContains maxContains', count, 2019],
  ['uniqueItems', flag],
  ['required', names],
  ['dependentRequired', needs, 2019],
  ['additionalProperties contains else if not propertyNames then', oneSchema],
  ['unevaluatedItems unevaluatedProperties contentSchema', oneSchema, 2019],
  ['additionalItems', oneSchema, 7, 2019],
  ['allOf anyOf oneOf', schemas],
  ['prefixItems', tuple, 2020],
  ['items', items],
  ['properties patternProperties $defs definitions', map],
  ['dependentSchemas', map, 2019],
  ['dependencies', dependencies],
]

const forms = new Map(
  table.flatMap(([keywords, form, from = 7, until = 2020]) =>
    keywords.split(' ').map((keyword) => [keyword, { form, from, until }] as const),
  ),
)

function formIn(keyword: string, draft: Draft): Form | undefined {
  const found = forms.get(keyword)
  return found && draft >= found.from && draft <= found.until ? found.form : undefined
}

/** Returns whether a keyword affects validation in a draft. */
export function isKnown(keyword: string, draft: Draft): boolean {
  return formIn(keyword, draft) !== undefined
}

/**
 * Calls `visit` for each direct subschema.
 *
 * @throws SchemaError (`form`) if the value of a keyword does not have the form that the draft requires.
 */
export function walkKeywords(
  schema: Schema,
  draft: Draft,
  at: string,
  visit: (child: Schema, at: string) => void,
): void {
  for (const keyword in schema) {
    const form = formIn(keyword, draft)
    if (!form) continue
    const value = schema[keyword]
    const here = at + pointerPart(keyword)
    if (!form.fits(value, draft)) throw new SchemaError('form', here, `${keyword} must be ${form.wants}`)
    if (form.holds === 'nothing') continue
    if (form.holds === 'schemas' && isSchemaObject(value)) visit(value, here)
    else {
      for (const [name, child] of Object.entries(value as object)) {
        if (isSchemaObject(child)) visit(child, here + pointerPart(name))
      }
    }
  }
}
