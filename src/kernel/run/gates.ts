import { untilFree } from '../call/blocked.ts'
import { notStarted } from '../call/blocker.ts'
import type { KnownOutcome, ToolResult } from '../call/call.ts'
import { timerLength } from '../call/deadline.ts'
import type { Confirmed, GateEntry, Received, Verdict } from '../call/parcel.ts'
import { isToolError, ToolDeniedError } from '../errors.ts'
import type { GatesContext } from '../executor-context.ts'
import { shortened } from '../json/shortened.ts'
import { isThenable, unawaited } from '../json/thenable.ts'
import { Known } from '../outcome/known.ts'
import type { Gate } from '../ports.ts'
import { approved } from './approved.ts'
import { readAnswer } from './policies.ts'

/**
 * Lets a call through the gates, in their order. Makes no promise if each answers at once. Throws what refuses the call, the
 * outcome that a gate knows, or the wait for a person.
 */
export function passGates(confirmed: Confirmed, kernel: GatesContext): void | Promise<void> {
  if (!isDoneAlready(confirmed)) return passFrom(confirmed, kernel, 0)
}

/** Whether no gate could keep anything from being done: a policy or the provider gave the result, or a client has answered. */
function isDoneAlready({ verdict, resumption, tool, call }: Confirmed): boolean {
  if (verdict !== null && verdict.result !== null) return true
  if (resumption?.reply !== undefined || resumption?.isExpired === true) return true
  return tool.type === 'provider' && call.result !== undefined
}

function passFrom(confirmed: Confirmed, kernel: GatesContext, from: number): void | Promise<void> {
  for (let index = from; index < kernel.gates.length; index++) {
    const passing = passGate(kernel.gates[index]!, confirmed, kernel)
    if (passing !== undefined) return passRest(passing, confirmed, kernel, index + 1)
  }
}

async function passRest(
  passing: Promise<unknown>,
  confirmed: Confirmed,
  kernel: GatesContext,
  from: number,
): Promise<void> {
  await passing
  await passFrom(confirmed, kernel, from)
}

function passGate(gate: Gate, confirmed: Confirmed, kernel: GatesContext): void | Promise<unknown> {
  confirmed.deadline.check()
  let answer: unknown
  let entry: ReadEntry | undefined
  try {
    answer = gate.enter(confirmed, confirmed.context, kernel.earlierCalls)
    if (answer === undefined) return
    if (!isThenable(answer)) entry = readGateAnswer(answer, confirmed, kernel)
  } catch (cause) {
    throw gateRefusal(gate, cause)
  }
  return entry === undefined ? waitAt(gate, answer, confirmed, kernel) : enterBy(entry, gate, confirmed, kernel)
}

/** Waits for the answer of a gate. Meanwhile the clock of the call stands still, and the later calls of its turn go on. */
async function waitAt(gate: Gate, answer: unknown, confirmed: Confirmed, kernel: GatesContext): Promise<void> {
  const { deadline, order } = confirmed
  confirmed.entries ??= [] // from now on an answer may come when the call is over
  order?.pass(confirmed)
  const timer = limitWait(gate, confirmed, kernel)
  let entry: ReadEntry
  try {
    const reading = async (): Promise<ReadEntry> => readGateAnswer(await answer, confirmed, kernel)
    entry = await untilFree(confirmed, kernel, { by: 'gate', gate: gate.name }, reading())
  } catch (cause) {
    deadline.check()
    throw gateRefusal(gate, cause)
  } finally {
    clearTimeout(timer)
  }
  order?.rejoin(confirmed)
  await enterBy(entry, gate, confirmed, kernel)
}

function limitWait(
  gate: Gate,
  confirmed: Confirmed,
  { waitTimeout, report }: GatesContext,
): ReturnType<typeof setTimeout> | undefined {
  if (waitTimeout === 0 || waitTimeout === Infinity) return undefined
  return setTimeout(() => {
    let words: unknown
    try {
      words = gate.waitsFor?.(confirmed)
    } catch (error) {
      report(error)
    }
    const what = typeof words === 'string' ? ` ${shortened(words, 1_000)}` : ''
    confirmed.deadline.cancel(notStarted(waitTimeout, `it waited at the gate ${JSON.stringify(gate.name)}${what}.`))
  }, timerLength(waitTimeout))
}

interface ReadEntry {
  readonly outcome: KnownOutcome | undefined
  readonly ask: unknown
}

/** Reads an answer once. What wants to be told of the end of the call is kept, or told at once if the call is over. */
function readGateAnswer(answer: unknown, confirmed: Confirmed, { report }: GatesContext): ReadEntry {
  if (answer === undefined || answer === null) return { outcome: undefined, ask: undefined }
  if (typeof answer !== 'object') {
    throw new TypeError('A gate returns nothing, or an object with `outcome`, `ask` or `leave`.')
  }
  const entry = answer as GateEntry & ReadEntry
  if (typeof entry.leave === 'function') {
    if (confirmed.entries === null) tellEntry(entry, undefined, report)
    else (confirmed.entries ??= []).push(entry)
  }
  const { outcome, ask } = entry
  return { outcome, ask }
}

/** A call that a person is asked about, and that comes back, has its approval already. */
function enterBy(
  { outcome, ask }: ReadEntry,
  gate: Gate,
  confirmed: Confirmed,
  kernel: GatesContext,
): void | Promise<unknown> {
  if (outcome !== undefined) throw new Known(outcome)
  if (ask !== undefined) return approved(confirmed, kernel, readAsk(ask, gate))
}

function readAsk(ask: unknown, gate: Gate): Verdict['ask'] {
  try {
    const question = typeof ask === 'object' ? { ...ask, decision: 'ask' } : undefined
    const { reason, meta, decision } = readAnswer(question, gate)
    if (decision === 'ask') return { reason, meta }
    throw new TypeError(reason)
  } catch (cause) {
    throw gateRefusal(gate, cause)
  }
}

function gateRefusal({ name }: Gate, cause: unknown): object {
  return isToolError(cause) ? cause : new ToolDeniedError(`Gate ${name} could not decide`, { cause })
}

/** Tells what let the call in that it is over, the last gate first. */
export function leaveGates(call: Received, { report }: Pick<GatesContext, 'report'>, result: ToolResult): void {
  const { entries } = call
  call.entries = null
  for (const entry of entries?.toReversed() ?? []) tellEntry(entry, result, report)
}

function tellEntry(entry: GateEntry, result: ToolResult | undefined, report: (error: unknown) => void): void {
  try {
    const done = entry.leave?.(result)
    if (isThenable(done)) void unawaited(done, report)
  } catch (error) {
    report(error)
  }
}
