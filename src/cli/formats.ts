import { aiSdk } from '../formats/ai-sdk.ts'
import { anthropic } from '../formats/anthropic.ts'
import { gemini } from '../formats/gemini.ts'
import { mcp } from '../formats/mcp.ts'
import { openai } from '../formats/openai.ts'
import { openaiResponses } from '../formats/openai-responses.ts'
import { isToolError, type Format } from '../index.ts'
import { UsageError } from './arguments.ts'
import { note, thrownMessage, type Host } from './host.ts'
import type { ExportedFormat, Loaded } from './module.ts'

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

/** The text of `--help` for `--format`. */
export const formatHelp = `\
--format NAME     one of anthropic, openai, openai-responses, gemini, mcp, ai-sdk
                    (of version 7), ai-sdk@6, ai-sdk@5, gemini@openapi, openai@groq,
                    openai@mistral, openai@xai, or the name of a format that the module
                    exports, alone or in an array`

/** The formats that a command knows: those of this package, and those that the module exports. */
export interface Formats {
  /**
   * Returns the format with a name. It reports on stderr what it leaves out.
   *
   * @param strict Whether tools are strict if they can be. Default: `false`.
   * @throws {UsageError} if there is none, or the module made it and `strict` is `true`.
   */
  named(name: string, strict?: boolean): Format
  /** Returns the format of a message. Those of the module are tried first. @throws {UsageError} if no format detects it. */
  of(message: unknown): Format
}

/**
 * Returns the formats that a command knows.
 *
 * @param loaded The module. Missing if there is none.
 * @throws {UsageError} if a format of the module cannot be read, or two have one name.
 */
export function formatsWith(loaded: Pick<Loaded, 'path' | 'formats'> | undefined, host: Host): Formats {
  const { path = '' } = loaded ?? {}
  const exported = loaded?.formats() ?? []
  const own = ownFormats(exported, path)
  const formatNames = [...makers.keys()].join(', ') + (loaded === undefined ? '' : exportedNames([...own.keys()], path))
  return { named, of }

  function named(name: string, strict = false): Format {
    const format = own.get(name)
    if (format !== undefined && !strict) return format
    if (format !== undefined) {
      throw new UsageError(`--strict does not go with the format "${name}", which ${path} made. Make it strict there.`)
    }
    const make = makers.get(name)
    if (make === undefined) throw new UsageError(`There is no format "${name}". Known are ${formatNames}.`)
    const namesake = exported.find((each) => each.name === name)
    if (namesake !== undefined) {
      const what = `the built-in format ${name} is used, and not ${namesake.place} of ${path}, which has the same name`
      note(host, `${what}. Give it a name of its own to use it here.`)
    }
    return make({ report: (error) => note(host, thrownMessage(error)), ...(strict ? { strict } : undefined) })
  }

  function of(message: unknown): Format {
    for (const format of own.values()) if (format.detect(message)) return format
    for (const [name, make] of makers) if (make({ report: () => {} }).detect(message)) return named(name)
    throw new UsageError(`The format of the message is unknown. Name it with --format: ${formatNames}.`)
  }
}

function exportedNames(names: readonly string[], path: string): string {
  return names.length === 0 ? `; ${path} exports no other` : `, and of ${path}: ${names.join(', ')}`
}

/** Returns the formats of a module whose names no built-in one has. @throws {UsageError} if two have one name. */
function ownFormats(exported: readonly ExportedFormat[], path: string): ReadonlyMap<string, Format> {
  const places = new Map<string, string>()
  const own = new Map<string, Format>()
  for (const { name, place, format } of exported) {
    if (makers.has(name)) continue
    const other = places.get(name)
    if (other !== undefined) {
      throw new UsageError(
        `${path} exports two formats named ${JSON.stringify(name)}, in ${other} and in ${place}. Give each a name of its own.`,
        'E_INVALID_CONFIGURATION',
      )
    }
    places.set(name, place)
    own.set(name, guardedFormat(name, format, path))
  }
  return own
}

/** Returns a format of a module. What it throws, and what it returns that is no answer, is told in words. */
function guardedFormat(name: string, format: Format, path: string): Format {
  const guard =
    <Answer>(method: FormatMethod, isAnswer: (answer: unknown) => boolean) =>
    (...parameters: readonly unknown[]): Answer => {
      const where = `The format "${name}" of ${path} cannot go on: its "${method}"`
      let answer: unknown
      let isRight = false
      try {
        const { [method]: ask } = format
        answer = Reflect.apply(ask as (...all: readonly unknown[]) => unknown, format, parameters)
        isRight = isAnswer(answer)
      } catch (error) {
        if (isToolError(error)) throw error
        throw new UsageError(`${where} failed: ${thrownMessage(error)}.`)
      }
      if (isRight) return answer as Answer
      throw new UsageError(`${where} returned a value of type ${typeof answer} that is no ${answerKinds[method]}.`)
    }
  return {
    name,
    detect: guard('detect', (answer) => typeof answer === 'boolean'),
    definitions: guard('definitions', isJsonList),
    calls: guard('calls', Array.isArray),
    results: guard('results', isJsonAnswer),
    ...(hasReport(format) && { report: guard('report', isReports) }),
  }
}

type FormatMethod = keyof typeof answerKinds

/** What each function of a format returns. */
const answerKinds = {
  detect: 'boolean',
  definitions: 'list of JSON',
  calls: 'list of calls',
  results: 'JSON',
  report: 'list of reports',
} as const

function isJsonAnswer(answer: unknown): boolean {
  const isPromise = typeof (Object(answer) as { readonly then?: unknown }).then === 'function'
  return !isPromise && JSON.stringify(answer) !== undefined
}

function isJsonList(answer: unknown): boolean {
  return Array.isArray(answer) && isJsonAnswer(answer)
}

function isReports(answer: unknown): boolean {
  return isJsonList(answer) && (answer as unknown[]).every(isReport)
}

function isReport(report: unknown): boolean {
  const { toolName, schema, losses } = Object(report) as Readonly<Record<string, unknown>>
  return typeof toolName === 'string' && typeof schema === 'string' && Array.isArray(losses) && losses.every(isLoss)
}

function isLoss(loss: unknown): boolean {
  const { pointer, done } = Object(loss) as Readonly<Record<string, unknown>>
  return typeof pointer === 'string' && typeof done === 'string'
}

function hasReport(format: Format): boolean {
  try {
    return typeof format.report === 'function'
  } catch {
    return false // it is optional
  }
}
