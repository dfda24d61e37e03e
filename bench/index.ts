// Runs the benches that are named, or all of them: `npm run bench canonical`. Each has a process of its own, because what
// one makes the engine learn about a function would be carried into the next.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !file.startsWith('_') && file !== 'index.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted()
const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !known.includes(name))

if (unknown.length > 0) {
  process.stderr.write(`No bench is named ${unknown.join(' or ')}. There are: ${known.join(', ')}.\n`)
  process.exitCode = 1
} else {
  process.stdout.write(`Node ${process.version}, ${process.arch}\n`)
  for (const name of asked.length > 0 ? asked : known) {
    process.stdout.write(`\n== ${name} ==\n`)
    const flags = ['-C', '@toolwright/source', '--expose-gc', '--disable-warning=ExperimentalWarning']
    const { status } = spawnSync(process.execPath, [...flags, join(import.meta.dirname, `${name}.ts`)], {
      stdio: 'inherit',
    })
    if (status !== 0) process.exitCode = 1
  }
}
