// What a model was told: kept on a tape, or found again by its outcome.
import { createHash } from 'node:crypto'
import type { ContentBlock, ToolResult } from '../../index.ts'
import { readText } from '../../kernel/json/json-text.ts'
import { encodeResult } from '../../kernel/result/encode.ts'
import { isMasked, type CurrentCall } from './_current.ts'
import { differenceLines, jsonDifferences } from './_differences.ts'
import type { TapeFiles } from './_files.ts'
import { recordedValue } from './_outcome.ts'
import type { RecordedCall } from './_recorded.ts'

/** Content of up to so many characters is written out, since a digest would not be shorter. */
const shortContent = 64

/** What keeping content needs of a tape. */
interface Telling {
  readonly files: TapeFiles
  readonly redact: ((text: string) => string) | undefined
}

/** Writes what the model was told into a line. If the outcome gives it back, a digest is enough. */
export function keepContent({ line, redactor }: CurrentCall, result: ToolResult, { files, redact }: Telling): void {
  const { content } = result
  if (isMasked(line)) return // a replay has another text, size and handle
  const plain = JSON.stringify(content)
  const text = redactor === undefined ? plain : redactor.text(plain)
  const isGivenBack = text.length > shortContent && redact === undefined && text === contentText(line, files)
  if (isGivenBack || text.includes('"__proto__"')) {
    line.digest = digestOfText(text)
  } else line.content = readText(text) as readonly ContentBlock[]
}

/** Returns the content that the last outcome of a call gives, as JSON. */
function contentText({ attempts }: RecordedCall, files: TapeFiles): string | undefined {
  const outcome = attempts.at(-1)?.outcome
  try {
    const returned = outcome && recordedValue(outcome, files)
    return returned && JSON.stringify(encodeResult(returned.value).blocks)
  } catch {
    return undefined
  }
}

/** Returns what the model was told, if the tape has it or gives it back. */
export function recordedContent(call: RecordedCall, files: TapeFiles): readonly ContentBlock[] | undefined {
  if (call.content !== undefined) return call.content
  const text = call.digest === undefined ? undefined : contentText(call, files)
  return text === undefined ? undefined : (readText(text) as readonly ContentBlock[])
}

/** Returns what the model is told differently, in words. */
export function contentChange(
  before: RecordedCall,
  { content }: ToolResult,
  { files, redact = unchangedText }: Telling,
): string | undefined {
  if (before.content === undefined && before.digest === undefined) return undefined
  const now = JSON.stringify(content)
  const after = redact(now)
  if (before.digest !== undefined && before.digest === digestOfText(after)) return undefined
  const then = before.content === undefined ? contentText(before, files) : redact(JSON.stringify(before.content))
  if (then === after) return undefined
  const lines = then === undefined ? '' : differenceLines(jsonDifferences(readText(then), readText(now)))
  return lines === '' ? 'the model is told another text' : `the model is told something else:\n${lines}`
}

function unchangedText(text: string): string {
  return text
}

function digestOfText(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
