/** What a call waits for before it starts. */
export interface Blocker {
  /** A gate; calls that hold what it touches; or an earlier call of its turn. */
  readonly by: 'gate' | 'lock' | 'order'
  /** The name of the gate. */
  readonly gate?: string
  /** The things for which it waits, as its tool names them: at most 16. Without them it waits for a lock of its session. */
  readonly keys?: readonly string[]
  /** The invocation next before it, if that is of the same session. */
  readonly behind?: string
}
