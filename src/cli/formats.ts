import { aiSdk } from '../formats/ai-sdk.ts'
import { anthropic } from '../formats/anthropic.ts'
import { gemini } from '../formats/gemini.ts'
import { mcp } from '../formats/mcp.ts'
import { openai } from '../formats/openai.ts'
import { openaiResponses } from '../formats/openai-responses.ts'
import type { Format } from '../index.ts'
import { UsageError } from './arguments.ts'
import { note, wordsOf, type Host } from './host.ts'

type MakeFormat = (options: { readonly report: (error: unknown) => void }) => Format

/** The formats by name, in the order in which they are asked whether a message is theirs. */
const makers = new Map<string, MakeFormat>([
  ['anthropic', anthropic],
  ['openai', openai],
  ['openai-responses', openaiResponses],
  ['gemini', gemini],
  ['ai-sdk', aiSdk],
  ['ai-sdk@6', (options) => aiSdk({ ...options, version: 6 })],
  ['ai-sdk@5', (options) => aiSdk({ ...options, version: 5 })],
  ['mcp', mcp],
])
const known: string = [...makers.keys()].join(', ')

/** What `--help` says of `--format`. */
export const formatHelp = `\
--format NAME     one of anthropic, openai, openai-responses, gemini, mcp, ai-sdk
                    (of version 7), ai-sdk@6, ai-sdk@5`

/** The format of a name; on stderr it says what it leaves out. @throws {UsageError} If there is none. */
export function formatNamed(name: string, host: Host): Format {
  const make = makers.get(name)
  if (make === undefined) throw new UsageError(`There is no format "${name}". Known are ${known}.`)
  return make({ report: (error) => note(host, wordsOf(error)) })
}

/** The format that a message is written in. @throws {UsageError} If no format knows it. */
export function formatOf(message: unknown, host: Host): Format {
  for (const name of makers.keys()) {
    const format = formatNamed(name, host)
    if (format.detect(message)) return format
  }
  throw new UsageError(`The message is in no format that is known here. Name its format with --format: ${known}.`)
}
