import type { ToolError } from '../errors.ts'
import type { Issue } from '../schema/standard.ts'

/** Hides the secrets of one call: the values that its tool's `secrets` point to, and each repetition of those of the args. */
export interface Redactor {
  /** Returns the args with secrets masked, read from the hashed text. `undefined` before the args are identified. */
  args(): unknown
  /** Returns a text without secret values. */
  text(text: string): string
  /** Returns any value as JSON without secrets: the mask if it exceeds 64 KiB, `undefined` if it cannot be read. */
  value(value: unknown): unknown
  /**
   * Returns a handler's whole result with secrets masked and its marks kept. Bytes stay as they are. Do not pass streams or
   * artifacts.
   *
   * @throws `E_INVALID_TOOL_RESULT` if JSON cannot hold the result.
   */
  result(result: unknown): unknown
  /** Returns issues without the validator's message about a secret or its container, and without keys within a secret. */
  issues(issues: readonly Issue[]): readonly Issue[]
  /** Returns a copy of an error without causes and without secret values. */
  error(error: ToolError): ToolError
}
