// What a call costs with a fake, and from a tape. The first is the same call with nothing in the place of its handler. Each sample
// has an executor of its own, since a tape gives each recorded call once.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor, tool, type Extension } from 'toolwright'
import { fakeTools } from 'toolwright/testing'
import { cassette } from 'toolwright/testing/cassettes'
import { isQuick, printTable, printWords, rowsOf } from './_results.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? (isQuick ? 7 : 41))
const calls = 5_000
const goal = { ratio: 8, speed: 5_000 }

const echo = tool({
  name: 'echo',
  description: 'Echoes a number',
  inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  handler: async ({ n }) => `echo ${n}`,
})
const folder = mkdtempSync(join(tmpdir(), 'bench-replay-'))
const path = join(folder, 'tape.jsonl')

/** Runs every call once. Returns the time of one, in nanoseconds. */
async function timeOf(...use: readonly Extension[]): Promise<number> {
  const executor = createExecutor({ tools: [echo], use })
  const start = performance.now()
  for (let n = 0; n < calls; n++) await executor.execute({ name: 'echo', args: { n } }, { session: 's' })
  const taken = performance.now() - start
  await executor.close()
  return (taken * 1e6) / calls
}

const variants: Readonly<Record<string, () => Extension[]>> = {
  plain: () => [],
  observed: () => [{ observers: [() => {}] }],
  'with a fake': () => [fakeTools({ echo: async ({ n }) => `echo ${String(n)}` })],
  'from a tape': () => [cassette(path, { mode: 'replay' })],
}
try {
  const recording = await timeOf(cassette(path, { mode: 'record' }))
  const samples: Record<string, number[]> = Object.fromEntries(Object.keys(variants).map((name) => [name, []]))
  const loads: number[] = []
  for (let round = -3; round < rounds; round++) {
    for (const [name, make] of Object.entries(variants)) {
      globalThis.gc?.({ type: 'minor', execution: 'sync' })
      const start = performance.now()
      const use = make()
      const loaded = performance.now() - start
      const taken = await timeOf(...use)
      if (round < 0) continue
      samples[name]?.push(taken)
      if (name === 'from a tape') loads.push(loaded * 1e6)
    }
  }
  const rows = rowsOf('an async handler that echoes', samples)
  printTable(rows)
  printTable(rowsOf('5,000 lines', { 'opening the tape': loads }))
  const { ratio = Number.NaN, median = Number.NaN } = rows.at(-1) ?? {}
  const speed = 1e9 / median
  printWords({
    head: ['from a tape', 'goal', 'measured', ''],
    cells: [
      [
        'as multiples of the plain call',
        `at most ${goal.ratio}`,
        ratio.toFixed(1),
        ratio <= goal.ratio ? 'held' : 'MISSED',
      ],
      [
        'calls a second',
        `at least ${goal.speed.toLocaleString('en')}`,
        Math.round(speed).toLocaleString('en'),
        speed >= goal.speed ? 'held' : 'MISSED',
      ],
      ['bytes of a line', '', String(Math.round(statSync(path).size / calls)), ''],
      ['recording, as multiples of the plain call', '', (recording / (rows[0]?.median ?? 1)).toFixed(1), ''],
    ],
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
