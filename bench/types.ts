// What a hundred tools cost the type checker, with TypeScript 6 and 7. Of each count the part that the imports take is left out.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exactly, printTable, type Row } from './_results.ts'
import { instantiations, modules, options } from './_types.ts'

const root = join(import.meta.dirname, '..')

/** The same count by TypeScript 7, which has no API for it yet, and reads files. */
function instantiationsOf7(text: string): number {
  const folder = join(import.meta.dirname, 'results', '.types')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'module.ts'), text)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['module.ts'] }))
  const compiler = join(root, 'node_modules', 'typescript7', 'bin', 'tsc')
  const printed: string = execFileSync(
    process.execPath,
    [compiler, '-p', folder, '--extendedDiagnostics', '--singleThreaded'],
    {
      encoding: 'utf8',
    },
  )
  return Number(/Instantiations:\s+(\d+)/.exec(printed)?.[1])
}

const rows: Row[] = []
for (const [version, count] of Object.entries({ 6: instantiations, 7: instantiationsOf7 })) {
  const before = count(modules.imports)
  const each = (name: Exclude<keyof typeof modules, 'imports'>): number => (count(modules[name]) - before) / 100
  const title = `instantiations for each of 100 tools, TypeScript ${version}`
  const zod = each('Zod alone')
  const called = each('Zod alone, one call each')
  rows.push(exactly(title, 'Zod alone', zod, ''))
  rows.push(exactly(title, 'tool() with Zod', each('tool() with Zod'), '', zod))
  rows.push(exactly(title, 'Zod alone, one call each', called, ''))
  rows.push(exactly(title, 'tool() with Zod, one call each', each('tool() with Zod, one call each'), '', called))
  rows.push(exactly(title, 'tool() with raw JSON Schema', each('tool() with raw JSON Schema'), '', NaN))
}
printTable(rows)
