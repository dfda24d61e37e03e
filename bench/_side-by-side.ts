// Measures the calls of one handler with the sources of two trees, in one process and in turns, and prints how the processor's time
// changes from the first tree to the second: a program of its own, see `_against.ts`.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { quantile } from './_results.ts'
import { compare } from './_runner.ts'

type Variants = Record<string, () => unknown>

const [title = '', first = '', second = ''] = process.argv.slice(2)

async function variantsIn(tree: string): Promise<Variants> {
  const module = (await import(pathToFileURL(join(tree, 'bench', '_variants.ts')).href)) as {
    readonly variantsOf: (title: string) => Variants
  }
  return module.variantsOf(title)
}

const [one, other] = [await variantsIn(first), await variantsIn(second)]
const names = Object.keys(one)
// Each variant stands beside its twin, so that both meet the same machine.
const pairs = names.flatMap((name) => [[`1 ${name}`, one[name]!] as const, [`2 ${name}`, other[name]!] as const])
const rows = await compare(title, Object.fromEntries(pairs), { duration: 20, clock: 'processor' })
const samples = new Map(rows.map((row) => [row.name, row.samples ?? []]))
const figures = names.map((name) => {
  const [ones, others] = [samples.get(`1 ${name}`)!, samples.get(`2 ${name}`)!]
  const ratio = quantile(
    ones.map((sample, round) => others[round]! / sample),
    0.5,
  )
  return { title, name, first: quantile(ones, 0.5), second: quantile(others, 0.5), ratio }
})
process.stdout.write(JSON.stringify(figures))
