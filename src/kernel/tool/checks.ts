import { isArtifactClass } from '../result/brand.ts'
import { InvalidInitialToolValueError } from '../errors.ts'
import { isJsonSchema, isObject, isStandardSchema } from '../schema/json-schema.ts'
import type { Issue } from '../schema/standard.ts'
import type { ToolHooks } from '../ports.ts'
import { ToolIntent, type ErasedConfig } from './options.ts'
import type { ToolTraits } from './traits.ts'

type Check = readonly [expected: string, holds: (value: unknown) => boolean]

const isText = (value: unknown): value is string => typeof value === 'string'
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
export const isFunction = (value: unknown): boolean => typeof value === 'function'
const isName = (value: unknown): boolean => isText(value) && /^[a-zA-Z0-9_-]{1,64}$/.test(value)

const textCheck: Check = ['a string', isText]
const flag: Check = ['true or false', isFlag]
const object: Check = ['an object', isObject]
const listCheck: Check = ['an array', Array.isArray]
const handler: Check = ['a function', isFunction]
const textOrFunction: Check = ['a string or a function', (value) => isText(value) || isFunction(value)]
/**
 * Keywords of objects, with `{` behind those whose value is one. First those that check fields, then those that may hold what looks
 * like a field. A schema of the others alone takes all args.
 */
const objectKeyword =
  /^(?:((?:\$\w*[rR]ef|enum|[a-z]+Of)$|(?:const|not|if)\b|(?:p|[a-z]+P)ropert(?:ies\{|yNames)|dependen(?:cies|t[RS]))|((?:\$\w+|default|definitions|examples?|externalDocs)\{)|x-|(?:\$\w+|type|title|description|required|examples?|[a-z]+Properties)$)/
const foundKeyword = ([name, value]: [string, unknown]): readonly string[] | null =>
  objectKeyword.exec(isObject(value) ? `${name}{` : name)
/** Whether it is raw JSON Schema, and not fields with schemas. */
const isRawSchema = (value: unknown): boolean =>
  isJsonSchema(value) && !Object.values(value).some((one) => isStandardSchema(one))
/** Says which fields stand beside the keywords of raw JSON Schema, or in place of them. A result may be no object. */
const fieldFault = (schema: unknown, isArgs: boolean): string => {
  const members = isJsonSchema(schema) ? Object.entries(schema) : []
  let fields: string[] = []
  let isSchema = members.length === 0
  for (const member of members) {
    const found = foundKeyword(member)
    if (found?.[1]) return ''
    if (found) isSchema ||= !found[2]
    else if (Object.entries(Object(member[1]) as object).some(foundKeyword)) fields.push(member[0])
  }
  const isOfObjects = isArgs || (schema as { type?: unknown } | undefined)?.type === 'object'
  if (!isOfObjects && (fields.length < members.length || /tems\b|\bcont/.test(fields.join()))) return ''
  if (!isSchema) fields = members.map(([name]) => name)
  return fields.length > 0 ? `: put ${fields.join(', ')} there` : ''
}
const schemaCheck = (isArgs: boolean): Check => [
  'a Standard Schema, such as z.object({ … }) of the fields, or a raw JSON Schema, whose fields stand in `properties`',
  (value) => isStandardSchema(value) || (isRawSchema(value) && fieldFault(value, isArgs) === ''),
]
const amountCheck = (unit: string): Check => [
  `a number of ${unit}, 0 or more`,
  (value) => typeof value === 'number' && value >= 0,
]
const isCacheable = ({ cacheable = true, cacheTTL = 0 }: { cacheable?: unknown; cacheTTL?: unknown }): boolean =>
  isFlag(cacheable) && amountCheck('')[1](cacheTTL)
const oneOfWords = (...words: string[]): Check => [
  words.map((word) => `'${word}'`).join(' or '),
  (value) => words.includes(value as string),
]
const arrayOf = (items: string, holds: Check[1], least = 0): Check => [
  `an array of ${items}`,
  (value) => Array.isArray(value) && value.length >= least && value.every(holds),
]

const membersCheck =
  (names: object, holds: Check[1]): Check[1] =>
  (value) =>
    isObject(value) && Object.entries(value).every(([name, one]) => Object.hasOwn(names, name) && holds(one))

const traitNames: Record<keyof ToolTraits, true> = {
  readonly: true,
  destructive: true,
  idempotent: true,
  openWorld: true,
  concurrent: true,
  coalesce: true,
}
const hookNames: Record<keyof ToolHooks, true> = { preToolUse: true, postToolUse: true }

const fields: Record<keyof ErasedConfig, Check> = {
  name: ['1 to 64 letters, digits, "_" or "-"', isName],
  title: textCheck,
  description: ['text that tells the model what the tool does', (value) => isText(value) && value.trim() !== ''],
  type: ['a word', (value) => isText(value) && value !== ''],
  inputSchema: schemaCheck(true),
  outputSchema: schemaCheck(false),
  jsonSchema: object,
  handler,
  artifact: [
    'a subclass of SpooledArtifact, or an arrow function that gives one',
    (value) => typeof value === 'function' && (value.prototype === undefined || isArtifactClass(value)),
  ],
  intent: oneOfWords(...Object.values(ToolIntent)),
  audience: oneOfWords('model', 'user', 'all'),
  traits: [`an object of true and false: ${Object.keys(traitNames).join(', ')}`, membersCheck(traitNames, isFlag)],
  timeout: amountCheck('milliseconds'),
  requiresConfirmation: ['true, false or a function', (value) => isFlag(value) || isFunction(value)],
  confirmationMessage: textOrFunction,
  displaySummary: textOrFunction,
  confirmationPreview: handler,
  conflicts: handler,
  effectKey: handler,
  requiresResponse: flag,
  defaultResult: listCheck,
  middleware: arrayOf('functions', isFunction),
  hooks: [
    `an object of functions called ${Object.keys(hookNames).join(' and ')}`,
    membersCheck(hookNames, (hook) => hook === undefined || isFunction(hook)),
  ],
  reconcile: handler,
  ephemeral: flag,
  trusted: flag,
  onCollision: oneOfWords('replace', 'keep', 'throw'),
  meta: object,
  metadata: [
    'an object: `cacheable` is true or false, `cacheTTL` a number of milliseconds',
    (value) => isObject(value) && isCacheable(value),
  ],
  aliases: arrayOf('names', isName),
  providerOptions: object,
  libraryOptions: object,
  mcpConfig: object,
  ui: object,
  allowedCallers: arrayOf("'model' and 'program'", (item) => item === 'model' || item === 'program', 1),
  deferLoading: flag,
  examples: listCheck,
  secrets: arrayOf('JSON Pointers such as "/password"', (item) => isText(item) && item.startsWith('/')),
  exposeErrors: flag,
  inlineLimit: amountCheck('bytes'),
}

export const fieldNames: readonly string[] = Object.keys(fields)

/** Names in other libraries for these fields. */
const otherNames = Object.entries({
  name: 'id',
  inputSchema: 'parameters input input_schema schema arguments args',
  outputSchema: 'output',
  handler: 'execute callback exec run func fn',
  artifact: 'artifactConstructor',
  requiresConfirmation: 'requireConfirmation needsApproval',
  traits: 'annotations',
})

/** What stands here for fields of other libraries that tools have not. */
const otherWays = new Map([
  ['toModelOutput', ': return `shown(text, value)` from the handler'],
  ['contextSchema', ': the handler reads `context.values`'],
])

/** Returns the issues of a tool's config, one for each wrong field. */
export function issuesOfConfig(config: unknown): Issue[] {
  if (!isObject(config))
    return [{ message: '`tool` takes { name, description, handler }, or a name and a function', path: [] }]
  const values = config as Record<string, unknown>
  const issues: Issue[] = []
  const add = (field: string, message: string): unknown => issues.push({ message, path: [field] })
  for (const [field, [expected, holds]] of Object.entries(fields)) {
    const isRequired = field === 'name' || field === 'description'
    if (values[field] === undefined ? isRequired : !holds(values[field])) {
      const fault = field.endsWith('Schema') ? fieldFault(values[field], field === 'inputSchema') : ''
      add(field, `must be ${expected}${fault}`)
    }
  }
  for (const field of Object.keys(values)) {
    if (Object.hasOwn(fields, field)) continue
    const ours = otherNames.find(([, names]) => names.split(' ').includes(field))?.[0]
    add(field, ours ? `is called \`${ours}\` here` : `is not a field of a tool${otherWays.get(field) ?? ''}`)
  }
  const { type = 'server' } = values
  if ((type === 'server' || type === 'mcp') && values['handler'] === undefined) {
    add('handler', `is required for a tool of type '${type}'`)
  }
  return issues
}

/** Makes the error for a config; the message names every wrong field. */
export function invalidConfig(config: unknown, issues: readonly Issue[]): InvalidInitialToolValueError {
  const name: unknown = isObject(config) ? (config as { name?: unknown }).name : undefined
  const which = typeof name === 'string' ? `Tool ${JSON.stringify(name.slice(0, 80))}` : 'The tool'
  const words = issues.map(({ path, message }) => (path.length === 0 ? message : `\`${String(path[0])}\` ${message}`))
  return new InvalidInitialToolValueError(`${which} cannot be made: ${words.join('; ')}.`, { issues })
}
