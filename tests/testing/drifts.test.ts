import { readFileSync, writeFileSync } from 'node:fs'
import type { Extension, ToolCall } from 'toolwright'
import { cassette } from 'toolwright/testing/cassettes'
import { beforeAll, describe, expect, it } from 'vitest'
import { runWithTape, tapeFolder, thrownWords, type TapeRun } from './_tapes.ts'
import { callsOf, seeded, World, type Changes } from './_world.ts'

const newPath = tapeFolder()
const path = newPath()
const calls = callsOf(98).filter(({ name }) => name !== 'slow')
const replayed = new World()

async function replay(made: readonly ToolCall[] = calls, changes: Changes = {}, ...use: Extension[]): Promise<TapeRun> {
  return runWithTape(path, { mode: 'replay', strict: true }, replayed.tools(changes), made, ...use)
}

const wordsOf = async (run: Promise<TapeRun>): Promise<string> => {
  const { tape } = await run
  return thrownWords(tape.verify)
}

const random = seeded(42)
/** The place of a call of a tool, or of any. */
function placeOf(name?: string): number {
  const places = [...calls.keys()].filter((place) => name === undefined || calls[place]?.name === name)
  return places[Math.floor(random() * places.length)] ?? 0
}
function changed(place: number, call: ToolCall | undefined): readonly ToolCall[] {
  return [...calls.slice(0, place), ...(call === undefined ? [] : [call]), ...calls.slice(place + 1)]
}
const argsOf = (place: number): Record<string, unknown> => ({ ...(calls[place]?.args as object) })
const withArgs = (name: string, args: object): readonly ToolCall[] => {
  const place = placeOf(name)
  return changed(place, { name, args: { ...argsOf(place), ...args } })
}
const denying = (name: string): Extension => ({
  policies: [{ name: 'new', decide: ({ tool }) => (tool.name === name ? { decision: 'deny' } : undefined) }],
})
const wrapping = (name: string, change: (value: unknown) => unknown): Extension => ({
  middleware: [async (call, _context, next) => (call.tool.name === name ? change(await next()) : next())],
})

type Drift = readonly [name: string, words: RegExp, run: () => Promise<TapeRun>]
const drifts: readonly Drift[] = [
  ...[1, 2, 3, 4].map((number): Drift => [
    `args that changed (${number})`,
    /pay\(.*was not recorded\. The nearest recorded call:\n\s+\/cents\n\s+- \d+\n\s+\+ 9\d+/,
    () => replay(withArgs('pay', { cents: 990 + number })),
  ]),
  ['a member more', /pay\(.*\n\s+\/note\n\s+- \(absent\)\n\s+\+ "x"/, () => replay(withArgs('pay', { note: 'x' }))],
  ['another type of an arg', /echo\(\{"n":"five"\}\) was not recorded/, () => replay(withArgs('echo', { n: 'five' }))],
  ['an arg more', /echo\(.*\n\s+\/more\n\s+- \(absent\)\n\s+\+ 1/, () => replay(withArgs('echo', { more: 1 }))],
  [
    'a call more',
    /big\(.*It was recorded .*, and this is call \d+\./,
    () => replay([...calls, calls[placeOf('big')] ?? { name: 'big' }]),
  ],
  [
    'a call of a tool that was not called',
    /slow\(\{"n":1\}\) was not recorded\. No call of slow was recorded/,
    () => replay([...calls, { name: 'slow', args: { n: 1 } }]),
  ],
  ['a call less (1)', /bytes\(.*was recorded, and not called/, () => replay(changed(placeOf('bytes'), undefined))],
  ['a call less (2)', /steps\(.*was recorded, and not called/, () => replay(changed(placeOf('steps'), undefined))],
  [
    'another tool',
    /echo\(.*was recorded, and not called/,
    () => replay(changed(placeOf('echo'), { name: 'typed', args: { n: 99 } })),
  ],
  [
    'an unknown tool',
    /ehco\(.*was not recorded/,
    () => replay(changed(placeOf('echo'), { name: 'ehco', args: { n: 1 } })),
  ],
  [
    'a description that changed',
    /echo has changed.*\n\s+\/description\n\s+- "Echoes"\n\s+\+ "Echoes it"/,
    () => replay(calls, { description: true }),
  ],
  [
    'a schema that changed',
    /echo has changed.*\n\s+\/inputSchema\/properties\/n\/type\n\s+- "integer"\n\s+\+ "number"/,
    () => replay(calls, { schema: true }),
  ],
  [
    'a trait that changed',
    /pay has changed.*\n\s+\/traits\/readonly\n\s+- false\n\s+\+ true/,
    () => replay(calls, { trait: true }),
  ],
  [
    'an output schema that changed',
    /typed\(.*code: none → E_INVALID_TOOL_RESULT/,
    () => replay(calls, { output: true }),
  ],
  ['a hook that replaces results', /typed\(.*came out differently/, () => replay(calls, { hook: true })],
  ['a policy that denies', /pay\(.*status: ok → denied/, () => replay(calls, {}, denying('pay'))],
  ['a policy that denies what failed', /broken\(.*status: error → denied/, () => replay(calls, {}, denying('broken'))],
  [
    'a middleware that changes results',
    /marked\(.*result/,
    () =>
      replay(
        calls,
        {},
        wrapping('marked', () => 'something shorter'),
      ),
  ],
  [
    'a middleware that changes results and not their length',
    /echo\(.*the model is told something else:\n\s+\/0\/text\n\s+- "echo \d+ \d+"\n\s+\+ "ECHO/,
    () =>
      replay(
        calls,
        {},
        wrapping('echo', (value) => String(value).toUpperCase()),
      ),
  ],
]

beforeAll(async () => {
  const recorded = await runWithTape(path, { mode: 'record' }, new World().tools(), calls)
  expect(recorded.events.length).toBeGreaterThanOrEqual(98)
})

describe('a tape', () => {
  it('fits what it was recorded of', async () => {
    expect(await wordsOf(replay())).toBe('')
  })

  it.each(drifts)('names %s', async (_name, words, run) => {
    expect(await wordsOf(run())).toMatch(words)
  })

  it('names an attempt that was not recorded', async () => {
    const text = readFileSync(path, 'utf8')
    const lines = text.split('\n').map((line) => {
      const json = line.includes('"tool":"flaky"') ? (JSON.parse(line) as { attempts: unknown[] }) : undefined
      return json === undefined ? line : JSON.stringify({ ...json, attempts: json.attempts.slice(0, 1) })
    })
    const shorter = newPath()
    writeFileSync(shorter, lines.join('\n'))
    const { tape } = await runWithTape(shorter, { mode: 'replay' }, replayed.tools(), calls)
    expect(thrownWords(tape.verify)).toMatch(/flaky\(.*was tried 2 times, and 1 are recorded/)
  })

  it('names each of a hundred seeded drifts', async () => {
    const unnamed: unknown[] = []
    const short = newPath()
    const few = calls.slice(0, 40)
    await runWithTape(short, { mode: 'record' }, new World().tools(), few)
    for (let seed = 0; seed < 100; seed++) {
      const rows = seeded(seed * 7_919 + 1)
      const place = Math.floor(rows() * few.length)
      const { name } = few[place] ?? { name: '' }
      const args = argsOf(place)
      const keys = Object.keys(args)
      const key = keys[Math.floor(rows() * keys.length)] ?? 'n'
      const others: readonly (ToolCall | undefined)[] = [
        { name, args: { ...args, [key]: typeof args[key] === 'number' ? 1_000 + seed : `x${seed}` } },
        { name, args: { ...args, extra: seed } },
        undefined,
        { name: name === 'echo' ? 'typed' : 'echo', args: { n: 5_000 + seed } },
        { name, args: {} },
      ]
      const altered = changed(place, others[seed % 5]).slice(0, others[seed % 5] === undefined ? 39 : 40)
      const words = await wordsOf(runWithTape(short, { mode: 'replay', strict: true }, replayed.tools(), altered))
      if (!words.includes(`${name}(`)) unnamed.push({ seed, name, words })
    }
    expect(unnamed).toEqual([])
  })

  it('runs no handler for all that', () => {
    expect(replayed.ran).toEqual({})
  })

  it('throws as an assertion, with all that does not fit', async () => {
    const { tape } = await replay(changed(0, { name: 'echo', args: { n: 7_777 } }))
    expect(tape.misses).toHaveLength(1)
    expect(tape.unused().length).toBeGreaterThanOrEqual(1)
    expect(tape.verify).toThrow(expect.objectContaining({ name: 'AssertionError', code: 'ERR_ASSERTION' }))
  })

  it('tells of changed tools once, if it is not strict', async () => {
    const reports: string[] = []
    const tape = cassette(path, { mode: 'replay', report: (words) => reports.push(words) })
    const { createExecutor } = await import('toolwright')
    const executor = createExecutor({ tools: new World().tools({ description: true }), use: [tape] })
    const echo = calls.filter(({ name }) => name === 'echo').slice(0, 2)
    for (const call of echo) await executor.execute(call)
    expect(reports).toEqual(tape.drifts)
    expect(reports).toMatchObject([expect.stringMatching(/^The tool echo has changed/)])
  })
})
