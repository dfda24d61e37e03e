import type { Schema, StandardSchemaV1 } from '../../index.ts'
import { withArtifacts } from './_bodies.ts'
import type { DocumentNode } from './_document.ts'
import type { RequestPlan } from './_request-plan.ts'
import { compiledFromDocument, usableFromDocument, type ApiSource, type CompiledSchema } from './_source.ts'

const mostExamples = 3
const target = 'draft-2020-12'

/** The schema of the args, and those of the document's examples that fit it. */
interface OperationSchema {
  readonly inputSchema: Schema
  readonly examples: readonly DocumentNode[]
}

/**
 * Makes the schema of the args. Once checked, it is compiled anew when it is first asked for: most tools of an API are never called.
 *
 * @throws if the engine or a model cannot read it.
 */
export async function operationSchema(request: RequestPlan, key: string, source: ApiSource): Promise<OperationSchema> {
  const { validate, jsonSchema } = (await usableFromDocument(request.inputSchema, 'in', source))['~standard']
  const cutForModels = await shownSchema(jsonSchema.input({ target }), key, source)
  const examples: DocumentNode[] = []
  for (const example of request.examples.slice(0, mostExamples))
    if ((await validate(example)).issues === undefined) examples.push(example)

  let compiled: CompiledSchema | undefined
  const standard = (): CompiledSchema['~standard'] =>
    (compiled ??= compiledFromDocument(request.inputSchema, 'in', source))['~standard']
  /** Files are handles to the model, and artifacts to the request. */
  const opened = (outcome: StandardSchemaV1.Result<unknown>): StandardSchemaV1.Result<unknown> => {
    if (outcome.issues !== undefined || request.body === undefined) return outcome
    return { value: withArtifacts(outcome.value as DocumentNode, request.body) }
  }
  const inputSchema = {
    '~standard': {
      version: 1,
      vendor: 'json-schema',
      validate: (value: unknown) => {
        const outcome = standard().validate(value)
        return outcome instanceof Promise ? outcome.then(opened) : opened(outcome)
      },
      jsonSchema: {
        input: (options: Parameters<typeof jsonSchema.input>[0]) => {
          const schema = standard().jsonSchema.input(options)
          return cutForModels?.(schema) ?? schema
        },
        output: (options: Parameters<typeof jsonSchema.output>[0]) => standard().jsonSchema.output(options),
      },
    },
  }
  return { inputSchema: inputSchema as Schema, examples }
}

/** Returns what cuts a schema that is too large for a model, if it is. What is cut is not kept, so that tools stay small. */
async function shownSchema(
  schema: DocumentNode,
  key: string,
  { settings, note }: ApiSource,
): Promise<((schema: DocumentNode) => Record<string, unknown>) | undefined> {
  const { definition } = settings.limits
  if (JSON.stringify(schema).length <= definition) return undefined
  const { trimmedSchema } = await import('./_trim.ts')
  const words = `has a definition of more than ${definition.toLocaleString('en')} characters`
  note(key, `${words}: ${trimmedSchema(schema, definition).note}`)
  return (whole) => trimmedSchema(whole, definition).schema
}
