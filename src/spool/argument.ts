import type { Identified } from '../kernel/call/parcel.ts'
import { isToolError } from '../kernel/errors.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { invalidArgs } from '../kernel/schema/validator.ts'
import type { ArtifactClass, SpooledArtifact } from '../kernel/result/artifact.ts'
import { isArtifact } from '../kernel/result/brand.ts'
import { isOf } from '../kernel/result/kinds.ts'
import { isPlainObject } from '../kernel/json/copy.ts'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '../kernel/schema/standard.ts'

/** The result of `artifact(Class)`: a schema, and a function for the `transform` of a schema of another library. */
export interface ArtifactArgument<Artifact extends SpooledArtifact> {
  (handle: string): Artifact
  readonly '~standard': StandardSchemaV1.Props<string | Artifact, Artifact> &
    StandardJSONSchemaV1.Props<string | Artifact, Artifact>
}

// Registered symbols, so that tools of another copy of the package work in an executor of this one.
const referenceMark: unique symbol = Symbol.for('toolwright.artifact-reference') as never
const inUse: unique symbol = Symbol.for('toolwright.artifact-arguments') as never

/** Stands for an artifact in validated args until the executor opens it. */
interface ArtifactReference {
  readonly [referenceMark]: { readonly handle: string; readonly Class: ArtifactClass }
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
  ;(globalThis as { [inUse]?: true })[inUse] = true
  const { kind } = Class as unknown as typeof SpooledArtifact
  const reference = (handle: string): Artifact =>
    ({ [referenceMark]: { handle, Class } }) satisfies ArtifactReference as unknown as Artifact
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

/** Whether any tool of this process takes artifacts. Args are searched for references only if so. */
function hasArtifactArguments(): boolean {
  return (globalThis as { [inUse]?: true })[inUse] === true
}

/** An artifact that args refer to. */
interface Reference {
  readonly handle: string
  readonly Class: ArtifactClass
  readonly path: readonly PropertyKey[]
}

/** Returns the artifacts that validated args refer to. */
function referencesIn(input: unknown): Reference[] {
  const found: Reference[] = []
  const seen = new Set<object>()
  const search = (value: unknown, path: readonly PropertyKey[]): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    if (isReference(value)) {
      found.push({ ...value[referenceMark], path })
      return
    }
    seen.add(value)
    if (Array.isArray(value)) for (const [index, item] of value.entries()) search(item, [...path, index])
    else if (isPlainObject(value)) for (const key of Object.keys(value)) search(value[key], [...path, key])
  }
  search(input, [])
  return found
}

/** Returns a copy of the args with the artifacts in their places. */
function withArtifacts(input: unknown, artifacts: readonly SpooledArtifact[]): unknown {
  const copies = new Map<object, unknown>()
  let next = 0
  const replace = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (copies.has(value)) return copies.get(value)
    if (isReference(value)) return artifacts[next++]
    if (Array.isArray(value)) {
      const items: unknown[] = []
      copies.set(value, items)
      for (const item of value) items.push(replace(item))
      return items
    }
    if (!isPlainObject(value)) return value
    const copy: Record<string, unknown> = {}
    copies.set(value, copy)
    for (const key of Object.keys(value)) {
      Object.defineProperty(copy, key, {
        value: replace(value[key]),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    }
    return copy
  }
  return replace(input)
}

function isReference(value: object): value is ArtifactReference {
  return referenceMark in value
}

/**
 * Opens the artifacts whose handles are in validated args.
 *
 * @returns The args with the artifacts in their places; `undefined` if there are none.
 * @throws `E_INVALID_TOOL_ARGS` if a handle names no artifact, or one of another class.
 */
export function openArtifacts(input: unknown, call: Identified, kernel: Kernel): Promise<unknown> | undefined {
  const references = hasArtifactArguments() ? referencesIn(input) : []
  if (references.length === 0) return undefined
  return Promise.all(references.map((reference) => open(reference, call, kernel))).then((artifacts) =>
    withArtifacts(input, artifacts),
  )
}

async function open({ handle, Class, path }: Reference, call: Identified, kernel: Kernel): Promise<SpooledArtifact> {
  const opened = await kernel.spool.shelf.open(handle, call.session, [Class]).catch((cause: unknown) => {
    if (isToolError(cause) && cause.code === 'E_ARTIFACT' && !cause.retryable)
      throw invalidArgs(call.name, [{ message: cause.message, path }])
    throw cause
  })
  if (isOf(opened, Class)) return opened
  const { kind } = Class as unknown as typeof SpooledArtifact
  const message = `must be the handle of a ${kind} artifact, and is that of a ${opened.kind} artifact. ${kernel.guide(opened)}`
  throw invalidArgs(call.name, [{ message: message.trimEnd(), path }])
}
