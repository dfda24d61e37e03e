// Runs the benches that are named: `npm run bench canonical overhead`; `npm run bench all` runs all of them. Each has a
// process of its own, because what one makes the engine learn about a function would be carried into the next.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { against } from './_against.ts'
import { question } from './_question.ts'

const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !file.startsWith('_') && file !== 'index.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted()
const { values, positionals } = parseArgs({ allowPositionals: true, options: { against: { type: 'string' } } })
const asked = positionals.includes('all') ? known : positionals
const unknown = asked.filter((name) => !known.includes(name))

if (unknown.length > 0) {
  process.stderr.write(`No bench is named ${unknown.join(' or ')}. There are: ${known.join(', ')}.\n`)
  process.exitCode = 1
} else if (values.against !== undefined) {
  against(values.against, asked.length > 0 ? asked : ['overhead', 'canonical'])
} else if (asked.length === 0) {
  process.stdout.write('npm run bench <name>, or all:\n\n')
  for (const name of known) process.stdout.write(`  ${name.padEnd(20)} ${question(name)}\n`)
  process.stdout.write('\nnpm run bench -- --against <commit> [name] compares with another commit.\n')
  process.stdout.write('npm run bench:report renders what was measured into the pages.\n')
} else {
  process.stdout.write(`Node ${process.version}, ${process.arch}\n`)
  for (const name of asked) {
    process.stdout.write(`\n== ${name} ==\n`)
    const flags = ['-C', '@toolwright/source', '--expose-gc', '--disable-warning=ExperimentalWarning']
    const { status } = spawnSync(process.execPath, [...flags, join(import.meta.dirname, `${name}.ts`)], {
      stdio: 'inherit',
    })
    if (status !== 0) process.exitCode = 1
  }
}
