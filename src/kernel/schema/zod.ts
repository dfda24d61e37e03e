import type { StandardSchemaV1 } from './standard.ts'

/** What all kinds of Zod schemas have in common. */
export interface ZodSchema extends StandardSchemaV1 {
  /** Absent in Zod 3. */
  readonly _zod?: object
  safeParseAsync(value: unknown): Promise<{ readonly data?: unknown; readonly error?: StandardSchemaV1.FailureResult }>
}

/**
 * Whether a schema is one of Zod that may have to be waited for. Its own `~standard` asks the author's functions synchronously
 * first. If one of them waits, Zod drops its promise, whose rejection would end the process, and asks all of them again.
 */
export function isZodThatMayWait(schema: StandardSchemaV1): boolean {
  const { _zod, safeParseAsync } = schema as Partial<ZodSchema>
  if (schema['~standard'].vendor !== 'zod' || typeof safeParseAsync !== 'function') return false
  return _zod === undefined || mayWait(schema)
}

/** Asks a Zod schema asynchronously from the start. */
export async function parseZod(schema: ZodSchema, value: unknown): Promise<unknown> {
  const { data, error } = await schema.safeParseAsync(value)
  return error === undefined ? { value: data } : { issues: error.issues }
}

/** The fields of a definition of Zod that contain schemas and checks. */
const children =
  'shape element innerType options left right keyType valueType items rest in out catchall checks schema'.split(' ')

const ownTypes = new Set(
  (
    'string number boolean bigint symbol null undefined void never any unknown date object record file array tuple ' +
    'union intersection map set enum literal nullable optional nonoptional success default prefault catch nan pipe ' +
    'readonly template_literal lazy'
  ).split(' '),
)
const ownChecks = new Set(
  (
    'greater_than less_than multiple_of number_format bigint_format min_length max_length length_equals min_size ' +
    'max_size size_equals string_format mime_type property overwrite'
  ).split(' '),
)

/** Whether a schema of Zod 4 has a function of its author or a type that Zod does not know: both may return a promise. */
export function mayWait(part: unknown, visited: Set<unknown> = new Set()): boolean {
  if (typeof part !== 'object' || part === null || visited.has(part)) return false
  visited.add(part)
  const inner = (part as { readonly _zod?: { readonly def: Record<string, unknown>; readonly innerType?: unknown } })
    ._zod
  if (inner === undefined) return Object.values(part).some((child) => mayWait(child, visited))
  const { def } = inner
  if (def['type'] !== undefined && !ownTypes.has(def['type'] as string)) return true
  if (def['check'] !== undefined && !ownChecks.has(def['check'] as string)) return true
  if (def['transform'] !== undefined) return true
  if (def['type'] === 'lazy' && mayWait(inner.innerType, visited)) return true
  return children.some((field) => mayWait(def[field], visited))
}
