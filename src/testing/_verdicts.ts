// What each matcher says of a log.
import { InvalidConfigurationError } from '../errors.ts'
import { booleanOption, checkOptions, integerFrom, oneOf, stringOption, type OptionChecks } from '../extension.ts'
import { canonicalize, type CallStatus, type ErrorCode, type SideEffect } from '../index.ts'
import { longestLog, logOf, type KeptLog, type LoggedCall } from './_log.ts'
import { differencesOf, differenceWords, type CallDifference } from './_match.ts'
import { requireNoSlip } from './_slips.ts'
import { callWords, listWords, valueWords } from './_words.ts'

/** What a call is expected to be. What is left out may be anything. */
export interface ExpectedCall {
  /**
   * The args. Objects match by the members that stand here, arrays and scalars as a whole. At any depth a function is a predicate,
   * a RegExp tests a text, a Standard Schema validates, and a pattern of a runner such as `expect.any(Number)` matches.
   */
  readonly args?: unknown
  /** Whether objects of `args` may have no further members. Default: `false`. */
  readonly exact?: boolean
  readonly status?: CallStatus | 'running'
  readonly effect?: SideEffect
  /** The code of its error. */
  readonly code?: ErrorCode
  /** What the model was told: its text, a pattern of it, or an array of blocks. */
  readonly content?: unknown
  /** Whether a person was asked. */
  readonly asked?: boolean
  readonly session?: string
}

/** A call, and how often it is expected. */
export interface ExpectedCalls extends ExpectedCall {
  /** Exactly so often. Default: at least once. */
  readonly times?: number
  /** At most so often, or never. */
  readonly atMost?: number
}

/** A call of `toHaveCalledInOrder`. */
export interface ExpectedStep extends ExpectedCall {
  /** Whether it came in after the step before had settled, so that the model knew its result. Default: `false`. */
  readonly afterResult?: boolean
}

/** What a matcher says, as vitest and Jest take it. */
export interface MatcherVerdict {
  readonly pass: boolean
  readonly message: () => string
  readonly expected?: unknown
  readonly actual?: unknown
}

const callChecks: OptionChecks<ExpectedCall> = {
  args: { expected: 'anything', accepts: () => true },
  exact: booleanOption,
  status: oneOf('ok', 'error', 'denied', 'timed_out', 'cancelled', 'waiting', 'running'),
  effect: oneOf('none', 'completed', 'unknown'),
  code: stringOption,
  content: { expected: 'anything', accepts: () => true },
  asked: booleanOption,
  session: stringOption,
}
const countChecks: OptionChecks<ExpectedCalls> = { ...callChecks, times: integerFrom(0), atMost: integerFrom(0) }
const stepChecks: OptionChecks<ExpectedStep> = { ...callChecks, afterResult: booleanOption }

export function called(subject: unknown, tool: string, expected: ExpectedCalls = {}): MatcherVerdict {
  const owner = 'toHaveCalled'
  const log = logOf(subject)
  requireName(owner, tool)
  checkOptions(owner, expected, countChecks)
  const { times, atMost, ...wanted } = expected
  const hits: LoggedCall[] = []
  let ofTool = 0
  let nearest: readonly [LoggedCall, readonly CallDifference[]] | undefined
  for (const call of log.calls) {
    if (call.tool !== tool) continue
    ofTool++
    const differences = differencesFrom(call, wanted)
    if (differences.length === 0) hits.push(call)
    else if (nearest === undefined || differences.length < nearest[1].length) nearest = [call, differences]
  }
  if (ofTool === 0) requireNoSlip(owner, log, tool)
  if (times !== undefined || atMost !== undefined || hits.length === 0) requireWholeLog(owner, log)
  const isFrequent = times === undefined ? atMost !== undefined || hits.length > 0 : hits.length === times
  const pass = isFrequent && (atMost === undefined || hits.length <= atMost)
  return {
    pass,
    expected: wanted.args,
    actual: (hits[0] ?? nearest?.[0])?.args,
    message: () => {
      const goal = `${tool} ${pass ? 'not ' : ''}to be called${countWords(times, atMost)}${expectedWords(wanted)}`
      if (hits.length > 0) return `Expected ${goal}. It was called so ${timesWords(hits.length)}:\n${listWords(hits)}`
      if (pass) return `Expected ${goal}. What was called:\n${listWords(log.calls)}`
      if (nearest === undefined) return `Expected ${goal}. It was never called. What was:\n${listWords(log.calls)}`
      return `Expected ${goal}. The nearest of ${ofTool}: ${callWords(nearest[0])}\n${differenceWords(nearest[1])}`
    },
  }
}

type Step = string | readonly [tool: string, expected?: ExpectedStep]

export function calledInOrder(subject: unknown, steps: readonly Step[]): MatcherVerdict {
  const owner = 'toHaveCalledInOrder'
  const log = logOf(subject)
  const wanted = steps.map((step) =>
    typeof step === 'string' ? ([step, {}] as const) : ([step[0], step[1] ?? {}] as const),
  )
  for (const [tool, expected] of wanted) {
    requireName(owner, tool)
    checkOptions(owner, expected, stepChecks)
  }
  if (wanted.length === 0)
    throw new InvalidConfigurationError(`${owner} takes the steps: ${owner}('find_order', 'refund').`)
  const found: LoggedCall[] = []
  for (const call of log.calls) {
    const step = wanted[found.length]
    if (step === undefined) break
    const [tool, { afterResult, ...expected }] = step
    const last = found.at(-1)
    if (call.tool !== tool || (afterResult === true && last !== undefined && !call.isAfter(last))) continue
    if (differencesFrom(call, expected).length === 0) found.push(call)
  }
  const missing = wanted[found.length]
  if (missing !== undefined) requireWholeLog(owner, log)
  const names = wanted.map(([tool]) => tool).join(' → ')
  return {
    pass: missing === undefined,
    expected: wanted.map(([tool]) => tool),
    actual: log.calls.slice(0, 100).map(({ tool }) => tool),
    message: () => {
      if (missing === undefined) return `Expected not ${names}, in this order. It was:\n${listWords(found)}`
      const [tool, expected] = missing
      const place = found.length === 0 ? '' : ` after ${found.map((call) => call.tool).join(' → ')}`
      const late = expected.afterResult === true && found.length > 0 ? ' had its result' : ''
      return `Expected ${names}, in this order. Step ${found.length + 1}, ${tool}${expectedWords(expected)}, was not called${place}${late}. What was:\n${listWords(log.calls)}`
    },
  }
}

export function calledOnly(subject: unknown, tools: readonly string[]): MatcherVerdict {
  const log = logOf(subject)
  for (const tool of tools) requireName('toHaveCalledOnly', tool)
  const names = new Set(tools)
  const others = log.calls.filter(({ tool }) => !names.has(tool))
  if (others.length === 0) requireWholeLog('toHaveCalledOnly', log)
  const pass = others.length === 0
  return {
    pass,
    expected: tools,
    actual: [...new Set(log.calls.map(({ tool }) => tool))],
    message: () =>
      pass
        ? `Expected a call of another tool than ${tools.join(', ')}, and there was none.`
        : `Expected no call of another tool than ${tools.join(', ') || '(none)'}, and there were ${others.length}:\n${listWords(others)}`,
  }
}

export function calledAtMost(subject: unknown, most: number): MatcherVerdict {
  const { calls, lost } = logOf(subject)
  if (!Number.isInteger(most) || most < 0) {
    throw new InvalidConfigurationError('toHaveCalledAtMost takes how many calls there may be: toHaveCalledAtMost(5).')
  }
  const count = calls.length + lost
  const pass = count <= most
  return {
    pass,
    expected: most,
    actual: count,
    message: () =>
      `Expected ${pass ? 'more than' : 'at most'} ${countedCalls(most)}, and there were ${count}:\n${listWords(calls)}`,
  }
}

export function repeated(subject: unknown, most = 1): MatcherVerdict {
  const log = logOf(subject)
  if (!Number.isInteger(most) || most < 1) {
    throw new InvalidConfigurationError(
      'toHaveRepeated takes how often the same call may be made: toHaveRepeated(2). Default: 1.',
    )
  }
  const groups = new Map<string, LoggedCall[]>()
  for (const call of log.calls) {
    const key = JSON.stringify([call.session, call.callId ?? sameness(call)])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [call])
    else group.push(call)
  }
  const repetitions = [...groups.values()].filter((group) => group.length > most)
  if (repetitions.length === 0) requireWholeLog('toHaveRepeated', log)
  const pass = repetitions.length > 0
  return {
    pass,
    message: () => {
      const limit = `more than ${timesWords(most)} in a session`
      if (!pass) return `Expected a call that is made ${limit}, and there is none:\n${listWords(log.calls)}`
      const lines = repetitions.slice(0, 20).map((group) => `  ${group.length} × ${callWords(group[0] as LoggedCall)}`)
      return `Expected no call to be made ${limit}:\n${lines.join('\n')}`
    },
  }
}

/** What is the same in equal calls of a tool that is not known, or of args without a canonical form. */
function sameness({ tool, args }: LoggedCall): string {
  try {
    return `${tool} ${canonicalize(args ?? null)}`
  } catch {
    return `${tool} ${valueWords(args, 10_000)}`
  }
}

export function recovered(subject: unknown): MatcherVerdict {
  const log = logOf(subject)
  requireWholeLog('toHaveRecovered', log)
  const { calls } = log
  const open: (readonly [failed: LoggedCall, next: LoggedCall])[] = []
  // From the end, so that each call is looked at once.
  const succeeded = new Set<string>()
  let effective: LoggedCall | undefined
  for (const call of calls.toReversed()) {
    const isFailed = call.status === 'error' || call.status === 'timed_out'
    if (isFailed && effective !== undefined && !succeeded.has(call.tool)) open.unshift([call, effective])
    if (call.status === 'ok') succeeded.add(call.tool)
    if (call.effect !== 'none') effective = call
  }
  return {
    pass: open.length === 0,
    message: () => {
      if (open.length === 0)
        return `Expected a failed call from which the loop did not recover, and there is none:\n${listWords(calls)}`
      const lines = open.slice(0, 20).map(([failed, next]) => `  ${callWords(failed)}\n    and then ${callWords(next)}`)
      return `Expected each failed call to be followed by one of its tool that is ok, or by none with an effect:\n${lines.join('\n')}`
    },
  }
}

function differencesFrom(call: LoggedCall, expected: ExpectedCall): CallDifference[] {
  const { args, exact = false, content, code, ...plain } = expected
  const differences = args === undefined ? [] : differencesOf('args', args, call.args, exact)
  for (const [name, wanted] of Object.entries({ ...plain, code })) {
    const received = name === 'code' ? call.error?.code : call[name as keyof typeof plain]
    if (wanted !== undefined && wanted !== received) differences.push({ path: name, expected: wanted, received })
  }
  if (content === undefined) return differences
  const received = Array.isArray(content) ? call.content : contentWords(call)
  return [...differences, ...differencesOf('content', content, received, false)]
}

/** What the model read, as one text. */
function contentWords({ content }: LoggedCall): string | undefined {
  const texts = content?.map((block) => {
    if (block.type === 'text') return block.text
    return JSON.stringify(block.type === 'json' ? block.data : block)
  })
  return texts?.join('\n')
}

function requireName(owner: string, tool: unknown): void {
  if (typeof tool === 'string' && tool !== '') return
  throw new InvalidConfigurationError(`${owner} takes the name of a tool, and not ${valueWords(tool, 60)}.`)
}

function requireWholeLog(owner: string, { lost }: KeptLog): void {
  if (lost === 0) return
  throw new InvalidConfigurationError(
    `${owner} cannot know: the log keeps the newest ${longestLog} calls, and ${lost} before them are gone. Clear it between the parts of a long test.`,
  )
}

function expectedWords(expected: ExpectedStep): string {
  const members = Object.entries(expected).filter(([, value]) => value !== undefined)
  return members.length === 0 ? '' : ` with ${valueWords(Object.fromEntries(members), 400)}`
}

function countWords(times: number | undefined, atMost: number | undefined): string {
  const exactly = times === undefined ? '' : ` ${timesWords(times)}`
  return atMost === undefined ? exactly : `${exactly} at most ${timesWords(atMost)}`
}

function timesWords(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

function countedCalls(count: number): string {
  return count === 1 ? '1 call' : `${count} calls`
}
