// How large the package is in a bundle: the front door, what it loads on demand, and each leaf beside it.
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { bundle } from './_bundles.ts'
import { exactly, printTable, type Row } from './_results.ts'

const root = join(import.meta.dirname, '..')
const rows: Row[] = []
const onDemand = new Map<string, number>()

for (const platform of ['node', 'browser'] as const) {
  const title = `the front door, ${platform === 'node' ? 'Node' : 'a browser'}, min + gzip`
  const whole = await bundle("export * from './src/index.ts'", platform)
  const used = await bundle("export { createExecutor, tool } from './src/index.ts'", platform)
  rows.push(exactly(title, 'all of it', whole.eager.gzip, 'B'))
  rows.push(exactly(title, 'createExecutor and tool', used.eager.gzip, 'B', whole.eager.gzip))
  for (const [name, { gzip }] of used.lazy) onDemand.set(name, gzip)
}
for (const [name, gzip] of onDemand) rows.push(exactly('on demand, min + gzip', name, gzip, 'B', NaN))

const leaves = globSync(['src/*/*.ts', 'validators/*.ts'], {
  cwd: root,
  ignore: ['**/_*', 'src/kernel/**', 'src/platform/**', 'src/cli/**'],
})
for (const leaf of leaves.toSorted()) {
  const { eager } = await bundle(`export * from './${leaf}'`, 'node', true)
  rows.push(
    exactly('a leaf beside the front door, min + gzip', leaf.replace(/^src\/|\.ts$/g, ''), eager.gzip, 'B', NaN),
  )
}
printTable(rows)
