import type { ArtifactQuery } from '../index.ts'

/** The part of a list that a query returns. */
export interface Ranged {
  readonly start?: number
  readonly limit?: number
}

/** The context of a query, which is absent if the application calls the query itself. */
export interface QueryContext {
  readonly signal?: AbortSignal
}

export function integer(
  minimum: number,
  description: string,
): { type: 'integer'; minimum: number; description: string } {
  return { type: 'integer', minimum, description }
}

/** Returns the schema of an object with these properties and no others. */
export function object(
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): NonNullable<ArtifactQuery['inputSchema']> {
  return { type: 'object', properties, required: [...required], additionalProperties: false }
}
