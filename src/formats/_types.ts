/** The schema of a tool's args. It has other keywords too. */
export type ObjectSchema = {
  type: 'object'
  properties?: { [name: string]: { [keyword: string]: JsonValue } }
  required?: string[]
}

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [name: string]: JsonValue }
