// Run by sqlite.test.ts in several processes on one file: opens the journal at a word, and claims what it can get.
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { fixtureRecord } from '../conformance/journals.ts'

const [file = '', owner = ''] = process.argv.slice(2)
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
process.stdin.destroy()
const { journal, close } = sqliteJournal(file, { busyTimeout: 60_000 })
const claimed: number[] = []
for (let index = 0; index < 300; index++) {
  if ((await journal.claim(fixtureRecord(`call ${index}`), owner)) !== null) claimed.push(index)
}
await close()
process.stdout.write(`${JSON.stringify(claimed)}\n`)
