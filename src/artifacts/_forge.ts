import {
  artifact,
  isToolError,
  SpooledArtifact,
  TextArtifact,
  Tool,
  type ArtifactClass,
  type Issue,
  type StandardJSONSchemaV1,
  type StandardSchemaV1,
  type ToolContext,
} from '../index.ts'
import type { ErasedConfig, JsonSchemaObject, MarkedContent, Shelved } from '../extension.ts'
import { queryFor, type Forge } from './_forges.ts'
import { jsonAnswer, textAnswer, type AnswerLimits } from './_output.ts'
import { objectSchema } from './_query.ts'
import type { OwnQuery } from './_text-queries.ts'

/** A model's args after validation. */
interface Input {
  readonly artifact: SpooledArtifact
  readonly [key: string]: unknown
}

/**
 * Makes the tool of a query.
 *
 * @param live The artifacts that its schema lists. Default: the schema takes any handle.
 */
export function queryTool(forge: Forge, limits: AnswerLimits, live?: readonly Shelved[]): Tool {
  const { name, query } = forge
  const { description, inputSchema = objectSchema({}) } = query
  // A `Tool` validates and describes schemas of every kind.
  const bareTool = new Tool({ name, description, inputSchema, handler: () => undefined })
  return new Tool({
    name,
    description,
    inputSchema: querySchema(forge, bareTool, live),
    ephemeral: true,
    onCollision: 'replace',
    traits: { readonly: true, idempotent: true },
    inlineLimit: Infinity, // answers are cut already, and never stored
    handler: (input, context) => answerQuery(forge, bareTool, input as Input, context, limits),
  } satisfies ErasedConfig)
}

/** Adds the artifact to the schema of a query. */
function querySchema(forge: Forge, bareTool: Tool, live?: readonly Shelved[]): StandardSchemaV1 & StandardJSONSchemaV1 {
  const reference = artifact(forge.Class)
  const jsonSchema = (): Record<string, unknown> => {
    const { properties, required = [], ...rest } = bareTool.describe().inputSchema
    return { ...rest, properties: { artifact: handleSchema(live), ...properties }, required: ['artifact', ...required] }
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'toolwright',
      async validate(value) {
        if (typeof value !== 'object' || value === null || Array.isArray(value)) {
          return { issues: [{ message: 'must be an object', path: [] }] }
        }
        const { artifact: handle, ...rest } = value as Readonly<Record<string, unknown>>
        const about = await reference['~standard'].validate(handle)
        const issues = [...(about.issues ?? [])].map(({ message }): Issue => ({ message, path: ['artifact'] }))
        const input = await validated(bareTool, forge.query, rest, issues)
        return issues.length > 0 || about.issues !== undefined
          ? { issues }
          : { value: { ...input, artifact: about.value } }
      },
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  }
}

/** Validates args with the query's own schema. Adds what is wrong to `issues`. */
async function validated(bareTool: Tool, query: Forge['query'], args: object, issues: Issue[]): Promise<object> {
  try {
    const input = (await bareTool.validate(args)) as object
    if ('check' in query) issues.push(...((await query.check?.(input as never)) ?? []))
    return input
  } catch (error) {
    if (!isToolError(error) || error.issues === undefined) throw error
    issues.push(...error.issues)
    return {}
  }
}

function handleSchema(live?: readonly Shelved[]): JsonSchemaObject {
  const description = 'The handle of the artifact (artifact_…), which its preview shows'
  if (live === undefined) return { type: 'string', description }
  const liveHandles = live.map(
    ({ handle, kind, byteLength, toolName }) => `${handle} (${kind}, ${byteLength} bytes, of ${toolName})`,
  )
  return { type: 'string', enum: live.map(({ handle }) => handle), description: `One of ${liveHandles.join(', ')}` }
}

async function answerQuery(
  forge: Forge,
  bareTool: Tool,
  { artifact: about, ...input }: Input,
  context: ToolContext,
  limits: AnswerLimits,
): Promise<SpooledArtifact | MarkedContent> {
  const query = queryFor(forge, about.constructor as ArtifactClass)
  const value: unknown = await (query as OwnQuery).answer(about, input as never, context)
  if ('isShown' in query) {
    return typeof value === 'string' ? textArtifact(value, about) : (value as MarkedContent)
  }
  if (typeof value === 'string') return textArtifact(textAnswer(value, limits), about)
  const start = hasStart(bareTool) ? Number(input['start'] ?? 0) : undefined
  return textArtifact(jsonAnswer(value, limits, start), about)
}

/** Whether a query takes a `start`, so that the model can go on in a list. */
function hasStart(bareTool: Tool): boolean {
  try {
    return bareTool.describe().inputSchema.properties?.['start'] !== undefined
  } catch {
    return false // a schema that cannot be described can still validate
  }
}

/** Returns text as an artifact, as trusted as the artifact that it is about. */
function textArtifact(text: string, { trusted }: SpooledArtifact): TextArtifact {
  const bytes = new TextEncoder().encode(text)
  return new TextArtifact({
    reader: { byteLength: bytes.byteLength, read: (start, end) => bytes.subarray(start, end) },
    trusted,
  })
}
