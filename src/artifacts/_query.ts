import type { ArtifactQuery } from '../index.ts'

/** Which part of a list is asked for. */
export interface Ranged {
  readonly start?: number
  readonly limit?: number
}

/** What a query is told beside its input, where its tool has it. */
export interface Asked {
  readonly signal?: AbortSignal
}

export function integer(
  minimum: number,
  description: string,
): { type: 'integer'; minimum: number; description: string } {
  return { type: 'integer', minimum, description }
}

/** The schema of an object that has these properties and no other. */
export function object(
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): NonNullable<ArtifactQuery['inputSchema']> {
  return { type: 'object', properties, required: [...required], additionalProperties: false }
}
