import { parseJson } from '../index.ts'
import type { ArgsStep } from './args.ts'

/** Reads a text that is JSON but for a fence around it, or for commas before a closing bracket. Nothing is completed. */
export function repairText(
  text: string,
  wanted: ReadonlySet<ArgsStep>,
): { readonly value: unknown; readonly steps: readonly ArgsStep[] } | undefined {
  const steps: ArgsStep[] = []
  let json = text.trim()
  const fenced = wanted.has('fence') ? withoutFence(json) : undefined
  if (fenced !== undefined) {
    json = fenced.trim()
    steps.push('fence')
  }
  if (!/^[[{]/.test(json)) return undefined
  // A text without a fence was parsed before.
  const value = fenced === undefined ? undefined : strictJson(json)
  if (value !== undefined) return { value: value.json, steps }
  const shorter = wanted.has('trailing-comma') ? withoutTrailingCommas(json) : json
  const repaired = shorter === json ? undefined : strictJson(shorter)
  return repaired && { value: repaired.json, steps: [...steps, 'trailing-comma'] }
}

function strictJson(json: string): { readonly json: unknown } | undefined {
  try {
    return { json: parseJson(json, { limit: Infinity }) }
  } catch {
    return undefined
  }
}

/** Returns what is in a fence of Markdown that is the whole text. */
function withoutFence(text: string): string | undefined {
  const [opening = ''] = /^```(?:json)?[\t ]*\r?\n/i.exec(text) ?? []
  return opening !== '' && text.endsWith('```') ? text.slice(opening.length, -3) : undefined
}

/** Leaves out each single comma after a value and before a closing bracket, outside of strings. */
function withoutTrailingCommas(json: string): string {
  let repairedText = ''
  let from = 0
  let last = '['
  for (let index = 0; index < json.length; index++) {
    const character = json.charAt(index)
    if (character === '"') index = endOfText(json, index)
    if (character === ',' && !'[{,:'.includes(last)) {
      closingBracket.lastIndex = index + 1
      if (closingBracket.test(json)) {
        repairedText += json.slice(from, index)
        from = index + 1
      }
    }
    if (!' \t\r\n'.includes(character)) last = character
  }
  return repairedText + json.slice(from)
}

const closingBracket = /\s*[\]}]/y

/** Returns where a string that begins at an index ends. */
function endOfText(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let first = end
    while (json.charAt(first - 1) === '\\') first--
    if ((end - first) % 2 === 0) return end
  }
  return json.length
}
