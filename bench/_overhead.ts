// Measures the calls of one handler, by its name, and prints the rows as JSON: a program of its own, see `overhead.ts`.
import { compare } from './_runner.ts'
import { variantsOf } from './_variants.ts'

const title = process.argv[2] ?? ''
// Long enough for a measurement to hold what collecting the garbage costs.
process.stdout.write(JSON.stringify(await compare(title, variantsOf(title), { duration: 20 })))
