import { isPlainObject } from '../kernel/json/copy.ts'
import { SpooledArtifact, type ArtifactClass } from '../kernel/result/artifact.ts'
import { isArtifact } from '../kernel/result/brand.ts'
import { searchArtifacts } from '../kernel/result/kinds.ts'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '../kernel/schema/standard.ts'

/** The result of `artifact(Class)`: a schema, and a function for the `transform` of a schema of another library. */
export interface ArtifactArgument<Artifact extends SpooledArtifact> {
  (handle: string): Artifact
  readonly '~standard': StandardSchemaV1.Props<string | Artifact, Artifact> &
    StandardJSONSchemaV1.Props<string | Artifact, Artifact>
}

// A registered symbol, so that tools of another copy of the package work in an executor of this one.
export const referenceMark: unique symbol = Symbol.for('toolwright.artifact-reference') as never

/** Stands for an artifact in validated args until the executor opens it. */
export interface Reference {
  readonly [referenceMark]: { readonly handle: string; readonly Class: ArtifactClass }
}

/** Not a plain object, so a copy of args keeps it. */
class HandleReference implements Reference {
  readonly [referenceMark]: Reference[typeof referenceMark]

  constructor(handle: string, Class: ArtifactClass) {
    this[referenceMark] = { handle, Class }
  }
}

/**
 * Makes the schema of an argument that is an artifact: the model passes a handle, the handler gets the artifact.
 *
 * The JSON Schema is a string. The executor opens the handle after validation, in the session of the call.
 *
 * @param Class The subclass that the tool takes; `SpooledArtifact` for any.
 * @returns A Standard Schema for libraries that embed one, and a function for the `transform` of those that do not.
 * @example
 * ```ts
 * import { artifact, JsonArtifact, tool } from 'toolwright'
 * import { z } from 'zod'
 *
 * const countRows = tool({
 *   name: 'count_rows',
 *   description: 'Counts the rows of a JSON artifact',
 *   inputSchema: z.object({ rows: z.string().describe('The handle of the rows').transform(artifact(JsonArtifact)) }),
 *   handler: ({ rows }) => rows.length(),
 * })
 * ```
 */
export function artifact<Artifact extends SpooledArtifact>(Class: ArtifactClass<Artifact>): ArtifactArgument<Artifact> {
  searchArtifacts((input) => referencesIn(input).size > 0)
  const { kind } = Class as unknown as typeof SpooledArtifact
  const reference = (handle: string): Artifact => new HandleReference(handle, Class) as unknown as Artifact
  const jsonSchema = (): Record<string, unknown> => ({
    type: 'string',
    description: `The handle of a ${kind} artifact`,
  })
  const refusal = { issues: [{ message: `must be the handle of a ${kind} artifact` }] }
  return Object.assign((handle: string | Artifact) => (isArtifact(handle) ? handle : reference(String(handle))), {
    '~standard': {
      version: 1 as const,
      vendor: 'toolwright',
      validate: (value: unknown) => {
        if (typeof value === 'string') return { value: reference(value) }
        return isArtifact(value) && isOf(value, Class) ? { value: value as Artifact } : refusal
      },
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  })
}

/** Returns the references in validated args, each with its path. */
export function referencesIn(input: unknown): Map<Reference, readonly PropertyKey[]> {
  const found = new Map<Reference, readonly PropertyKey[]>()
  const visited = new Set<object>()
  const search = (value: unknown, path: readonly PropertyKey[]): void => {
    if (typeof value !== 'object' || value === null || visited.has(value)) return
    visited.add(value)
    if (referenceMark in value) found.set(value as Reference, path)
    else if (Array.isArray(value)) for (const [index, item] of value.entries()) search(item, [...path, index])
    else if (isPlainObject(value)) for (const key of Object.keys(value)) search(value[key], [...path, key])
  }
  search(input, [])
  return found
}

/** Whether an artifact is of a class. An artifact of another copy of the package is recognised by its `kind`. */
export function isOf(candidate: SpooledArtifact, Class: ArtifactClass): boolean {
  const { kind } = Class as unknown as typeof SpooledArtifact
  const isOfOwnKind = Object.hasOwn(Class, 'kind') && kind === candidate.kind
  return isOfOwnKind || kind === SpooledArtifact.kind || candidate instanceof Class
}
