// Measures the packages, and writes the page: `npm run comparison`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { missing } from '../_installed.ts'

const page = join('src', 'COMPARISON.md')

if (missing === undefined) {
  const { pageOf } = await import('./_page.ts')
  const { compare } = await import('./_run.ts')
  writeFileSync(join(import.meta.dirname, '..', '..', '..', page), await pageOf(await compare()))
  process.stdout.write(`${page}\n`)
} else {
  process.stderr.write(`The packages cannot be compared: ${missing}\n`)
  process.exitCode = 1
}
