// Runs the benches that are named: `npm run bench canonical overhead`; `npm run bench all` runs all of them. Each has a
// process of its own, because what one makes the engine learn about a function would be carried into the next.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { against } from './_against.ts'
import { benches as known, questionOf } from './_question.ts'
import type { Summary } from './_summary.ts'

const summary = JSON.parse(readFileSync(join(import.meta.dirname, 'summary.json'), 'utf8')) as Summary
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { against: { type: 'string' }, quick: { type: 'boolean' } },
})
const asked = positionals.includes('all') ? known : positionals
const unknown = asked.filter((name) => !known.includes(name))

if (unknown.length > 0) {
  process.stderr.write(`No bench is named ${unknown.join(' or ')}. There are: ${known.join(', ')}.\n`)
  process.exitCode = 1
} else if (values.against !== undefined) {
  against(values.against, asked.length > 0 ? asked : ['overhead', 'canonical'])
} else if (asked.length === 0) {
  process.stdout.write('npm run bench <name>, or all:\n\n')
  for (const name of known) process.stdout.write(`  ${name.padEnd(20)} ${questionOf(name)}\n`)
  process.stdout.write('\nnpm run bench -- <name> --quick takes fewer rounds, and keeps no figures.\n')
  process.stdout.write('npm run bench -- --against <commit> [name] compares with another commit.\n')
  process.stdout.write('npm run bench:report renders what was measured into the pages.\n')
} else {
  process.stdout.write(`Node ${process.version}, ${process.arch}\n`)
  for (const name of asked) {
    const { seconds } = summary[name] ?? {}
    const time = seconds === undefined || values.quick === true ? '' : ` (about ${seconds} s)`
    process.stdout.write(`\n== ${name}${time} ==\n`)
    const flags = ['-C', '@toolwright/source', '--expose-gc', '--disable-warning=ExperimentalWarning']
    const { status } = spawnSync(process.execPath, [...flags, join(import.meta.dirname, `${name}.ts`)], {
      stdio: 'inherit',
      env: { ...process.env, ...(values.quick === true && { BENCH_QUICK: '1' }) },
    })
    if (status !== 0) process.exitCode = 1
  }
}
