import type { JsonSchema } from 'toolwright'
import type { JsonSchemaObject } from 'toolwright/extension'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import { compile, type CompileOptions } from '../../../validators/json-schema/_engine.ts'

interface Group {
  readonly description: string
  readonly schema: JsonSchema
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const named = process.env['JSON_SCHEMA_TEST_SUITE'] || undefined
const suite = named ?? join(repository, '../shared/data/json-schema-test-suite')
// A path that was named has to be right.
const isThere = named !== undefined || existsSync(join(suite, 'tests'))

const drafts = [
  { draft: '07', folder: 'draft7', total: 927 },
  { draft: '2019-09', folder: 'draft2019-09', total: 1259 },
  { draft: '2020-12', folder: 'draft2020-12', total: 1299 },
] as const satisfies readonly { draft: CompileOptions['draft']; folder: string; total: number }[]

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** The schemas that the suite refers to: its own remotes, and the metaschemas, which Ajv carries. */
function documents(folder: string): Record<string, JsonSchema> {
  const found: Record<string, JsonSchema> = {}
  const remotes = join(suite, 'remotes')
  for (const file of globSync('**/*.json', { cwd: remotes })) {
    // What lies in the folder of a draft is of that draft; the rest is for all of them.
    const [top = ''] = file.split(/[\\/]/)
    if (/^(draft|v)\d/.test(top) && top !== folder) continue
    found[`http://localhost:1234/${file.replaceAll('\\', '/')}`] = readJson(join(remotes, file)) as JsonSchema
  }
  const metaschemas = join(dirname(createRequire(import.meta.url).resolve('ajv')), 'refs')
  for (const file of globSync('**/*.json', { cwd: metaschemas })) {
    const metaschema = readJson(join(metaschemas, file)) as JsonSchemaObject
    if (metaschema.$id) found[metaschema.$id.replace(/#$/, '')] = metaschema
  }
  return found
}

function outcome(group: Group, options: CompileOptions, data: unknown): boolean | string {
  try {
    return compile(group.schema, options)(data) === undefined
  } catch (error) {
    return String(error)
  }
}

const where = isThere
  ? ''
  : ` (skipped: there is no suite in ${relative(repository, suite)}; set JSON_SCHEMA_TEST_SUITE)`

describe.skipIf(!isThere)(`the official test suite${where}`, () => {
  test.each(drafts)('draft $draft: all $total required tests pass', ({ draft, folder, total }) => {
    const options = { draft, documents: documents(folder) }
    const failures: string[] = []
    let ran = 0
    for (const file of globSync('*.json', { cwd: join(suite, 'tests', folder) })) {
      for (const group of readJson(join(suite, 'tests', folder, file)) as Group[]) {
        for (const { description, data, valid } of group.tests) {
          ran++
          const got = outcome(group, options, data)
          if (got !== valid) failures.push(`${file}: ${group.description}: ${description}: ${got}`)
        }
      }
    }
    expect(failures).toEqual([])
    expect(ran).toBe(total)
  })
})
