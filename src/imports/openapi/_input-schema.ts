import type { StandardSchemaV1 } from '../../index.ts'
import { withArtifacts } from './_bodies.ts'
import type { DocumentNode } from './_document.ts'
import type { RequestPlan } from './_operations.ts'
import { compiledFromDocument, type ApiSource, type CompiledSchema } from './_source.ts'
import { trimmedSchema } from './_trim.ts'

const mostExamples = 3

/** The schema of the args. It is translated and compiled when it is first asked for: most tools of an API are never called. */
export class OperationSchema {
  readonly #make: () => CompiledSchema
  readonly #shown: () => DocumentNode | undefined
  readonly #request: RequestPlan
  #schema: CompiledSchema | undefined
  readonly '~standard': CompiledSchema['~standard']

  constructor(request: RequestPlan, key: string, source: ApiSource) {
    const { schemas, settings, note } = source
    this.#request = request
    const inputSchema = (): DocumentNode => schemas.whole(request.inputSchema, 'in') as DocumentNode
    this.#make = () => compiledFromDocument(request.inputSchema, 'in', source)
    const trimmed = trimmedSchema(inputSchema(), settings.limits.definition)
    if (trimmed !== undefined)
      note(
        key,
        `its definition is larger than ${settings.limits.definition.toLocaleString('en')} characters: ${trimmed.note}`,
      )
    // Kept small: the cut schema is made anew too.
    this.#shown =
      trimmed === undefined ? () => undefined : () => trimmedSchema(inputSchema(), settings.limits.definition)?.schema
    this.#make()['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) // throws if the engine or a model cannot read it
    this['~standard'] = {
      version: 1,
      vendor: 'json-schema',
      validate: (value) => this.#validate(value),
      jsonSchema: {
        input: (options) => {
          const trimmedInput = this.#shown()
          return trimmedInput === undefined
            ? this.#compiled['~standard'].jsonSchema.input(options)
            : { ...trimmedInput }
        },
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
      try {
        if ((await validate(example)).issues === undefined) valid.push(example)
      } catch {
        // an engine for patterns that is not installed says so when a call is checked
      }
    }
    return valid
  }
}
