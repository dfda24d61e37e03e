// Runs the cases in the runtime that starts this file, and writes what came of it in one line.
import { cases } from '../cases.ts'
import { run, type Need, type Place } from '../run.ts'

const { lacks, ...place } = JSON.parse(process.argv[2] ?? '{}') as Place & { readonly lacks: readonly Need[] }
const outcome = await run(cases, lacks, place)
console.log(JSON.stringify(outcome))
