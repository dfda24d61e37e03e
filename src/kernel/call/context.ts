import type { Caller, ToolValues } from './call.ts'
import { announceProgress } from './events.ts'
import { progressOf, type Received } from './parcel.ts'
import type { Kernel, ToolContext } from '../ports.ts'

/** The context of a call in the passage: everything is read from the call when it is asked for. */
export class CallContext implements ToolContext {
  readonly values: ToolValues
  readonly #parcel: Received
  readonly #kernel: Kernel

  constructor(parcel: Received, kernel: Kernel, values: ToolValues) {
    this.#parcel = parcel
    this.#kernel = kernel
    this.values = values
  }

  get callId(): string {
    return this.#parcel.callId ?? ''
  }
  get invocationId(): string {
    return this.#parcel.invocationId
  }
  get attempt(): number {
    return this.#parcel.attempts
  }
  get toolName(): string {
    return this.#parcel.name
  }
  get session(): string {
    return this.#parcel.session
  }
  get principal(): string | undefined {
    return this.#parcel.principal
  }
  get caller(): Caller {
    return this.#parcel.caller
  }
  get signal(): AbortSignal {
    return this.#parcel.deadline.signal
  }
  get invocationState(): ToolValues {
    return this.values
  }
  get toolUse(): ToolContext['toolUse'] {
    const { name, id } = this.#parcel
    return { name, toolUseId: id, input: progressOf(this.#parcel).input }
  }
  /** A getter, so that it may be taken out of the context and costs nothing until then. */
  get emit(): ToolContext['emit'] {
    return (type, data) => {
      if (!this.#parcel.deadline.isOver) announceProgress(this.#parcel, this.#kernel, type, data)
    }
  }
}
