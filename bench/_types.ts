// What a hundred tools cost the type checker, counted in instantiations, which are the same on every machine.
import { join } from 'node:path'
import typescript from 'typescript'

const root = join(import.meta.dirname, '..')

const zodSchema = `z.object({
  query: z.string(),
  filters: z.object({ region: z.array(z.string()), since: z.string(), minimum: z.number(), drafts: z.boolean() }),
  limit: z.number().int().max(100),
  fields: z.array(z.string()),
  sort: z.array(z.object({ field: z.string(), descending: z.boolean() })),
})`
const rawSchema = `{
  type: 'object',
  properties: {
    query: { type: 'string' },
    filters: {
      type: 'object',
      properties: {
        region: { type: 'array', items: { type: 'string' } },
        since: { type: 'string' },
        minimum: { type: 'number' },
        drafts: { type: 'boolean' },
      },
      required: ['region', 'since', 'minimum', 'drafts'],
    },
    limit: { type: 'integer', maximum: 100 },
    fields: { type: 'array', items: { type: 'string' } },
    sort: {
      type: 'array',
      items: {
        type: 'object',
        properties: { field: { type: 'string' }, descending: { type: 'boolean' } },
        required: ['field', 'descending'],
      },
    },
  },
  required: ['query', 'filters', 'limit', 'fields', 'sort'],
}`
const args = `{
  query: 'revenue',
  filters: { region: ['north'], since: '2026-01-01', minimum: 1, drafts: false },
  limit: 5,
  fields: ['id'],
  sort: [{ field: 'amount', descending: true }],
}`
const handler = 'async ({ query, limit }) => ({ query, rows: limit })'

const zodAlone = (index: number): string => `
const schema${index} = ${zodSchema}
export const handler${index}: (input: z.infer<typeof schema${index}>) => Promise<{ query: string; rows: number }> = ${handler}`
const define = (index: number, schema: string): string => `
export const tool${index} = tool({ name: 'tool_${index}', description: 'Searches', inputSchema: ${schema}, handler: ${handler} })`

const imports = "import { tool } from 'toolwright'\nimport { z } from 'zod'\nexport { tool, z }\n"
const hundred = (one: (index: number) => string): string => {
  return imports + Array.from({ length: 100 }, (_, index) => one(index)).join('')
}

type Module =
  | 'imports'
  | 'Zod alone'
  | 'tool() with Zod'
  | 'Zod alone, one call each'
  | 'tool() with Zod, one call each'
  | 'tool() with raw JSON Schema'

/** Modules with the same imports: nothing else, or a hundred of something. */
export const modules: Readonly<Record<Module, string>> = {
  imports,
  'Zod alone': hundred(zodAlone),
  'tool() with Zod': hundred((index) => define(index, zodSchema)),
  'Zod alone, one call each': hundred((index) => {
    const call = `(input: z.input<typeof schema${index}>) => handler${index}(schema${index}.parse(input))`
    return `${zodAlone(index)}\nconst call${index} = ${call}\nexport const result${index} = call${index}(${args})`
  }),
  'tool() with Zod, one call each': hundred((index) => {
    return `${define(index, zodSchema)}\nexport const result${index} = tool${index}(${args})`
  }),
  'tool() with raw JSON Schema': hundred((index) => define(index, rawSchema)),
}

/** The compiler's options for these modules: those of the package, but that nothing is written. */
export const options: Record<string, unknown> = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true,
  lib: ['es2024', 'esnext.array', 'esnext.disposable'],
  types: ['node'],
  customConditions: ['@toolwright/source'],
  allowImportingTsExtensions: true,
}

/**
 * How many instantiations TypeScript 6 makes for a module.
 *
 * @throws Where the module does not compile: what is wrong is cheap to check.
 */
export function instantiations(text: string): number {
  const file = join(root, 'bench', 'a-hundred-tools.ts')
  const { options: parsed } = typescript.convertCompilerOptionsFromJson(options, root)
  const host = typescript.createCompilerHost(parsed)
  const disk = { ...host }
  host.fileExists = (name) => name === file || disk.fileExists(name)
  host.getSourceFile = (name, language, ...rest) => {
    return name === file
      ? typescript.createSourceFile(name, text, language)
      : disk.getSourceFile(name, language, ...rest)
  }
  const program = typescript.createProgram([file], parsed, host)
  const diagnostics = typescript.getPreEmitDiagnostics(program, program.getSourceFile(file))
  if (diagnostics.length > 0) throw new Error(typescript.formatDiagnostics(diagnostics, host))
  return program.getInstantiationCount()
}
