import type { ArtifactQuery } from '../index.ts'

/** The part of a list that a query returns. */
export interface Ranged {
  readonly start?: number
  readonly limit?: number
}

/** The fields of an input that asks for a part of a list. */
export const rangeFields: Readonly<Record<keyof Ranged, object>> = {
  start: integerField(0, 'How many to skip. Default: 0'),
  limit: {
    ...integerField(1, 'How many to show at most; if as many are shown, there may be more. Default: 100'),
    maximum: 1_000,
  },
}

/** The context of a query, which is absent if the application calls the query itself. */
export interface QueryContext {
  readonly signal?: AbortSignal
}

/** Returns a text, or its beginning with an ellipsis after it. */
export function shortText(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}

export function integerField(
  minimum: number,
  description: string,
): { type: 'integer'; minimum: number; description: string } {
  return { type: 'integer', minimum, description }
}

/** Returns the schema of an object with these properties and no others. */
export function objectSchema(
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): NonNullable<ArtifactQuery['inputSchema']> {
  return { type: 'object', properties, required: [...required], additionalProperties: false }
}
