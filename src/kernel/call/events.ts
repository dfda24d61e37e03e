import type { CallingProgram, SideEffect, ToolResult } from './call.ts'
import { type SettledStatus, InvalidConfigurationError, type ToolError } from '../errors.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import type { Approval, WaitReason, Question } from './approval.ts'
import type { Blocker } from './blocker.ts'
import type { RepairStep } from './repair-step.ts'

/** The fields of each type of event beside the envelope. */
export interface Bodies {
  /** A call came in. */
  'call:received': {
    readonly args: unknown
    /** The bridge that the model called, if its args named the tool. */
    readonly via?: string
    /** The invocation whose handler makes the call. */
    readonly parent?: string
    /** The invocation, if these events are about what was found out of it later, and no call came in. */
    readonly reconciles?: string
  }
  /** Its args did not fit, and were repaired. From now on `callId` is that of the repaired args. */
  'call:repaired': {
    /** The repaired args. */
    readonly args: unknown
    /** The callId of the args that came in; of a text that is no JSON, as if that text were the args. */
    readonly from: string
    readonly steps: readonly RepairStep[]
  }
  /** The call may run, and waits for other calls. Time that it waits so is not its own. */
  'call:blocked': Blocker
  /** The call waits: for the answer of a person or a client, or for a worker. It is the last event until `call:resumed`. */
  'call:waiting': Question & {
    /** What the call waits for. */
    readonly reason: WaitReason
    readonly token?: string
    readonly expiresAt: number
    /** Set while the approver of this executor is asked. The call then goes on by itself. */
    readonly inProcess?: true
  }
  /** A person or a client answered. */
  'call:resumed': Approval & {
    /** The callId before the args were edited. */
    readonly editedFrom?: string
    /** The edited args. */
    readonly args?: unknown
  }
  /** The middleware chain starts. */
  'tool:start': {
    readonly input: unknown
    /** The SHA-256 of the tool's `effectKey` of the call. */
    readonly effectKey?: string
  }
  /**
   * A value that a generator yields or that `context.emit` is given. Of type `retry`: the handler starts again, and the data has
   * the number of the `attempt` from 1 and the `error` of the one before, `{ code, message }`.
   */
  'tool:progress': { readonly type: string; readonly data: unknown }
  /** The middleware chain has ended. `durationMs` counts from `tool:start`: all attempts, and the waits between. */
  'tool:end': { readonly isError: boolean; readonly durationMs: number }
  /** The call has its final result. */
  'call:settled': {
    readonly status: SettledStatus
    readonly effect: SideEffect
    readonly error?: ToolError
    readonly result?: { readonly mediaType: string; readonly byteLength: number; readonly handle?: string }
    readonly digest?: string
    /** As in `tool:start`. A call that did not start may have it too. */
    readonly effectKey?: string
    readonly durationMs: number
  }
}

/** The name of an event. */
export type ToolEventName = keyof Bodies

const eventNames: Readonly<Record<ToolEventName | '*' | 'tools:changed', true>> = {
  'call:received': true,
  'call:repaired': true,
  'call:blocked': true,
  'call:waiting': true,
  'call:resumed': true,
  'tool:start': true,
  'tool:progress': true,
  'tool:end': true,
  'call:settled': true,
  '*': true,
  'tools:changed': true,
}

/** @throws `E_INVALID_CONFIGURATION` if there is no event of this name, since its listener would never be called, or no listener. */
export function requireListener(name: unknown, listener: unknown): void {
  if (typeof name !== 'string' || !Object.hasOwn(eventNames, name)) {
    throw new InvalidConfigurationError(
      `There is no event ${JSON.stringify(String(name))}. Listen to one of ${Object.keys(eventNames).join(', ')}.`,
    )
  }
  if (typeof listener === 'function') return
  throw new InvalidConfigurationError(`on('${name}', listener) takes a function, and not ${typeof listener}.`)
}

/** The fields of every event. */
export interface EventEnvelope {
  /** `null` if the args have no canonical form or the tool is not known. */
  readonly callId: string | null
  readonly invocationId: string
  /** The provider's id of the call. An id above 1,024 characters becomes its beginning and its SHA-256. */
  readonly id?: string | number
  readonly toolName: string
  readonly session: string
  /** For whom the call is made, if the application says so. */
  readonly principal?: string
  /** The model's program that makes the call, if a program makes it. */
  readonly program?: CallingProgram
  /** The number of the event within its invocation: from 0, without gaps. */
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly timestamp: number
  /** How many events of progress were left out before this one, if a stream of one call was not read in time. */
  readonly omitted?: number
}

/** An event of one type. */
export type ToolEventOf<Name extends ToolEventName> = Name extends ToolEventName
  ? EventEnvelope & { readonly event: Name } & Bodies[Name]
  : never

/** Everything that can be observed of a call, as one closed union. Records, telemetry and views are folds over it. */
export type ToolEvent = ToolEventOf<ToolEventName>

/**
 * Takes every event, with the tool if it is resolved, and `call:settled` with the result if this executor ran or refused the
 * call. It cannot affect the call: its errors are reported. The handler and the caller hold no part of an event. All observers
 * share it, and the input may share parts with the args, so an observer has to copy what it changes. The result is the caller's.
 */
export type Observer = (event: ToolEvent, tool?: ToolDefinition, result?: ToolResult) => void
