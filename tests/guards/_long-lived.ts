// Makes calls, collects all garbage, and makes as many again. With `--trace-deopt`, V8 prints which compiled code it throws away.
import { calls } from './_calls.ts'

const run = calls[process.argv[2] ?? '']
if (run === undefined) throw new Error('which call?')
for (let index = 0; index < 3_000; index++) await run()
process.stdout.write('\n-- full collection\n')
globalThis.gc?.()
for (let index = 0; index < 3_000; index++) await run()
