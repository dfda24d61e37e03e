import type { Issue, JsonSchema } from '../../src/kernel/schema/standard.ts'
import { compileSchemas } from './_compile.ts'
import type { Draft } from './_dialect.ts'
import { SchemaError, type SchemaErrorCode } from './_error.ts'
import { decisionSteps, explanationSteps } from './_limits.ts'
import { createIndex } from './_resolve.ts'
import type { Finding, Run, Scope } from './_run.ts'
import type { Pattern } from './_site.ts'

export { SchemaError, type SchemaErrorCode, type Pattern }

/** Settings of a compilation. */
export interface CompileOptions {
  /** Schemas that references may refer to, by absolute URI. Nothing is ever fetched. Default: none. */
  readonly documents?: Readonly<Record<string, JsonSchema>> | undefined
  /** Tests for `format`, by format name. A format without a test is an annotation only. Default: none. */
  readonly formats?: Readonly<Record<string, (value: string) => boolean>> | undefined
  /** The draft of a schema that has no `$schema`. Default: `'2020-12'`. */
  readonly draft?: '2020-12' | '2019-09' | '07' | undefined
  /** Compiles a pattern, or throws. Default: the platform's `RegExp` with the flag `u`. */
  readonly regex?: ((pattern: string) => Pattern) | undefined
  /** Steps to validate one value: about one for each schema that is applied to a part of it. Default: 2,000,000. */
  readonly steps?: number | undefined
}

/** Returns the issues of a value, or `undefined` if it fits. */
export type Check = (value: unknown) => readonly Issue[] | undefined

/**
 * Compiles a JSON Schema of draft 07, 2019-09 or 2020-12 to a function, without generating code.
 * A value that exceeds the limits of steps or depth does not fit. The issue names the limit.
 *
 * @param schema Copied at once: later changes to it have no effect.
 * @throws SchemaError if the schema cannot be used. Its `at` is the JSON pointer of the fault.
 */
export function compile(schema: JsonSchema, options: CompileOptions = {}): Check {
  const { documents = {}, formats = {}, draft = '2020-12', regex = nativePattern, steps = decisionSteps } = options
  const index = createIndex(schema, documents, { draft: Number(draft.slice(0, 4)) as Draft, asserts: true })
  const top = compileSchemas(index, formats, regex)
  const scope: Scope = { resource: index.resource, outer: null }

  function pass(value: unknown, findings: Finding[] | null, limit: number): boolean | string {
    const run: Run = { limit, steps: limit, depth: 0, scope, path: [], findings }
    try {
      return top.test(value, run, null)
    } catch (error) {
      // A limit was reached, or the stack overflowed before because the caller had used most of it.
      if (error instanceof RangeError) return error.message
      throw error
    }
  }

  return (value) => {
    const answer = pass(value, null, steps)
    if (answer === true) return undefined
    if (typeof answer === 'string') return [{ message: `cannot be checked: ${answer}`, path: [] }]
    const findings: Finding[] = []
    pass(value, findings, Math.min(steps, explanationSteps))
    if (findings.length === 0) return [{ message: 'does not fit the schema', path: [] }]
    return findings.map(({ message, path }) => ({ message, path }))
  }
}

function nativePattern(pattern: string): Pattern {
  return new RegExp(pattern, 'u')
}
