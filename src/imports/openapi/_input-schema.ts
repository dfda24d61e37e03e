import type { StandardSchemaV1 } from '../../index.ts'
import { withArtifacts } from './_bodies.ts'
import type { DocumentNode } from './_document.ts'
import type { RequestPlan } from './_operations.ts'
import { compiledFromDocument, usableFromDocument, type ApiSource, type CompiledSchema } from './_source.ts'

const mostExamples = 3

/** Returns what a model is shown in place of a schema that is too large for it, if it is. */
async function shownSchema(
  { inputSchema }: RequestPlan,
  key: string,
  { schemas, settings, note }: ApiSource,
): Promise<(() => DocumentNode) | undefined> {
  const { definition } = settings.limits
  const wholeSchema = (): DocumentNode => schemas.whole(inputSchema, 'in') as DocumentNode
  const schema = wholeSchema()
  if (JSON.stringify(schema).length <= definition) return undefined
  const { trimmedSchema } = await import('./_trim.ts')
  note(
    key,
    `its definition is larger than ${definition.toLocaleString('en')} characters: ${trimmedSchema(schema, definition).note}`,
  )
  return () => trimmedSchema(wholeSchema(), definition).schema // kept small: it is cut anew each time
}

/** Makes the schema of the args. @throws if the engine or a model cannot read it. */
export async function operationSchema(request: RequestPlan, key: string, source: ApiSource): Promise<OperationSchema> {
  const trimmed = await shownSchema(request, key, source)
  const { jsonSchema } = (await usableFromDocument(request.inputSchema, 'in', source))['~standard']
  jsonSchema.input({ target: 'draft-2020-12' })
  return new OperationSchema(request, source, trimmed)
}

/** The schema of the args. It is translated and compiled when it is first asked for: most tools of an API are never called. */
class OperationSchema {
  readonly #make: () => CompiledSchema
  readonly #request: RequestPlan
  #schema: CompiledSchema | undefined
  readonly '~standard': CompiledSchema['~standard']

  constructor(request: RequestPlan, source: ApiSource, trimmed: (() => DocumentNode) | undefined) {
    this.#request = request
    this.#make = () => compiledFromDocument(request.inputSchema, 'in', source)
    this['~standard'] = {
      version: 1,
      vendor: 'json-schema',
      validate: (value) => this.#validate(value),
      jsonSchema: {
        input: (options) =>
          (trimmed?.() as Record<string, unknown>) ?? this.#compiled['~standard'].jsonSchema.input(options),
        output: (options) => this.#compiled['~standard'].jsonSchema.output(options),
      },
    }
  }

  get #compiled(): CompiledSchema {
    return (this.#schema ??= this.#make())
  }

  #validate(value: unknown): StandardSchemaV1.Result<never> | Promise<StandardSchemaV1.Result<never>> {
    const outcome = this.#compiled['~standard'].validate(value)
    return outcome instanceof Promise ? outcome.then((later) => this.#opened(later)) : this.#opened(outcome)
  }

  /** Files are handles to the model, and artifacts to the request. */
  #opened(outcome: StandardSchemaV1.Result<unknown>): StandardSchemaV1.Result<never> {
    const { body } = this.#request
    if (outcome.issues !== undefined || body === undefined) return outcome as StandardSchemaV1.Result<never>
    return { value: withArtifacts(outcome.value as DocumentNode, body) as never }
  }

  /** Returns those of the document's examples that fit. */
  async validExamples(examples: readonly DocumentNode[]): Promise<DocumentNode[]> {
    const valid: DocumentNode[] = []
    if (examples.length === 0) return valid
    const { validate } = this.#make()['~standard']
    for (const example of examples.slice(0, mostExamples)) {
      if ((await validate(example)).issues === undefined) valid.push(example)
    }
    return valid
  }
}
