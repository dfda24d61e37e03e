import { expect } from 'vitest'
import type { Format, ToolCall, ToolResult } from '../../index.ts'

/** The error of a format that reads no calls in a message. */
export const unreadableError: { readonly code: string; readonly message: string } = {
  code: 'E_INVALID_CONFIGURATION',
  message: expect.stringMatching(/^The format [a-z-]+ reads no calls in this: [^]*\. [A-Z][^]*\.$/) as string,
}

/** Expects that a format answers any message, or throws the error that says what it is. */
export function expectCalm(format: Format, message: unknown): void {
  expect(typeof format.detect(message)).toBe('boolean')
  for (const call of readCalls(format, message) ?? []) {
    expect(typeof call.name).toBe('string')
    expect(['string', 'number', 'undefined']).toContain(typeof call.id)
  }
  expect(() => format.results([withText('x')], message)).not.toThrow()
}

/** Returns the calls of a message, or nothing if the format says that it does not read such a message. */
export function readCalls(format: Format, message: unknown): readonly ToolCall[] | undefined {
  try {
    return format.calls(message)
  } catch (error) {
    expect(error).toMatchObject(unreadableError)
    return undefined
  }
}

/** Makes the result of a call. */
export function fixtureResult({ id, name }: ToolCall, index: number): ToolResult {
  return {
    ...(id === undefined ? undefined : { id }),
    invocationId: `inv_${index}`,
    callId: 'ab'.repeat(32),
    toolName: name,
    status: 'ok',
    effect: 'completed',
    isError: false,
    content: [{ type: 'text', text: `answer ${index}` }],
    durationMs: 1,
  }
}

/** Makes a result with a text. */
export function withText(text: string): ToolResult {
  return { ...fixtureResult({ id: 'a', name: 'x' }, 0), content: [{ type: 'text', text }] }
}
