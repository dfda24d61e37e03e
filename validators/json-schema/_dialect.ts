import { SchemaError } from './_error.ts'
import { show } from './_messages.ts'
import { isSchemaObject } from './_snapshot.ts'

export type Draft = 7 | 2019 | 2020

/** The rules by which a schema resource is read. */
export interface Dialect {
  readonly draft: Draft
  /** Whether the validation vocabulary applies. A custom metaschema may omit it. */
  readonly asserts: boolean
}

const standardDraft = /^https?:\/\/json-schema\.org\/draft(?:-0|\/)(7|2019|2020)(?:-09|-12)?\/schema$/

const standardVocabulary = /^https:\/\/json-schema\.org\/draft\/20\d\d-\d\d\/vocab\//

/** Returns a reference without its fragment. */
export function withoutFragment(uri: string): string {
  const hash = uri.indexOf('#')
  return hash < 0 ? uri : uri.slice(0, hash)
}

/**
 * Returns the dialect that `$schema` names, by default the dialect of the enclosing schema. A custom metaschema must be
 * one of the documents, and must refer to a standard one.
 *
 * @throws SchemaError (`dialect`) if the metaschema or a required vocabulary is unknown.
 */
export function dialectOf(
  schema: unknown,
  around: Dialect,
  at: string,
  documentAt: (uri: string) => unknown,
  hops = 0,
): Dialect {
  if (!isSchemaObject(schema) || typeof schema['$schema'] !== 'string') return around
  const uri = withoutFragment(schema['$schema'])
  const standard = standardDraft.exec(uri)
  if (standard) return { draft: Number(standard[1]) as Draft, asserts: true }
  const metaschema = hops < 8 ? documentAt(uri) : undefined
  if (!isSchemaObject(metaschema)) {
    throw new SchemaError('dialect', at + '/$schema', `unknown $schema ${show(uri)}`)
  }
  const { draft } = dialectOf(metaschema, around, at, documentAt, hops + 1)
  const vocabularies = metaschema['$vocabulary']
  if (!isSchemaObject(vocabularies)) return { draft, asserts: true }
  let asserts = false
  for (const [name, needed] of Object.entries(vocabularies)) {
    if (needed === true && !standardVocabulary.test(name)) {
      throw new SchemaError('dialect', at + '/$schema', `unknown vocabulary ${show(name)}`)
    }
    asserts ||= name.endsWith('/vocab/validation')
  }
  return { draft, asserts }
}
