// One step of one package, in a process of its own: prints what it found as one line of JSON.
import process from 'node:process'
import { begin, find, measure } from './_facts.ts'
import type { Compared } from './_scene.ts'

const [name = '', step, folder = '', kept = 'null'] = process.argv.slice(2)
const { compared } = (await import(`./packages/${name}.ts`)) as { readonly compared: Compared }

function say(found: unknown): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(found)}\n`, () => resolve()))
}

if (step === 'begin') {
  await begin(compared, folder, (known) => void say(known))
} else {
  await say(step === 'measure' ? await measure(compared, folder) : await find(compared, folder, JSON.parse(kept)))
  process.exit(0) // what a package leaves open keeps no process
}
