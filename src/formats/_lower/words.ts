import type { Node } from './schema.ts'

/** Sentences for the description, of keywords that a dialect has not. */
const sentences = new Map<string, (content: never) => string>(
  Object.entries({
    minimum: (least: number) => `At least ${least}.`,
    maximum: (most: number) => `At most ${most}.`,
    exclusiveMinimum: (bound: number) => `More than ${bound}.`,
    exclusiveMaximum: (bound: number) => `Less than ${bound}.`,
    multipleOf: (factor: number) => `A multiple of ${factor}.`,
    minLength: (least: number) => `At least ${count(least, 'character')}.`,
    maxLength: (most: number) => `At most ${count(most, 'character')}.`,
    pattern: (pattern: string) => `Matches /${shorten(pattern)}/.`,
    format: (format: string) => `Format: ${shorten(format)}.`,
    minItems: (least: number) => `At least ${count(least, 'item')}.`,
    maxItems: (most: number) => `At most ${count(most, 'item')}.`,
    uniqueItems: (isUnique: boolean) => (isUnique ? 'No item twice.' : ''),
    contains: (item: unknown) => `Contains an item that fits ${short(item)}.`,
    minProperties: (least: number) => `At least ${count(least, 'field')}.`,
    maxProperties: (most: number) => `At most ${count(most, 'field')}.`,
    propertyNames: (names: unknown) => (short(names) === '{"type":"string"}' ? '' : `Field names fit ${short(names)}.`),
    dependentRequired: (needs: Readonly<Record<string, readonly string[]>>) =>
      shorten(
        Object.entries(needs)
          .map(([name, others]) => `With ${name}, also ${others.join(', ')}.`)
          .join(' '),
      ),
    default: (value: unknown) => `Default: ${short(value)}.`,
    examples: (values: unknown) => `Examples: ${short(values)}.`,
    deprecated: (isDeprecated: unknown) => (isDeprecated === true ? 'Deprecated.' : ''),
    contentEncoding: (encoding: unknown) => `Encoding: ${short(encoding)}.`,
    contentMediaType: (type: unknown) => `Media type: ${short(type)}.`,
  } satisfies Record<string, (content: never) => string>),
)

/** Constraints without a sentence of their own: their JSON is the sentence. Other keywords constrain nothing. */
const constraints = new Set(
  (
    'anyOf oneOf allOf not if then else dependentSchemas dependencies patternProperties additionalProperties properties ' +
    'required items prefixItems unevaluatedItems unevaluatedProperties minContains maxContains contentSchema'
  ).split(' '),
)

/** Returns a keyword as a sentence, or the empty string if there is nothing to say. */
export function sentenceOf(keyword: string, content: unknown): string {
  const sentence = sentences.get(keyword)
  if (sentence !== undefined) return sentence(content as never)
  return constraints.has(keyword) ? `${keyword}: ${short(content)}.` : ''
}

/** Returns a sentence that lists the only values. */
export function valuesSentence(values: readonly unknown[]): string {
  const said = shorten(values.map((value) => JSON.stringify(value)).join(', '))
  return values.length === 1 ? `Must be ${said}.` : `Must be one of ${said}.`
}

/** Returns the alternatives of a union that only refines the fields beside it. */
export function alternativesSentence(keyword: string, choices: readonly Node[]): string {
  const isPlain = choices.every((choice) => Object.keys(choice).length === 1 && Array.isArray(choice['required']))
  if (keyword === 'allOf' || !isPlain) return `${keyword}: ${short(choices)}.`
  const listed = choices.map((choice) => (choice['required'] as readonly string[]).join(' and ')).join(', ')
  return shorten(`Give ${keyword === 'anyOf' ? 'at least' : 'exactly'} one of: ${listed}.`)
}

/** Returns a description with sentences after it. */
export function describe(description: unknown, words: readonly string[]): string {
  const said = words.filter((word) => word !== '')
  const own = typeof description === 'string' ? description : ''
  return [said.length > 0 ? own.replace(/[^.!?:;\s]\s*$/u, '$&.') : own, ...new Set(said)]
    .filter((part) => part !== '')
    .join(' ')
}

/** Returns a value as JSON of at most 300 characters. */
function short(value: unknown): string {
  return shorten(JSON.stringify(value) ?? '')
}

function shorten(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300).replace(/[\ud800-\udbff]$/, '')}…` : text
}

function count(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? '' : 's'}`
}
