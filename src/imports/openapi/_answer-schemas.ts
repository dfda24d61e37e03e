import type { Schema } from '../../index.ts'
import { declaredAnswer, jsonSchemaOfAnswer } from './_declared.ts'
import { documentText, entriesOf, type DocumentNode } from './_document.ts'
import { faultWords, type FoundOperation } from './_operations.ts'
import { compiledFromDocument, usableFromDocument, type ApiSource, type CompiledSchema } from './_source.ts'

const mostMismatches = 100

/** Returns a function that reports answers which do not fit their schema, each place once. */
export function answerComparison(
  { node, operation }: FoundOperation,
  source: ApiSource,
): (status: number, value: unknown) => Promise<void> {
  const { document, note } = source
  const compiled = new Map<number, CompiledSchema | undefined>()
  const reported = new Set<string>()
  const schemaOf = (status: number): CompiledSchema | undefined => {
    if (compiled.has(status)) return compiled.get(status)
    let schema: CompiledSchema | undefined
    try {
      const declared = jsonSchemaOfAnswer(declaredAnswer(document.root, node, status))
      schema = declared === undefined ? undefined : compiledFromDocument(declared, 'out', source)
    } catch (error) {
      note(operation.key, `has a schema of the answer ${status} that cannot be used: ${faultWords(error)}`)
    }
    compiled.set(status, schema)
    return schema
  }
  return async (status, value) => {
    try {
      const outcome = await schemaOf(status)?.['~standard'].validate(value)
      for (const { message, path } of outcome?.issues ?? []) {
        const place = (path ?? [])
          .map((step) => (typeof step === 'object' ? step.key : step))
          .map((key) => (typeof key === 'number' ? '*' : String(key)))
        const words = `answered ${status} with a value that does not fit its schema: /${place.join('/')} ${message}`
        const key = `${status} ${place.join('/')}`
        if (reported.size >= mostMismatches || reported.has(key)) continue
        reported.add(key)
        note(operation.key, documentText(words))
      }
    } catch (error) {
      note(operation.key, `answered ${status} with a value that cannot be checked: ${faultWords(error)}`)
    }
  }
}

/** Returns the schema of the results, if every answer of success is JSON. */
export async function strictAnswerSchema(node: DocumentNode, source: ApiSource): Promise<Schema | undefined> {
  const { document } = source
  const declared = entriesOf(node, 'responses').filter(([status]) => status.startsWith('2'))
  const answers = declared.map(([status]) =>
    jsonSchemaOfAnswer(declaredAnswer(document.root, node, Number(status.slice(0, 3)) || 200)),
  )
  if (answers.length === 0 || answers.includes(undefined)) return undefined
  return usableFromDocument(answers.length === 1 ? answers[0] : { anyOf: answers }, 'out', source)
}
