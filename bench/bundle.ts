// How large the package is in a bundle: the main entry, what it loads on demand, and each extension beside it.
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { bundle } from './_bundles.ts'
import { exactly, printTable, type Row } from './_results.ts'

const root = join(import.meta.dirname, '..')
const rows: Row[] = []
const onDemand = new Map<string, number>()

for (const platform of ['node', 'browser'] as const) {
  const title = `the main entry, ${platform === 'node' ? 'Node' : 'a browser'}, min + gzip`
  const whole = await bundle("export * from './dist/bundled/index.js'", platform)
  const used = await bundle("export { createExecutor, tool } from './dist/bundled/index.js'", platform)
  rows.push(exactly(title, 'all of it', whole.eager.gzip, 'B'))
  rows.push(exactly(title, 'createExecutor and tool', used.eager.gzip, 'B', whole.eager.gzip))
  const light = await bundle("export { tool } from './dist/bundled/index.js'", platform)
  rows.push(exactly(title, 'tool', light.eager.gzip, 'B', whole.eager.gzip))
  for (const [name, { gzip }] of light.lazy) onDemand.set(name.replace(/-[A-Z0-9]{8}$/, ''), gzip)
}
for (const [name, gzip] of onDemand) rows.push(exactly('on demand, min + gzip', name, gzip, 'B', NaN))

const leaves = globSync(['src/*/*.ts', 'validators/*.ts'], {
  cwd: root,
  ignore: ['**/_*', 'src/{kernel,records,approvals,redaction,spool,platform,cli}/**'],
})
for (const leaf of leaves.toSorted()) {
  const name = leaf.replace(/^src\/|\.ts$/g, '')
  const { eager } = await bundle(`export * from './dist/${name}.js'`, 'node', true)
  rows.push(exactly('an extension beside the main entry, min + gzip', name, eager.gzip, 'B', NaN))
}
printTable(rows)
