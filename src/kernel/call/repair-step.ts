/** One thing that was done to args, and where. */
export interface RepairStep {
  /** What was done, such as `number-from-text`: at most 64 characters. */
  readonly step: string
  /** The keys from the root of the args: at most 16, of 64 characters each. */
  readonly path: readonly (string | number)[]
}
