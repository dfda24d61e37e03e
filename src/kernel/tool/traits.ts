/** The traits of a tool, used by policies, caches and retries. Default of each: `false`; of `concurrent`: `true`. */
export interface ToolTraits {
  readonly readonly?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
  readonly openWorld?: boolean
  /**
   * Whether other calls of the same session may run at the same time. A call that is not concurrent begins when the work of the
   * calls before it has ended, at the latest 30 s after they have settled. If the same calls run for `waitTimeout`, the waiting
   * call is `timed_out`.
   */
  readonly concurrent?: boolean
  /** Whether equal calls that are made at the same time may run once, with the gate `coalesce`. A definition has it only if it is `true`. */
  readonly coalesce?: boolean
}
