// Run by race.test.ts in a process of its own: swaps a directory and a file between what is inside and links that lead out.
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [root = '', outside = '', milliseconds = '0', secret = 'secret.txt'] = process.argv.slice(2)
const until = Date.now() + Number(milliseconds)
const at = (name: string): string => join(root, name)
mkdirSync(at('.links'), { recursive: true })
let flips = 0
while (Date.now() < until) {
  for (const [name, target] of [
    ['dir', outside],
    ['file', join(outside, secret)],
  ] as const) {
    try {
      flip(name, target)
    } catch {
      // the other process has made or moved something at the same time
    }
  }
}
console.log(JSON.stringify({ flips }))

function flip(name: 'dir' | 'file', target: string): void {
  const link = at(`.links/${name}`)
  const real = at(`.real-${name}`)
  rmSync(link, { force: true })
  symlinkSync(target, link)
  renameSync(at(name), real)
  renameSync(link, at(name))
  flips++
  rmSync(at(name), { recursive: true, force: true })
  rmSync(real, { recursive: true, force: true })
  if (name === 'dir') mkdirSync(at(name))
  writeFileSync(at(name === 'dir' ? 'dir/secret.txt' : name), 'inside')
}
