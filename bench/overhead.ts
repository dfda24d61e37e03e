// What the passage adds to a call. The floor does by hand what every kernel that checks and identifies has to do at least:
// validation, canonical JSON, a hash, the handler, and two events. Each handler has a process of its own.
import { join } from 'node:path'
import { handlers } from './_handlers.ts'
import { measuredBy, printTable } from './_runner.ts'

const program = join(import.meta.dirname, '_overhead.ts')

for (const title of Object.keys(handlers)) printTable(measuredBy(program, title))
