// An extension as another package would write it: it imports public entries alone.
import { expect, onTestFinished, test, vi } from 'vitest'
import { createExecutor, tool, type Extension } from 'toolwright'
import {
  booleanOption,
  causesOf,
  callableNames,
  checkOptions,
  escapeDeceptive,
  functionOption,
  integerFrom,
  isForbidden,
  isPostgresAddress,
  numberFrom,
  oneOf,
  optionsError,
  postgresFailure,
  refusedPortAdvice,
  reporterOf,
  required,
  stringOption,
  timerLength,
  timerOption,
  type OptionCheck,
} from 'toolwright/extension'

interface PauseOptions {
  /** How many calls may run before the wait. */
  readonly calls: number
  /** How long the wait is, in milliseconds. Default: without end. */
  readonly pause?: number
  readonly report?: (error: unknown) => void
}

/** Denies calls for some time after a number of them. */
function pauseAfter(options: PauseOptions): Extension {
  checkOptions('pauseAfter', options, {
    calls: required(integerFrom(1)),
    pause: numberFrom(0),
    report: functionOption,
  })
  const report = reporterOf(options.report)
  let count = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    policies: [
      {
        name: 'pause-after',
        decide({ tool: { name } }) {
          if (timer !== undefined) return { decision: 'deny', reason: 'There is a pause' }
          if (++count < options.calls) return undefined
          timer = setTimeout(() => (timer = undefined), timerLength(options.pause ?? Infinity))
          report(new Error(escapeDeceptive(`A pause begins with ${name}.`)))
          return undefined
        },
      },
    ],
    close: () => clearTimeout(timer),
  }
}

test('a policy with options, a reporter and a timer is written with the kit alone', async () => {
  const faults: unknown[] = []
  const extension = pauseAfter({ calls: 2, report: (fault) => faults.push(fault) })
  const executor = createExecutor({ tools: [tool('now', () => 1)], use: [extension] })
  const statuses: string[] = []
  for (let call = 0; call < 3; call++) statuses.push((await executor.execute({ name: 'now' })).status)
  await executor.close()
  expect(statuses).toEqual(['ok', 'ok', 'denied'])
  expect(faults).toEqual([new Error('A pause begins with now.')])
})

test('a reporter that fails changes no call', async () => {
  const report = (): never => {
    throw new Error('no')
  }
  const executor = createExecutor({ tools: [tool('now', () => 1)], use: [pauseAfter({ calls: 1, report })] })
  expect((await executor.execute({ name: 'now' })).status).toBe('ok')
  await executor.close()
})

test('without a reporter, a fault is on the console', async () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => print.mockRestore())
  const executor = createExecutor({ tools: [tool('now', () => 1)], use: [pauseAfter({ calls: 1 })] })
  await executor.execute({ name: 'now' })
  await executor.close()
  expect(print.mock.calls).toEqual([[new Error('A pause begins with now.')]])
})

const wrong: readonly (readonly [unknown, string])[] = [
  [undefined, '`pauseAfter` takes an object of options, not undefined.'],
  [null, '`pauseAfter` takes an object of options, not null.'],
  [[], '`pauseAfter` takes an object of options, not an array.'],
  ['3', '`pauseAfter` takes an object of options, not "3".'],
  [{}, '`pauseAfter` needs `calls`: a whole number of at least 1.'],
  [{ calls: 1, cals: 2 }, '`pauseAfter` has no option "cals"; its options are calls, pause, report.'],
  [{ calls: 0 }, '`pauseAfter` takes a whole number of at least 1 as `calls`, not 0.'],
  [{ calls: NaN }, '`pauseAfter` takes a whole number of at least 1 as `calls`, not NaN.'],
  [{ calls: null }, '`pauseAfter` takes a whole number of at least 1 as `calls`, not null.'],
  [{ calls: 1, pause: '5' }, '`pauseAfter` takes a number of at least 0 as `pause`, not "5".'],
  [{ calls: ['1', 2] }, '`pauseAfter` takes a whole number of at least 1 as `calls`, not ["1",2].'],
  [{ calls: ['a\u202e'] }, '`pauseAfter` takes a whole number of at least 1 as `calls`, not ["a\\u202e"].'],
  [{ calls: [{}] }, '`pauseAfter` takes a whole number of at least 1 as `calls`, not an array.'],
  [{ calls: ['x'.repeat(60)] }, '`pauseAfter` takes a whole number of at least 1 as `calls`, not an array.'],
  [{ calls: 1, report: {} }, '`pauseAfter` takes a function as `report`, not an object.'],
  [{ calls: 1, 'x\u202e\n': 1 }, '`pauseAfter` has no option "x\\u202e\\n"; its options are calls, pause, report.'],
]

test.each(wrong)('%j is refused with words that name the option, what it takes and what came', (options, message) => {
  expect(() => pauseAfter(options as PauseOptions)).toThrow(
    expect.objectContaining({ code: 'E_INVALID_CONFIGURATION', message }),
  )
})

const hostile = {
  toString: (): never => {
    throw new Error('no')
  },
}

test.each<readonly [OptionCheck, accepted: readonly unknown[], refused: readonly unknown[]]>([
  [integerFrom(1, 3), [1, 3], [0, 4, 1.5, Infinity, '1', 1n, hostile]],
  [numberFrom(0), [0, 1.5, Infinity], [-1, NaN, '0', hostile]],
  [timerOption, [0.5, 2_147_483_647], [0, -1, NaN, Infinity, 2_147_483_648, '5']],
  [oneOf('a', 'b'), ['a', 'b'], ['c', 0, true, ['a'], hostile]],
  [functionOption, [() => 1, class {}], [{}, 'f', null]],
  [booleanOption, [true, false], [0, 'true', null]],
  [stringOption, ['', 'a'], [0, null, ['a'], Symbol('a')]],
])('%j takes these and no others', (check, accepted, refused) => {
  const give = (value: unknown): void => checkOptions<{ of?: unknown }>('owner', { of: value }, { of: check })
  for (const value of [undefined, ...accepted]) expect(() => give(value)).not.toThrow()
  for (const value of refused) expect(() => give(value)).toThrow(/^`owner` takes .* as `of`, not .*\.$/)
})

test('a secret that is wrong is not in the message', () => {
  const check = { expected: 'a key of 20 letters', accepts: () => false, isSecret: true }
  expect(() => checkOptions<{ key: string }>('owner', { key: 'hunter2' }, { key: check })).toThrow(
    /^`owner` takes a key of 20 letters as `key`\.$/,
  )
})

test('a long value is shown in part', () => {
  const give = (): void => checkOptions<{ of: string }>('owner', { of: 'x'.repeat(1_000) }, { of: oneOf('a') })
  expect(give).toThrow(/not "x{59}…"\.$/)
})

test('options that do not fit together have an error of the same kind', () => {
  expect(optionsError('owner', 'takes `a` or `b`')).toMatchObject({
    code: 'E_INVALID_CONFIGURATION',
    message: '`owner` takes `a` or `b`.',
  })
})

test('tools of another system get names that models can call', () => {
  const names = callableNames([
    { key: 'a', name: 'issues/list all' },
    { key: 'b', name: 'issues_list_all' },
    { key: 'c', name: 'Issues-List-All' },
    { key: 'd', name: 'ä' },
    { key: 'e', name: '' },
    { key: 'g', name: '__' },
    { key: 'f', name: 'x'.repeat(65) },
    { key: '__proto__', name: 'x'.repeat(64) },
  ])
  expect(Object.fromEntries(names)).toEqual(
    Object.fromEntries([
      ['a', 'issues_list_all_ca978112'],
      ['b', 'issues_list_all'],
      ['c', 'Issues-List-All_2e7d2c03'],
      ['d', 'tool_18ac3e73'],
      ['e', 'tool_3f79bb7b'],
      ['g', '__'],
      ['f', `${'x'.repeat(55)}_252f10c8`],
      ['__proto__', 'x'.repeat(64)],
    ]),
  )
})

test('a port that `fetch` refuses is told from other errors, however deep and hostile these are', async () => {
  const refused = await fetch('http://127.0.0.1:6000').catch((error: unknown) => error)
  expect(refusedPortAdvice(refused)).toMatch(/^`fetch` refuses this port: .* give a `fetch` that takes it$/)
  expect(refusedPortAdvice(new Error('around', { cause: refused }))).toBeDefined()
  expect(refusedPortAdvice(new TypeError('Fetch failed: Requests to port 6000 are blocked'))).toBeDefined()
  const circle = new Error('circle')
  circle.cause = circle
  const unreadable = {
    get message(): string {
      throw new Error('not to be read')
    },
  }
  for (const other of [new TypeError('fetch failed'), circle, unreadable, 'bad port', null, undefined])
    expect(refusedPortAdvice(other)).toBeUndefined()
})

test('what an error says is read with what is behind it, whatever that is', () => {
  const refused = Object.assign(new Error('no'), { code: 'ECONNREFUSED' })
  const several = new AggregateError([refused, Object.assign(new Error(''), { code: 5 })], 'all')
  expect(causesOf(new TypeError('fetch failed', { cause: several }))).toEqual([
    { message: 'fetch failed', code: '' },
    { message: 'all', code: '' },
    { message: 'no', code: 'ECONNREFUSED' },
    { message: '', code: '' },
  ])
  refused.cause = several
  expect(causesOf(several)).toHaveLength(3)
  const wide = (depth: number): unknown => ({
    errors: depth === 0 ? [] : Array.from({ length: 99 }, () => wide(depth - 1)),
  })
  expect(causesOf(wide(2))).toHaveLength(64)
  const unreadable = new Proxy(new Error('x'), {
    get: () => {
      throw new Error('not to be read')
    },
  })
  expect(causesOf(new Error('around', { cause: unreadable }))).toEqual([{ message: 'around', code: '' }])
  for (const none of ['text', null, undefined, unreadable]) expect(causesOf(none)).toEqual([])
})

test('what the permissions of a platform forbid is told from other errors', () => {
  expect(isForbidden(Object.assign(new Error('Requires env access'), { name: 'NotCapable' }))).toBe(true)
  expect(isForbidden(Object.assign(new Error('Access restricted'), { code: 'ERR_ACCESS_DENIED' }))).toBe(true)
  for (const other of [Object.assign(new Error('x'), { code: 'EACCES' }), 'NotCapable', null, undefined])
    expect(isForbidden(other)).toBe(false)
})

test('a failure of Postgres has its code, whether it may pass, and what became of an address without a scheme', () => {
  expect(isPostgresAddress('postgresql:///agents')).toBe(true)
  expect(isPostgresAddress('localhost:5432')).toBe(false)
  expect(postgresFailure({ code: '53300' }).kind).toMatch(/^53300: the server takes no more connections/)
  expect(postgresFailure({ code: '42P07' }, 'postgres://localhost/agents')).toEqual({
    kind: '42P07',
    isRetryable: false,
  })
  for (const error of [undefined, new Error('Connection terminated'), { code: 57 }])
    expect(postgresFailure(error, {})).toEqual({ kind: 'no connection', isRetryable: true })
  expect(postgresFailure({ code: 'ENOTFOUND' }, '/var/run/postgresql')).toEqual({
    kind: 'ENOTFOUND',
    isRetryable: true,
  })
  expect(postgresFailure({ code: 'ENOTFOUND' }, 'localhost').kind).toBe(
    'ENOTFOUND; the connection string lacks postgres:// and was taken for the name of a database',
  )
})
