import { RE2JS } from 're2js'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { asking, lines, words } from './_asking.ts'

/** Patterns on which an engine that tries everything takes for ever. */
const catastrophic = [
  '(a+)+$',
  '(a|aa)+$',
  '(a*)*b',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(.*)*x',
  '(x+x+)+y',
  '([a-zA-Z]+)*$',
  '(?:a?){100}a{100}',
  '[ab]*a[ab]{200}c',
  '^(?:.*a){30}$',
]

/** How often others had their turn while something went on. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work.finally(() => (isOver = true))
  return turns
}

describe('a pattern that a model wrote', () => {
  test.each(catastrophic)('%s is answered', async (pattern) => {
    const { keep, call } = asking()
    await keep(`${'a'.repeat(4_000)}!\n`.repeat(20) + `${'ab'.repeat(2_000)}c\n`.repeat(20))
    const result = await call('grep', { pattern })
    expect(result.status, words(result)).toBe('ok')
    expect(words(result)).toMatch(/\((?:No line matches|\d+ lines? match(?:es)?|Truncated)/)
  })

  test.each([
    ['(?:a?){1000}a{1000}', /repeats/],
    ['(?:(?:a{30}){30})(?:b{400}){2}', /steps|repeat/],
    ['a{1001}', /repeat/],
    ['(?=a)b', /no lookaround/],
    ['(?<!a)b', /no lookaround/],
    ['(a)\\1', /no references to groups/],
    ['[', /not valid in the RE2 syntax/],
    ['a)', /not valid in the RE2 syntax/],
    ['*', /not valid in the RE2 syntax/],
    ['\\', /not valid in the RE2 syntax/],
    ['(?:a|b)'.repeat(80), /longer than|shorter|length/],
  ])('%s is refused, and the words say why', async (pattern, reason) => {
    const { keep, call } = asking()
    await keep(lines(3))
    const result = await call('grep', { pattern })
    expect(result).toMatchObject({ status: 'error', effect: 'none', error: { code: 'E_INVALID_TOOL_ARGS' } })
    expect(result.error?.issues).toMatchObject([{ path: ['pattern'] }])
    expect(words(result)).toMatch(reason)
  })

  test('is refused before the artifact is read', async () => {
    const { keep, call } = asking()
    await keep(lines(3))
    const result = await call('grep', { pattern: '(', artifact: 'artifact_x' })
    expect(result.error?.issues?.map(({ path }) => path[0])).toContain('pattern')
  })

  test.each(['g', 'y', 'x', 'I', 'ii!'])('the flags %s are none', async (flags) => {
    const { keep, call } = asking()
    await keep(lines(3))
    const result = await call('grep', { pattern: 'line', flags })
    expect(result).toMatchObject({
      status: 'error',
      error: { code: 'E_INVALID_TOOL_ARGS', issues: [{ path: ['flags'] }] },
    })
  })

  test('says the same as the engine, which no option of ours changes', async () => {
    const { keep, ask } = asking()
    const texts = ['foo', 'FOO', 'foo bar', 'ſ', 'K', '\u212a', 'é', 'E\u0301', '', ' ', '0', '٣']
    await keep(`${texts.join('\n')}\nend`)
    for (const pattern of [
      '^\\w+$',
      '\\bfoo\\b',
      '[[:alpha:]]',
      '\\pL',
      '(?i)k',
      '^.$',
      '\\d',
      'f(?P<name>o)o',
      'o{2}',
      '^\\s*$',
    ]) {
      const answer = await ask('grep', { pattern })
      const found = answer
        .split('\n')
        .filter((line) => /^\d+: /.test(line))
        .map((line) => Number.parseInt(line, 10))
      const machine = RE2JS.compile(pattern)
      expect(found, pattern).toEqual([...texts, 'end'].flatMap((text, line) => (machine.test(text) ? line : [])))
    }
  })
})

describe('without the package re2js', () => {
  test('plain text is found, and a pattern is refused with what to do instead', async () => {
    vi.resetModules()
    vi.doMock('re2js', () => ({
      get RE2JS() {
        throw new Error("Cannot find package 're2js'")
      },
    }))
    onTestFinished(() => vi.doUnmock('re2js'))
    const { asking: askingWithout } = (await import('./_asking.ts')) as { asking: typeof asking }
    const { keep, ask, call } = askingWithout()
    await keep(lines(30))
    expect(await ask('grep', { pattern: 'line 17' })).toMatch(/^17: line 17\n/)
    expect(await ask('grep', { pattern: '.', literal: true })).toMatch(/^\(No line contains this text/)
    const result = await call('grep', { pattern: '^line' })
    expect(result.error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect(words(result)).toContain('patterns need the package re2js, which is not installed')
  })
})

test('a pattern whose engine does not load fails the call once, and is tried again', async () => {
  vi.resetModules()
  let loads = 0
  vi.doMock('re2js', () => ({
    get RE2JS() {
      if (++loads === 1) throw new TypeError('Failed to fetch dynamically imported module')
      return RE2JS
    },
  }))
  onTestFinished(() => vi.doUnmock('re2js'))
  const { asking: askingOnline } = (await import('./_asking.ts')) as { asking: typeof asking }
  const { keep, ask, call } = askingOnline()
  await keep(lines(30))
  const { error } = await call('grep', { pattern: '^line 17' })
  expect([error?.code, error?.retryable]).toEqual(['E_VALIDATOR_FAILED', true])
  expect(await ask('grep', { pattern: '^line 17' })).toMatch(/^17: line 17\n/)
})

describe('a long search', () => {
  test('gives everybody else their turn, however costly the pattern is', async () => {
    const { keep, call } = asking()
    await keep(`${'ab'.repeat(400)}\n`.repeat(1_000))
    // 206 steps, 800,000 characters: work for 41 slices at least, whatever the machine.
    expect(await turnsDuring(call('grep', { pattern: '[ab]*a[ab]{200}z|c$' }))).toBeGreaterThanOrEqual(40)
    await keep(`${'ab'.repeat(400)}\n`.repeat(25_000))
    expect(await turnsDuring(call('grep', { pattern: 'absent' }))).toBeGreaterThanOrEqual(4)
  })

  test('stops when its time is over, says where, and goes on from there', async () => {
    const { keep, ask } = asking({ searchTime: 0 })
    await keep(lines(100_000, (line) => `line ${line} ${'x'.repeat(20)}`))
    const seen: string[] = []
    let start = 0
    let calls = 0
    for (; calls < 100; calls++) {
      const answer = await ask('grep', { pattern: '[l]ine (?:7|99999) ', start })
      seen.push(...answer.split('\n').filter((line) => /^\d+: /.test(line)))
      const [, before, next] =
        /the search reached its time limit before line (\d+); \d+ matches so far\. Go on with start: (\d+)\./.exec(
          answer,
        ) ?? []
      if (next === undefined) break
      expect(Number(next)).toBe(Number(before))
      expect(Number(next)).toBeGreaterThan(start)
      start = Number(next)
    }
    expect(calls).toBeGreaterThan(3)
    expect(seen.map((line) => line.split(':')[0])).toEqual(['7', '99999'])
  })

  test('comes forward even where one line takes more than all the time', async () => {
    const { keep, ask } = asking({ searchTime: 0 })
    await keep(`${'x'.repeat(3_000_000)}\nlast line`)
    const first = await ask('grep', { pattern: 'last' })
    const [, next] = /Go on with start: (\d+)/.exec(first) ?? []
    expect(next === undefined ? first : await ask('grep', { pattern: 'last', start: Number(next) })).toContain(
      '1: last line',
    )
  })

  test('says of lines that are too long that it did not search them to their ends', async () => {
    const { keep, ask } = asking()
    await keep(`${'x'.repeat(1_200_000)}needle\n${'y'.repeat(10)}needle`)
    const answer = await ask('grep', { pattern: 'needle' })
    expect(answer).toMatch(/^1: y+needle\n/)
    expect(answer).toContain('1 lines are longer than 1048576 characters; only that many of each were searched.')
  })

  test('ends when the call is given up', async () => {
    const { executor, keep } = asking()
    const handle = await keep(`${'ab'.repeat(1_000)}\n`.repeat(3_000))
    const searched = vi.spyOn(RE2JS.prototype, 'test')
    onTestFinished(() => searched.mockRestore())
    const controller = new AbortController()
    setImmediate(() => controller.abort())
    const args = { artifact: handle, pattern: '[ab]*a[ab]{200}z|c$' }
    const result = await executor.execute({ name: 'artifact_grep', args }, { session: 'a', signal: controller.signal })
    expect(result.status).toBe('cancelled')
    expect(searched).toHaveBeenCalled()
    searched.mockClear()
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    // Nothing goes on behind: what is left to do would be minutes of work.
    expect(searched).not.toHaveBeenCalled()
  })
})
