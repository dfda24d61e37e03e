import { existsSync, readFileSync } from 'node:fs'
import process from 'node:process'
import type { ParseArgsOptionsConfig } from 'node:util'
import { isToolError, type ToolDefinition } from '../index.ts'
import { openapiTools, type OpenApiTools } from '../imports/openapi.ts'
import { listMember, readApiDocument, textMember, type ApiDocument } from '../imports/openapi/_document.ts'
import { httpUrl } from '../imports/openapi/_options.ts'
import { schemeNames } from '../imports/openapi/_security.ts'
import { UsageError, type CommandLine } from './arguments.ts'
import { note, terminalLine, thrownMessage, type Host } from './host.ts'

/** The options of every command that takes an OpenAPI document in place of a module. */
export const openApiOptions: ParseArgsOptionsConfig = {
  openapi: { type: 'string' },
  only: { type: 'string', multiple: true },
  'base-url': { type: 'string' },
  host: { type: 'string', multiple: true },
  auth: { type: 'string', multiple: true },
  'read-only': { type: 'boolean' },
}

/** The text of `--help` for them. */
export const openApiHelp: string = `\
  --openapi FILE    the operations of an OpenAPI document, of JSON or YAML, in place of a
                    module
  --only WHAT       of its operations only these: createPet, tag:pets, "GET /pets/{id}" or
                    "/pets/*" (may come several times)
  --base-url URL    the address of the API (default: the document's, if it is public)
  --host HOST       a further host that operations or redirects may lead to, such as
                    uploads.example.com (may come several times)
  --auth SCHEME=ENV the credential of a security scheme, from a variable of the environment
                    (may come several times); for a user and a password SCHEME=USER,PASSWORD
  --read-only       only operations that read: GET, HEAD and OPTIONS`

/** An OpenAPI document as tools, and what was told while they were made. */
export interface OpenedDocument extends OpenApiTools, Pick<ApiDocument, 'title' | 'apiVersion'> {
  readonly notes: readonly string[]
}

const readingMethods = ['GET', 'HEAD', 'OPTIONS']

/**
 * Returns the tools of the document that the command line names, if it names one.
 *
 * @param isCalled Whether they are called: then their credentials have to be there.
 * @throws {UsageError} if the document cannot be read, or an option is wrong.
 */
export async function openDocument(
  options: CommandLine,
  host: Host,
  isCalled = true,
): Promise<OpenedDocument | undefined> {
  const path = options.text('openapi')
  if (path === undefined) {
    const alone = ['only', 'base-url', 'host', 'auth', 'read-only'].find((name) => hasOption(options, name))
    if (alone !== undefined) throw new UsageError(`--${alone} needs --openapi.`)
    return undefined
  }
  if (/^https?:\/\//.test(path))
    throw new UsageError('--openapi takes the path of a file. Download the document first, such as with curl -O.')
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}. Give the path of an OpenAPI document.`)
  const notes: string[] = []
  const only = options.texts('only')
  const report = (error: unknown): void =>
    void notes.push(terminalLine(commandWords(isToolError(error) ? error.message : thrownMessage(error))))
  const open = async (): Promise<OpenedDocument> => {
    const document = await readApiDocument(readFileSync(path, 'utf8'), Infinity)
    const { title, apiVersion, root } = document
    const baseUrl = options.text('base-url') ?? (isCalled ? undefined : addressWithoutCalls(document))
    const auth = isCalled ? credentialsFromEnvironment(options) : anyCredentials(document)
    const api = await openapiTools(root, {
      auth,
      report,
      fetch,
      hosts: options.texts('host'),
      ...(only.length > 0 && { only }),
      ...(baseUrl !== undefined && { baseUrl }),
    })
    return { ...api, notes, title, apiVersion }
  }
  const api = await open().catch((error: unknown) => {
    throw isToolError(error) ? new UsageError(commandWords(error.message)) : error
  })
  if (isCalled) tellNotes(notes, host)
  if (isCalled && api.tools().length === 0) note(host, withoutTools)
  if (!options.flag('read-only')) return api
  const isReading = (index: number): boolean => readingMethods.includes(api.operations[index]?.method ?? '')
  const tools = api.tools().filter((_, index) => isReading(index))
  return { ...api, tools: () => tools, operations: api.operations.filter((_, index) => isReading(index)) }
}

const withoutTools = 'No operation of the document becomes a tool.'
const mostNotes = 10

/** Tells what was left out, mended or cut: the beginning, since a large document has much of it. */
export function tellNotes(notes: readonly string[], host: Host): void {
  for (const line of notes.slice(0, mostNotes)) note(host, line)
  const rest = notes.length - mostNotes
  if (rest > 0) note(host, `${rest} more such lines: toolwright check with this document has all.`)
}

/** Returns a message with the options of the command in place of those of the function. */
function commandWords(message: string): string {
  const words: Readonly<Record<string, string>> = {
    openapiTools: 'The command',
    baseUrl: '--base-url',
    only: '--only',
    auth: '--auth',
  }
  return message
    .replace(/`hosts: \["([^"`]+)"\]`/, '--host $1')
    .replace(/`(openapiTools|baseUrl|only|auth)`(?! in )/g, (quoted, name: string) => words[name] ?? quoted)
}

function hasOption(options: CommandLine, name: string): boolean {
  return options.text(name) !== undefined || options.texts(name).length > 0 || options.flag(name)
}

/** Returns what makes the credentials: from the environment, since others see the command line. */
function credentialsFromEnvironment(options: CommandLine): Record<string, () => { value: string; username?: string }> {
  return Object.fromEntries(
    options.texts('auth').map((text) => {
      const [, scheme = '', first = '', second] = /^([^=]+)=([A-Za-z_]\w*)(?:,([A-Za-z_]\w*))?$/.exec(text) ?? []
      // The text itself is not repeated: it may be a token that was given by mistake.
      if (scheme === '')
        throw new UsageError('--auth takes the name of a scheme and of a variable, as token=API_TOKEN.')
      const value = variable(second ?? first)
      return [scheme, () => (second === undefined ? { value } : { value, username: variable(first) })]
    }),
  )
}

function variable(name: string): string {
  const value = process.env[name]
  if (value !== undefined && value !== '') return value
  throw new UsageError(`The environment has no variable ${name}, which --auth names.`)
}

/** Returns an address that credentials may go to, since nothing is called: the document's, if it can be one. */
function addressWithoutCalls({ root }: ApiDocument): string {
  const address = httpUrl(textMember(listMember(root, 'servers')[0], 'url'))
  return address?.protocol === 'https:' ? address.href : 'https://api.invalid'
}

/** Returns a credential for each scheme, since nothing is called. */
function anyCredentials(document: ApiDocument): Record<string, () => string> {
  return Object.fromEntries(schemeNames(document).map((name) => [name, () => '']))
}

/** How many tools fit into one request of most providers. */
const mostInRequest = 128
const mostTags = 10
const wordsOfChange =
  /\b(?:add|approve|archive|cancel|charge|close|create|delete|disable|edit|enable|pay|post|publish|purge|remove|reset|revoke|send|set|start|stop|submit|trigger|update)\b/i

/** Returns what the document gives: a line for each tool, what is left out, mended and cut, and what to look at. */
export function documentPage(document: OpenedDocument): string {
  const { operations, omitted, notes } = document
  const all = document.tools()
  const lines = all.map((tool, index) => {
    const { key = '', security = [] } = operations[index] ?? {}
    return `${tool.name}  ${key}  ${traitWords(tool) || '–'}  ${security.join(', ') || '–'}`
  })
  const deceiving = operations.filter(({ method, id = '', summary = '' }) => {
    const words = `${id.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_/.-]/g, ' ')} ${summary}`
    return readingMethods.includes(method) && wordsOfChange.test(words)
  })
  const sections: [string, readonly string[]][] = [
    ['', lines.length > 0 ? lines : [withoutTools]],
    ['left out:', omitted.map(({ operation, why }) => `${operation}: ${commandWords(why)}`)],
    ['mended or cut:', notes.filter((line) => !line.includes(' is left out: '))],
    [
      'read by their method, and speak of a change: set their traits in code',
      deceiving.map(({ key, summary = '' }) => `${key} ${summary}`),
    ],
    ['', tooManyLines(all.length, operations)],
  ]
  const texts = sections.flatMap(([title, list]) =>
    list.length === 0
      ? []
      : [
          [
            ...(title === '' ? [] : [title]),
            ...list.map((line) => `${title === '' ? '' : '  '}${terminalLine(line)}`),
          ].join('\n'),
        ],
  )
  return `${texts.join('\n\n')}\n`
}

function traitWords({ traits }: ToolDefinition): string {
  return Object.entries(traits)
    .flatMap(([trait, holds]) => (holds && trait !== 'concurrent' && trait !== 'openWorld' ? trait : []))
    .join(',')
}

function tooManyLines(count: number, operations: OpenApiTools['operations']): string[] {
  if (count <= mostInRequest) return []
  const tags = new Map<string, number>()
  for (const tag of operations.flatMap((operation) => operation.tags)) tags.set(tag, (tags.get(tag) ?? 0) + 1)
  const largest = [...tags].toSorted(([, one], [, other]) => other - one).slice(0, mostTags)
  const words = `${count.toLocaleString('en')} tools are too many for one request: choose with --only.`
  return largest.length === 0
    ? [words]
    : [`${words} The largest tags: ${largest.map(([tag, size]) => `tag:${tag} (${size})`).join(', ')}.`]
}
