// What the pipeline adds to a call. The floors do by hand what every kernel that checks and identifies has to do at least:
// validation, canonical JSON, a hash, the handler, and two events; the tight one, which ratios and goals go by, with a canonical
// writer that knows what it is given. Each handler has a process of its own. The time is that of the processor, which is the same
// where others keep the machine busy.
import { join } from 'node:path'
import { handlers } from './_handlers.ts'
import { measuredBy, printTable } from './_runner.ts'
import { printWords } from './_results.ts'

const program = join(import.meta.dirname, '_overhead.ts')

/** As multiples of the tight floor. */
const goals: Readonly<Record<string, number>> = {
  'whole pipeline': 1,
  '… z.compile': 0.85,
  '… and a journal in memory': 2,
}

const cells: string[][] = []
for (const title of Object.keys(handlers)) {
  const rows = measuredBy(program, title)
  printTable(rows)
  for (const { name, ratio, p10 } of rows) {
    const goal = goals[name]
    if (goal === undefined) continue
    const low = p10 / (rows[0]?.p10 ?? NaN)
    cells.push([title, name, goal.toFixed(2), ratio.toFixed(2), low.toFixed(2), ratio <= goal ? 'held' : 'MISSED'])
  }
}
printWords({ head: ['', 'goal for the', 'at most', 'median', 'p10', ''], cells })
