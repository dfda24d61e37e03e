import type { JsonSchema } from '../../index.ts'
import { jsonSchema } from '../../../validators/json-schema.ts'
import { OperationFault, type ApiDocument } from './_document.ts'
import type { ApiSettings } from './_options.ts'
import type { Direction, DocumentSchemas } from './_schemas.ts'

/** What the tools of one document share. */
export interface ApiSource {
  readonly document: ApiDocument
  readonly schemas: DocumentSchemas
  readonly settings: ApiSettings
  readonly base: URL
  /** The names of `fixed` that an operation has. */
  readonly used: Set<string>
  /** Reports what has been cut or does not fit, each once. */
  readonly note: (operation: string, words: string) => void
}

/** A schema of the document, compiled. Its author is not trusted. */
export type CompiledSchema = ReturnType<typeof jsonSchema>

/** Compiles a schema of the document. @throws if it cannot be used, but for what its patterns need. */
export function compiledFromDocument(schema: unknown, direction: Direction, { schemas }: ApiSource): CompiledSchema {
  const resolvedSchema = schemas.whole(schema, direction) as JsonSchema
  return jsonSchema(resolvedSchema, { origin: 'wire', draft: schemas.draft ?? '2020-12' })
}

/** Compiles a schema of the document, and loads what its patterns need. @throws if it cannot be used. */
export async function usableFromDocument(
  schema: unknown,
  direction: Direction,
  source: ApiSource,
): Promise<CompiledSchema> {
  const compiled = compiledFromDocument(schema, direction, source)
  try {
    await compiled['~standard'].validate(undefined)
  } catch {
    throw new OperationFault('its patterns need the package re2js, which is not installed: npm install re2js')
  }
  return compiled
}
