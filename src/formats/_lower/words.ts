import { fieldsOf, type Node } from './schema.ts'

/** Sentences for the description, of keywords that a dialect has not. `%` stands for the content; without it, for `true`. */
const sentences = new Map(
  Object.entries({
    minimum: 'At least %.',
    maximum: 'At most %.',
    exclusiveMinimum: 'More than %.',
    exclusiveMaximum: 'Less than %.',
    multipleOf: 'A multiple of %.',
    minLength: 'At least % character.',
    maxLength: 'At most % character.',
    pattern: 'Matches /%/.',
    format: 'Format: %.',
    minItems: 'At least % item.',
    maxItems: 'At most % item.',
    uniqueItems: 'No item twice.',
    contains: 'Contains an item that fits %.',
    minProperties: 'At least % field.',
    maxProperties: 'At most % field.',
    propertyNames: 'Field names fit %.',
    default: 'Default: %.',
    examples: 'Examples: %.',
    deprecated: 'Deprecated.',
    contentEncoding: 'Encoding: %.',
    contentMediaType: 'Media type: %.',
  }),
)

/** Constraints without a sentence of their own: their JSON is the sentence. Other keywords constrain nothing. */
const constraint =
  /^(?:anyOf|oneOf|allOf|not|if|then|else|dependentSchemas|dependencies|patternProperties|additionalProperties|properties|required|items|prefixItems|unevaluatedItems|unevaluatedProperties|minContains|maxContains|contentSchema)$/

/** Returns a keyword as a sentence, or the empty string if there is nothing to say. */
export function sentenceOf(keyword: string, content: unknown): string {
  if (keyword === 'dependentRequired') {
    const needs = Object.entries(fieldsOf(content)).map(
      ([name, others]) => `With ${name}, also ${(others as unknown as string[]).join(', ')}.`,
    )
    return shorten(needs.join(' '))
  }
  const json = short(content)
  if (keyword === 'propertyNames' && json === '{"type":"string"}') return ''
  const sentence = sentences.get(keyword)
  if (sentence === undefined) return constraint.test(keyword) ? `${keyword}: ${json}.` : ''
  if (!sentence.includes('%')) return content === true ? sentence : ''
  const words = /^(?:pattern|format)$/.test(keyword) ? shorten(String(content)) : json
  return (content === 1 ? sentence : sentence.replace(/(% \w+)\.$/, '$1s.')).replace('%', () => words)
}

/** Returns a sentence that lists the only values. */
export function valuesSentence(values: readonly unknown[]): string {
  const said = shorten(values.map((value) => JSON.stringify(value)).join(', '))
  return `Must be ${values.length === 1 ? '' : 'one of '}${said}.`
}

/** Returns the alternatives of a union that only refines the fields beside it. */
export function alternativesSentence(keyword: string, choices: readonly Node[]): string {
  const isPlain = choices.every((choice) => Object.keys(choice).length === 1 && Array.isArray(choice['required']))
  if (keyword === 'allOf' || !isPlain) return `${keyword}: ${short(choices)}.`
  const listed = choices.map((choice) => (choice['required'] as readonly string[]).join(' and ')).join(', ')
  return shorten(`Give ${keyword === 'anyOf' ? 'at least' : 'exactly'} one of: ${listed}.`)
}

/** Returns a description with sentences after it, each once. */
export function describe(description: unknown, ...words: readonly string[]): string {
  const said = new Set(words.filter((word) => word !== ''))
  const own = typeof description === 'string' ? description : ''
  if (said.size === 0) return own
  return [own.replace(/[^.!?:;\s]\s*$/u, '$&.'), ...said].filter((part) => part !== '').join(' ')
}

/** Returns a value as JSON of at most 300 characters. */
function short(value: unknown): string {
  return shorten(JSON.stringify(value) ?? '')
}

function shorten(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300).replace(/[\ud800-\udbff]$/, '')}…` : text
}
