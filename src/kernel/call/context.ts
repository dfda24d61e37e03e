import type { Spool } from '../kernel.ts'
import type { EventTargets } from '../executor-context.ts'
import type { Caller, ToolValues, ToolContext } from './context-types.ts'
import { emitProgress } from './emit.ts'
import { stageFields, type Received } from './parcel.ts'

/** The context of a call. Each getter reads the present state of the call. */
export class CallContext implements ToolContext {
  readonly values: ToolValues
  readonly #parcel: Received
  readonly #kernel: EventTargets & { readonly spool: Pick<Spool, 'keepBeside'> }

  constructor(
    parcel: Received,
    kernel: EventTargets & { readonly spool: Pick<Spool, 'keepBeside'> },
    values: ToolValues,
  ) {
    this.#parcel = parcel
    this.#kernel = kernel
    this.values = values
  }

  /** Returns the call of a context that a kernel has made. */
  static callOf(context: unknown, kernel: EventTargets): Received | undefined {
    const isOurs = typeof context === 'object' && context !== null && #parcel in context // a proxy has no private field
    return isOurs && context.#kernel === kernel ? context.#parcel : undefined
  }

  get callId(): string {
    return this.#parcel.callId ?? ''
  }
  get invocationId(): string {
    return this.#parcel.invocationId
  }
  get attempt(): number {
    const before = this.#parcel.resumption?.taken?.work?.attempts ?? 1
    return this.#parcel.attempts + before - 1
  }
  get fence(): number {
    return this.#parcel.recording?.fence?.number ?? 0
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
  // The types of the next two come by `toolwright/compat`.
  get invocationState(): ToolValues {
    return this.values
  }
  get toolUse(): { readonly name: string; readonly toolUseId: string | number | undefined; readonly input: unknown } {
    const { name, id } = this.#parcel
    return { name, toolUseId: id, input: stageFields(this.#parcel).input }
  }
  /** A getter, so that a handler can destructure it, and unused it costs nothing. */
  get emit(): ToolContext['emit'] {
    return (type, data) => {
      if (!this.#parcel.deadline.isOver) emitProgress(this.#parcel, this.#kernel, type, data)
    }
  }
  get keep(): ToolContext['keep'] {
    return (source, described) => this.#kernel.spool.keepBeside(source, described, this.#parcel)
  }
}
