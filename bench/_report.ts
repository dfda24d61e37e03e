// Writes what the pages show from the last results: `npm run bench:report`.
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import prettier from 'prettier'
import { files, frontPage, validatorsPage } from './_pages.ts'
import type { Results } from './_results.ts'
import { summaryOf, type Summary } from './_summary.ts'

const root = join(import.meta.dirname, '..')
const at = (path: string): string => join(root, path)
const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

const before = existsSync(at('bench/summary.json')) ? (json(at('bench/summary.json')) as Summary) : {}
const results = globSync(at('bench/results/*.json')).map((file) => json(file) as Results)
const summary = summaryOf(results, before)
const written = new Map([
  ['bench/summary.json', await prettier.format(JSON.stringify(summary), { parser: 'json', printWidth: 120 })],
  ...(await files(summary)),
])
for (const [path, text] of written) write(path, text)
// Last, since another page in its place may have no such line.
write('validators/README.md', await validatorsPage(readFileSync(at('validators/README.md'), 'utf8'), summary))
write('README.md', frontPage(readFileSync(at('README.md'), 'utf8'), summary))

function write(path: string, text: string): void {
  mkdirSync(dirname(at(path)), { recursive: true })
  writeFileSync(at(path), text)
  process.stdout.write(`${path}\n`)
}
