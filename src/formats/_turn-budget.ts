import type { ContentBlock, ToolResult } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import type { TurnBudget } from '../extension.ts'

/**
 * Returns results that fit a budget together. The largest are shortened first, to one size, so that small ones stay whole.
 * What is left of a result is its beginning, then a note, with the handle if there is one. Pictures and sounds stay. `answers`
 * does it; a format that pairs results itself needs it.
 *
 * @param results All results of a turn.
 * @param budget The most tokens of all together. `undefined`: no limit.
 * @throws `E_INVALID_CONFIGURATION` if the budget is not a number of tokens.
 * @example
 * ```ts
 * import type { ToolResult } from 'toolwright'
 * import { shortened } from 'toolwright/formats/kit'
 *
 * const fit = (results: readonly ToolResult[]): readonly ToolResult[] => shortened(results, { tokens: 8_000 })
 * ```
 * @experimental
 */
export function shortened(results: readonly ToolResult[], budget: TurnBudget | undefined): readonly ToolResult[] {
  if (budget === undefined) return results
  const { tokens, estimateTokens = quarterOfBytes } = budget
  if (!Number.isSafeInteger(tokens) || tokens < 1) {
    throw new InvalidConfigurationError('`tokens` of a budget must be a whole number of at least 1.')
  }
  const texts = results.map(({ content }) => content.map(blockText).join('\n'))
  const sizes = texts.map(estimateTokens)
  const most = fairShare(sizes, tokens)
  return results.map((result, index) => {
    const text = texts[index]!
    if (sizes[index]! <= most) return result
    const media = result.content.filter(({ type }) => type === 'image' || type === 'audio')
    return { ...result, content: [{ type: 'text', text: cutText(text, most, result, estimateTokens) }, ...media] }
  })
}

/** Returns the size to which each size is cut, so that the sum fits: sizes below it stay as they are. */
function fairShare(sizes: readonly number[], tokens: number): number {
  let left = tokens
  let count = sizes.length
  for (const size of sizes.toSorted((a, b) => a - b)) {
    if (size * count > left) return Math.floor(left / count)
    left -= size
    count--
  }
  return Infinity
}

function cutText(text: string, most: number, { handle }: ToolResult, estimate: (text: string) => number): string {
  // A preview ends with a note that has the handle and says how to read on.
  const tail = handle === undefined ? -1 : text.lastIndexOf('\n…\n')
  const body = tail > 0 ? text.slice(0, tail) : text
  const handleNote = handle === undefined ? '' : ` All of it is kept as ${handle}.`
  const note =
    tail > 0
      ? text.slice(tail)
      : `\n…\n(Shortened to fit this turn, from ${text.length.toLocaleString('en')} characters.${handleNote})`
  let length = body.length
  for (let size = estimate(body + note); size > most && length > 0; size = estimate(body.slice(0, length) + note)) {
    length = Math.floor(length * Math.min(0.95, most / size))
  }
  const start = body.slice(0, length).replace(/[\ud800-\udbff]$/, '')
  return tail > 0 && start !== body ? `${start}\n(Shortened to fit this turn.)${note}` : start + note
}

function blockText(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  if (block.type === 'image' || block.type === 'audio') return ''
  return block.type === 'json' ? (block.text ?? JSON.stringify(block.data) ?? 'null') : JSON.stringify(block)
}

function quarterOfBytes(text: string): number {
  return Math.ceil(new TextEncoder().encode(text).byteLength / 4)
}
