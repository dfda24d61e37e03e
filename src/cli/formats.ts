import { aiSdk } from '../formats/ai-sdk.ts'
import { anthropic } from '../formats/anthropic.ts'
import { gemini } from '../formats/gemini.ts'
import { mcp } from '../formats/mcp.ts'
import { openai } from '../formats/openai.ts'
import { openaiResponses } from '../formats/openai-responses.ts'
import type { Format } from '../index.ts'
import { UsageError } from './arguments.ts'
import { note, wordsOf, type Host } from './host.ts'

interface MakeOptions {
  readonly report: (error: unknown) => void
  readonly strict?: boolean
}
type MakeFormat = (options: MakeOptions) => Format

/** The formats by name, in the order in which they try to detect a message. */
const makers = new Map<string, MakeFormat>([
  ['anthropic', anthropic],
  ['openai', openai],
  ['openai-responses', openaiResponses],
  ['gemini', ({ report }) => gemini({ report })],
  ['ai-sdk', aiSdk],
  ['ai-sdk@6', (options) => aiSdk({ ...options, version: 6 })],
  ['ai-sdk@5', (options) => aiSdk({ ...options, version: 5 })],
  ['mcp', mcp],
  ['gemini@openapi', ({ report }) => gemini({ report, parameters: 'openapi' })],
  ['openai@groq', (options) => openai({ ...options, dialect: 'groq' })],
  ['openai@mistral', (options) => openai({ ...options, dialect: 'mistral' })],
  ['openai@xai', (options) => openai({ ...options, dialect: 'xai' })],
])
const known: string = [...makers.keys()].join(', ')

/** The text of `--help` for `--format`. */
export const formatHelp = `\
--format NAME     one of anthropic, openai, openai-responses, gemini, mcp, ai-sdk
                    (of version 7), ai-sdk@6, ai-sdk@5, gemini@openapi, openai@groq,
                    openai@mistral, openai@xai`

/** Returns the format with a name. It reports on stderr what it leaves out. `strict`: tools are strict if they can be. @throws {UsageError} if there is none. */
export function formatNamed(name: string, host: Host, strict = false): Format {
  const make = makers.get(name)
  if (make === undefined) throw new UsageError(`There is no format "${name}". Known are ${known}.`)
  return make({ report: (error) => note(host, wordsOf(error)), ...(strict ? { strict } : undefined) })
}

/** Returns the format of a message. @throws {UsageError} if no format detects it. */
export function formatOf(message: unknown, host: Host): Format {
  for (const name of makers.keys()) {
    const format = formatNamed(name, host)
    if (format.detect(message)) return format
  }
  throw new UsageError(`The format of the message is unknown. Name it with --format: ${known}.`)
}
