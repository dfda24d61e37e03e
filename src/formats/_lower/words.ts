import { text } from '../_read.ts'
import { keywordOf } from './keywords.ts'
import { fieldsOf, type Schema } from './schema.ts'

/** Returns a keyword as a sentence, or the empty string if there is nothing to say. */
export function sentenceOf(keyword: string, content: unknown): string {
  const { of = 'annotation', sentence } = keywordOf(keyword) ?? {}
  if (keyword === 'dependentRequired') {
    const needs = Object.entries(fieldsOf(content)).map(
      ([name, others]) => `With ${name}, also ${(others as readonly string[]).join(', ')}.`,
    )
    return shorten(needs.join(' '))
  }
  const said = sentence || (of === 'annotation' ? '' : `${keyword}: %.`)
  if (!said.includes('%')) return content === true ? said : ''
  const json = JSON.stringify(content)
  if (keyword === 'propertyNames' && json === '{"type":"string"}') return ''
  const words = shorten(/^(?:pattern|format)$/.test(keyword) ? String(content) : json)
  return (content === 1 ? said.replace(/s\.$/, '.') : said).replace('%', () => words)
}

/** Returns a sentence that lists the only values. */
export function valuesSentence(values: readonly unknown[]): string {
  const said = shorten(values.map((value) => JSON.stringify(value)).join(', '))
  return `Must be ${values.length === 1 ? '' : 'one of '}${said}.`
}

/** Returns the alternatives of a union that only refines the fields beside it. */
export function alternativesSentence(keyword: string, choices: readonly Schema[]): string {
  const isPlain = choices.every(({ required, ...others }) => required && Object.keys(others).length === 0)
  if (!isPlain) return sentenceOf(keyword, choices)
  const listed = choices.map(({ required = [] }) => required.join(' and ')).join(', ')
  return shorten(`Give ${keyword === 'anyOf' ? 'at least' : 'exactly'} one of: ${listed}.`)
}

/** Returns a description with sentences after it, each once. */
export function describe(description: unknown, ...words: readonly unknown[]): string {
  const own = text(description)
  const said = new Set(words.map(text).filter((word) => word !== ''))
  if (said.size === 0) return own
  return [own.replace(/[^.!?:;\s]\s*$/u, '$&.'), ...said].filter((part) => part !== '').join(' ')
}

/** Returns text of at most 300 characters. */
function shorten(long: string): string {
  return long.length > 300 ? `${long.slice(0, 300).replace(/[\ud800-\udbff]$/, '')}…` : long
}
