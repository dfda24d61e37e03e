// What it costs to begin: loading the package, the first call, and those that follow while the engine is still cold.
// All times are those of the processor. A process has each step once.
import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { printTable, rowsOf } from './_results.ts'
import { freshly } from './_runner.ts'

// As it is installed: the build, not the sources, whose types would have to be taken away first.
const root = join(import.meta.dirname, '..')
const built = join(root, 'dist', 'index.js')
if (!existsSync(built)) throw new Error('There is no build to start: npm run build')
const newest = Math.max(...globSync(join(root, 'src/**/*.ts')).map((file) => statSync(file).mtimeMs))
if (newest > statSync(built).mtimeMs) process.stdout.write('The build is older than the sources: npm run build\n')

const loading = (specifier: string): string[] => {
  const code = `const start = process.cpuUsage(); await import(${JSON.stringify(specifier)}); const { user, system } = process.cpuUsage(start); console.log((user + system) / 1e3)`
  return ['--input-type=module', '--eval', code]
}
const loads = freshly({
  zod: loading('zod'),
  toolwright: loading('toolwright'),
  'node:crypto, which it needs': loading('node:crypto'),
  'toolwright/validators/json-schema': loading('toolwright/validators/json-schema'),
  valibot: loading('valibot'),
})
const milliseconds = (printed: readonly (readonly number[])[], index: number): number[] => {
  return printed.map((numbers) => (numbers[index] ?? NaN) * 1e6)
}
printTable(
  rowsOf(
    'to import, in a process of its own',
    Object.fromEntries(Object.entries(loads).map(([name, printed]) => [name, milliseconds(printed, 0)])),
  ),
)

const program = join(import.meta.dirname, '_first-calls.ts')
const quiet = '--disable-warning=ExperimentalWarning'
const firsts = freshly({
  floor: [quiet, program, 'floor'],
  'whole pipeline': [quiet, program, 'pipeline'],
  'whole pipeline, raw JSON Schema': [quiet, program, 'raw'],
})
const steps = [
  'to load the libraries and make the tool',
  'the first call',
  'calls 2 to 10, each',
  'calls 11 to 100, each',
]
for (const [index, title] of steps.entries()) {
  const entries = Object.entries(firsts).map(([name, printed]) => [name, milliseconds(printed, index)] as const)
  printTable(rowsOf(`${title}, in a process of its own`, Object.fromEntries(entries)))
}
