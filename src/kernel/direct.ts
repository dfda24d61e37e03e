import { keepShapes } from '#shapes'
import { callIdOf, canonicalize } from './json/canonical.ts'
import type { SpooledArtifact } from './result/artifact.ts'
import { unmarked } from './result/content.ts'
import { CallContext } from './call/context.ts'
import { Deadline } from './call/deadline.ts'
import type { ToolDefinition } from './tool/definition.ts'
import type { BoundOptions, DirectContext } from './tool/options.ts'
import { assemble } from './assemble.ts'
import { isThenable } from './json/thenable.ts'
import { createExecutor } from './executor.ts'
import { ArtifactError, ToolDeniedError } from './errors.ts'
import { streamEvents } from './run/stream.ts'
import {
  Parcel,
  setApproval,
  setHasSlot,
  setIdentity,
  setVerdict,
  type Identity,
  type Writable,
} from './call/parcel.ts'
import { runHandler } from './run/handler.ts'
import type { Kernel } from './kernel.ts'
import type { Observer } from './call/events.ts'
import { check, validateOutput } from './stages/check.ts'
import { invalidOutput } from './schema/validator.ts'
import { giveTool } from './stages/resolve.ts'
import { validate, validateArgs } from './stages/validate.ts'

/**
 * Runs a tool for the application itself: only the stages that validate and run, without policies, approvals or records. Throws if the
 * pipeline would settle the call with an error.
 */
export async function callDirectly(
  tool: ToolDefinition,
  args: unknown,
  context: DirectContext = {},
  watcher?: Observer,
): Promise<unknown> {
  const kernel = (bare ??= bareKernel())
  const { signal, values = {}, session = 'direct', invocationId = `${kernel.owner()}-${callCount++}` } = context
  const call = { name: tool.name, args: args === undefined ? {} : args }
  const deadline = new Deadline(tool.timeout ?? 0, signal)
  const received = new Parcel(call, invocationId, session, 'user', deadline)
  received.watcher = watcher
  received.context = new CallContext(received, kernel, values)
  try {
    deadline.check()
    const resolved = giveTool(received, tool, kernel)
    const identified = setIdentity(resolved, new ApplicationIdentity(tool.name, call.args))
    const validated = await validate(identified, kernel)
    const confirmed = setApproval(setVerdict(validated, null), null)
    let ran = runHandler(setHasSlot(confirmed, false), validated.input, kernel)
    if (isThenable(ran)) ran = await ran
    const checked = check(ran, kernel)
    return unmarked((isThenable(checked) ? await checked : checked).output)
  } finally {
    deadline.end()
  }
}

/** Runs a tool for the application itself, yields its progress and returns its value. Leaving early cancels the call. */
export async function* streamDirectly(
  tool: ToolDefinition,
  args: unknown,
  context: DirectContext = {},
): AsyncGenerator<never, unknown, undefined> {
  const events = streamEvents<unknown>(
    (watcher, signal) => callDirectly(tool, args, { ...context, signal }, watcher),
    context.signal,
    Infinity, // they are the values that the caller asked for
  )
  try {
    let step = await events.next()
    for (; step.done !== true; step = await events.next()) {
      if (step.value.event === 'tool:progress' && step.value.type === 'yield') yield step.value.data as never
    }
    return step.value
  } finally {
    await events.return(undefined)
  }
}

export async function checkDirectly(tool: ToolDefinition, value: unknown): Promise<unknown> {
  const outcome = await validateOutput(tool, value)
  if (outcome?.issues !== undefined) throw invalidOutput(tool.name, outcome.issues)
  return outcome === undefined ? value : outcome.value
}

export async function validateDirectly(tool: ToolDefinition, args: unknown): Promise<unknown> {
  return validateArgs(tool, args === undefined ? {} : args)
}

/**
 * Runs a tool through an executor. Returns the artifact, or throws the typed error. `bound` keeps the executor that is made if it
 * has none.
 */
export async function callBound(
  tool: ToolDefinition,
  args: unknown,
  bound: Writable<BoundOptions>,
): Promise<SpooledArtifact> {
  const { executor = (bound.executor = createExecutor({ tools: [tool] })), on, ...options } = bound
  const events = executor.stream({ name: tool.name, args }, { caller: 'user', ...options })
  let step = await events.next()
  while (step.done !== true) {
    on?.(step.value)
    step = await events.next()
  }
  const { error, artifact, status } = step.value
  if (error !== undefined) throw error
  if (artifact === undefined) throw new ToolDeniedError(`${tool.name} has not run: it is ${status}.`)
  return artifact
}

/** What `shapes.ts` does not keep. */
const keptIdentities: Identity[] = []
let bare: Kernel | undefined
let callCount = 0

/** Makes the kernel of direct calls: it has no extensions, and no policy decides about a call. */
function bareKernel(): Kernel {
  keepShapes()
  keptIdentities.push(new ApplicationIdentity('', undefined))
  const owner = crypto.randomUUID()
  const { kernel } = assemble({ inlineLimit: Infinity }, () => owner)
  return { ...kernel, owns: () => false, spool: { ...kernel.spool, keepBeside: refuseToKeep } }
}

async function refuseToKeep(): Promise<never> {
  throw new ArtifactError('A direct call has no store to keep artifacts in. Run the tool through an executor.')
}

/** The identity of a direct call, computed when it is read: the args may be any value, and so may have no identity. */
class ApplicationIdentity implements Identity {
  readonly args: unknown
  readonly #name: string

  constructor(name: string, args: unknown) {
    this.#name = name
    this.args = args
  }

  get text(): string {
    return canonicalize(this.args)
  }
  get callId(): string {
    return callIdOf(this.#name, this.text)
  }
}
