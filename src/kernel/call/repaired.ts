import type { EventTargets } from '../executor-context.ts'
import { callIdOf, canonicalize } from '../json/canonical.ts'
import { copyOfJson } from '../json/copy.ts'
import { bounded, readText } from '../json/json-text.ts'
import { shortened } from '../json/shortened.ts'
import type { Repair, RepairedArgs } from '../ports.ts'
import type { Validation } from '../schema/validator.ts'
import { inputOf } from '../tool/validators.ts'
import { emit, isWatched } from './emit.ts'
import type { RepairStep } from './repair-step.ts'
import { setIdentity, stageFields, type Identified, type Identity, type Received, type Writable } from './parcel.ts'

const mostRepairSteps = 64
const mostKeys = 16
const longestStepWord = 64

/** What repairs the args of a call. */
export interface RepairContext extends EventTargets {
  /** Repairs the args of a call, if an extension does. Loaded when args are refused. */
  readonly repairArgs: RepairArgs | undefined
}

type RepairArgs = (call: Identified, issues: RefusedIssues | undefined, context: EventTargets) => Promise<Repaired>
type RefusedIssues = Extract<Validation, { readonly issues: unknown }>['issues']
type Repaired = { readonly value: unknown } | undefined

/**
 * Asks once for other args, if the schema has refused these. What comes is identified and validated anew, and told. A call that
 * was answered or edited is not repaired.
 *
 * @returns What the schema returns for the repaired args. Nothing, if there are none: then the call is as it came.
 */
export async function repairArgs(
  repair: Repair,
  ...[call, issues, context]: Parameters<RepairArgs>
): Promise<Repaired> {
  const { tool, identity, deadline } = call
  const { unread } = identity
  const validator = inputOf(tool)
  const check = async (args: unknown): Promise<typeof issues> => (await validator.validate(args)).issues
  const args = unread === undefined ? readText(identity.text) : identity.args
  try {
    const asking = async (): Promise<unknown> => repair({ tool, args, issues, check })
    const answer = await deadline.within(asking(), readRepair)
    const repaired = answer && identifyAgain(call, answer, context.argsLimit)
    const outcome = repaired && (await deadline.within(validator.validate(repaired.args)))
    if (repaired === undefined || outcome === undefined || outcome.issues !== undefined) return withdraw(call)
    tellRepair(call, repaired, context)
    return outcome
  } catch (error) {
    withdraw(call)
    deadline.check()
    context.report(error)
    return undefined
  }
}

/** Reads an answer once. Returns nothing if it has no args with their steps. */
function readRepair(answer: unknown): RepairedArgs | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  const { args, steps } = answer as Partial<RepairedArgs>
  if (!Array.isArray(steps)) return undefined
  const own = (steps as readonly RepairStep[]).slice(0, mostRepairSteps)
  return {
    args,
    steps: own.map(({ step, path }) => ({ step: shortened(String(step), longestStepWord), path: pathOf(path) })),
  }
}

function pathOf(path: RepairStep['path']): RepairStep['path'] {
  const keys = Array.from(path).slice(0, mostKeys)
  return keys.map((key) => (typeof key === 'number' ? key : shortened(String(key), longestStepWord)))
}

/** Makes the identity of the repaired args. They are a copy, which no other holds. */
function identifyAgain({ identity, name }: Identified, { args, steps }: RepairedArgs, limit: number): Identity {
  const copy = typeof args === 'object' && args !== null ? copyOfJson(args, limit) : args
  const text = canonicalize(copy ?? args, limit)
  const from = identity.callId
  return { callId: callIdOf(name, text), text, args: readText(text), repaired: { from, steps } }
}

/** Takes back the identity of a text that is no JSON, and could not be repaired: its call has none. */
function withdraw(call: Identified): undefined {
  if (call.identity.unread !== undefined)
    (call as Writable<Received & { identity?: Identity }>).identity = undefined as never
}

/** Tells what came in, if that is not told yet, and what it was repaired to. */
function tellRepair(call: Identified, repaired: Identity, context: EventTargets): void {
  const { identity } = call
  const isSeen = isWatched(call, context)
  if (identity.unread !== undefined) {
    withdraw(call)
    // As that of any text without an identity: whole, unless the tool has secrets.
    const args = call.tool.secrets.length === 0 ? bounded(identity.args, context.argsLimit) : undefined
    if (isSeen) emit(call, context, 'call:received', { args })
  }
  setIdentity(call, repaired)
  const { from, steps } = stageFields(call).identity!.repaired!
  if (isSeen) emit(call, context, 'call:repaired', { args: repaired.args, from, steps })
}
