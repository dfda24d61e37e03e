import { masked, SpooledArtifact } from '../../index.ts'
import { start } from '../_line.ts'

const longestContent = 16_384

// Registered symbols: the marks that `json` and `content` put on results.
const marks = [Symbol.for('toolwright.json'), Symbol.for('toolwright.content')] as const

/**
 * A value as text: a string as it is, anything else as JSON, cut where it is long.
 *
 * @param secrets JSON Pointers to what is masked.
 * @returns Nothing for what has no JSON.
 */
export function textOf(value: unknown, secrets: readonly string[] = []): string | undefined {
  try {
    if (typeof value === 'string') return start(value, longestContent)
    let text = JSON.stringify(value) as string | undefined
    if (text !== undefined && secrets.length > 0) text = JSON.stringify(withoutSecrets(JSON.parse(text), secrets))
    return text === undefined ? undefined : start(text, longestContent)
  } catch {
    return undefined // it is told of in the result of the call, if that matters
  }
}

/** What a handler returned, as `textOf` writes it; nothing for bytes, streams and artifacts. */
export function resultText(result: unknown, secrets: readonly string[]): string | undefined {
  if (typeof result !== 'object' || result === null) return textOf(result)
  const mark = marks.find((each) => each in result)
  if (mark !== undefined) return textOf((result as Record<symbol, unknown>)[mark], secrets)
  return isOpaque(result) ? undefined : textOf(result, secrets)
}

function isOpaque(value: object): boolean {
  return (
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer ||
    value instanceof SpooledArtifact ||
    Symbol.asyncIterator in value ||
    'getReader' in value
  )
}

/** Secrets point into a value, or into the data of a json block, whose text would show what its data hides. */
function withoutSecrets(value: unknown, secrets: readonly string[]): unknown {
  return masked(Array.isArray(value) ? value.map((item) => withoutSecretsInBlock(item, secrets)) : value, secrets)
}

function withoutSecretsInBlock(item: unknown, secrets: readonly string[]): unknown {
  const isBlock = typeof item === 'object' && item !== null && 'type' in item && item.type === 'json' && 'data' in item
  return isBlock ? { type: 'json', data: withoutSecrets(item.data, secrets) } : item
}
