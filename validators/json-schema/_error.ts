/** Why a schema cannot be used. */
export type SchemaErrorCode =
  | 'not-json'
  | 'too-large'
  | 'too-deep'
  | 'form'
  | 'pattern'
  | 'dialect'
  | 'uri'
  | 'duplicate'
  | 'unresolved'
  | 'remote'
  | 'cycle'

/** A schema cannot be used: `code` is the reason, `at` the JSON pointer of the fault (`#` is the root). */
export class SchemaError extends Error {
  readonly code: SchemaErrorCode
  readonly at: string

  constructor(code: SchemaErrorCode, at: string, message: string) {
    super(`${message} (at ${at.slice(0, 300)})`)
    this.name = 'SchemaError'
    this.code = code
    this.at = at
  }
}
