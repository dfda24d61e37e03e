// Run by sqlite.test.ts in a process of its own, whose files may only grow so far (`ulimit -f`).
import { isToolError } from 'toolwright'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { held, promising, fixtureRecord, settledOf } from '../conformance/journals.ts'

const [file = ''] = process.argv.slice(2)
process.on('SIGXFSZ', () => {}) // the write then fails with EFBIG, as it does where nothing ends the process
const { journal: opened, close } = sqliteJournal(file)
const journal = promising(opened)
const fence = await held(journal.claim(fixtureRecord('small'), 'mine'))

const answered: string[] = []
let refusal: unknown
for (let index = 0; refusal === undefined && index < 1_000; index++) {
  const id = `call ${index}`
  try {
    await journal.claim(fixtureRecord(id, { input: 'x'.repeat(50_000) }), 'mine')
    answered.push(id)
  } catch (error) {
    refusal = isToolError(error) ? error.toJSON() : String(error)
  }
}
const kept: string[] = []
for await (const { record } of journal.list({})) if (record.id !== 'small') kept.push(record.id)
const order = (ids: string[]): string[] => ids.toSorted((a, b) => Number(a.slice(5)) - Number(b.slice(5)))
const small = await journal.write(settledOf('small'), fence).catch((error: unknown) => String(error))
console.log(JSON.stringify({ refusal, answered, kept: order(kept), small }))
await close()
