import type { CallOptions } from './call/call.ts'
import { canonicalize, computeCallId } from './json/canonical.ts'
import { isMarkedJson, markedBlocks, markedValue } from './result/content.ts'
import { CallContext } from './call/context.ts'
import { CallDeadline } from './call/deadline.ts'
import type { ToolDefinition } from './tool/definition.ts'
import { receive, stamp, type Identity } from './call/parcel.ts'
import { perform } from './run/handler.ts'
import type { Kernel, Observer } from './ports.ts'
import { check } from './stages/check.ts'
import { validate } from './stages/validate.ts'

/** What a direct call may say beside its args. */
export type DirectContext = Pick<CallOptions, 'session' | 'values' | 'signal' | 'invocationId'>

/**
 * Runs a tool for the host itself: the gates that check, and none that asks or keeps. Throws where the passage would settle
 * the call with an error.
 */
export async function callDirectly(
  tool: ToolDefinition,
  args: unknown,
  context: DirectContext,
  kernel: Kernel,
  watcher?: Observer,
): Promise<unknown> {
  const { signal, values = {}, session = 'direct', invocationId = crypto.randomUUID() } = context
  const call = { name: tool.name, args: args === undefined ? {} : args }
  const deadline = new CallDeadline(tool.timeout ?? 0, signal)
  const received = receive(
    {
      call,
      invocationId,
      session,
      principal: undefined,
      caller: 'user',
      deadline,
      slots: undefined,
      watcher,
      resumption: undefined,
      receivedAt: 0,
      seq: 0,
      record: undefined,
      fence: undefined,
    },
    (parcel) => new CallContext(parcel, kernel, values),
  )
  try {
    deadline.check()
    const identified = stamp(stamp(received, 'tool', tool), 'identity', new HostIdentity(tool.name, call.args))
    const validated = await validate(identified, kernel)
    const confirmed = stamp(stamp(validated, 'verdict', null), 'approval', null)
    const { output } = await check(await perform(confirmed, validated.input, kernel), kernel)
    if (typeof output !== 'object' || output === null) return output
    return isMarkedJson(output) ? markedValue(output) : (markedBlocks(output) ?? output)
  } finally {
    deadline.end()
  }
}

/** The identity of a direct call, whose args may be any value: known where it is asked for, if they have one. */
class HostIdentity implements Identity {
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
    return computeCallId(this.#name, this.args)
  }
}
