import { aiSdk } from '../formats/ai-sdk.ts'
import { anthropic } from '../formats/anthropic.ts'
import { gemini } from '../formats/gemini.ts'
import { mcp } from '../formats/mcp.ts'
import { openai } from '../formats/openai.ts'
import { openaiResponses } from '../formats/openai-responses.ts'
import type { Format } from '../index.ts'
import { UsageError } from './arguments.ts'

const formats: readonly Format[] = [anthropic(), openai(), openaiResponses(), gemini(), aiSdk(), mcp()]
const known: string = formats.map(({ name }) => name).join(', ')

/** What `--help` says of `--format`. */
export const formatHelp: string = `--format NAME     one of ${known}`

/** The format of a name. @throws {UsageError} Where there is none. */
export function formatNamed(name: string): Format {
  const format = formats.find((one) => one.name === name)
  if (format === undefined) throw new UsageError(`There is no format "${name}". Known are ${known}.`)
  return format
}

/** The format that a message is written in. @throws {UsageError} Where no format knows it. */
export function formatOf(message: unknown): Format {
  const format = formats.find((one) => one.detect(message))
  if (format !== undefined) return format
  throw new UsageError(`The message is in no format that is known here. Name its format with --format: ${known}.`)
}
