// Measures the calls of one handler, by its name, and prints the rows as JSON: a program of its own, see `overhead.ts`.
import { compare } from './_runner.ts'
import { variantsOf } from './_variants.ts'

const title = process.argv[2] ?? ''
// Long enough to hold what collecting the garbage costs, and for clocks of processors that tick every 4 ms.
process.stdout.write(JSON.stringify(await compare(title, variantsOf(title), { duration: 16, clock: 'processor' })))
