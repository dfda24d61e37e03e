import { content, isMarkedJson, json, looksLikeBlocks, markedBlocks, markedValue } from './content.ts'
import { jsonText, readText } from './json-text.ts'
import type { Issue } from './standard.ts'
import { pointerSteps } from './text.ts'

/** What stands where a secret was. */
export const mask = '[secret]'

/** What is wrong with a value, without the words of a validator where they may quote a secret. */
export function concealed(issues: readonly Issue[], secrets: readonly string[]): readonly Issue[] {
  if (secrets.length === 0) return issues
  return issues.map((issue) => {
    const place = issue.path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
    const isNear = secrets.some(
      (secret) => `${place}/`.startsWith(`${secret}/`) || `${secret}/`.startsWith(`${place}/`),
    )
    return isNear ? { message: 'is not valid', path: issue.path } : issue
  })
}

/** A copy in which the values at the given JSON Pointers are masked; the value itself where there are none. */
export function masked(value: unknown, secrets: readonly string[]): unknown {
  let copy = value
  for (const pointer of secrets) copy = maskedAt(copy, pointerSteps(pointer), 0)
  return copy
}

/**
 * A result that is all there, in which secrets are masked, however its maker marked it.
 *
 * @throws `E_INVALID_TOOL_RESULT` where JSON cannot hold it.
 */
export function maskedResult(result: unknown, secrets: readonly string[]): unknown {
  if (typeof result !== 'object' || result === null) return result
  if (result instanceof ArrayBuffer || ArrayBuffer.isView(result)) return result
  if (isMarkedJson(result)) return json(maskedJson(markedValue(result), secrets))
  const blocks = Array.isArray(result) && looksLikeBlocks(result) ? result : markedBlocks(result)
  if (blocks === undefined) return json(maskedJson(result, secrets))
  // The same value as text would show what its data hides.
  const shown = blocks.map((block) =>
    block.type === 'json' ? { type: block.type, data: maskedJson(block.data, secrets) } : block,
  )
  return content(shown)
}

/** The value as JSON has it, masked: what instances and `toJSON` make of themselves is nowhere else to be seen. */
function maskedJson(value: unknown, secrets: readonly string[]): unknown {
  return masked(readText(jsonText(value)), secrets)
}

function maskedAt(value: unknown, steps: readonly string[], depth: number): unknown {
  const key = steps[depth]
  if (key === undefined) return mask
  if (typeof value !== 'object' || value === null) return value
  if (!Object.hasOwn(value, key) || (Array.isArray(value) && !/^\d+$/.test(key))) return value
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>
  copy[key] = maskedAt(copy[key], steps, depth + 1)
  return copy
}
