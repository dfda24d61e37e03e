import { text } from '../_read.ts'
import { keywordOf } from './keywords.ts'
import { jsonOf, hasWord, type SchemaObject } from './schema.ts'

/** Returns a keyword as a sentence, or the empty string if there is nothing to say. */
export function sentenceOf(keyword: string, content: unknown): string {
  const { of = 'annotation', sentence } = keywordOf(keyword) ?? {}
  if (keyword === 'dependentRequired') {
    const needs = Object.entries(content as Readonly<Record<string, readonly string[]>>).map(
      ([name, others]) => `With ${name}, also ${others.join(', ')}.`,
    )
    return shorten(needs.join(' '))
  }
  const template = sentence || (of === 'annotation' ? '' : `${keyword}: %.`)
  if (!template.includes('%')) return content === true ? template : ''
  const json = jsonOf(content)
  if (keyword === 'propertyNames' && json === '{"type":"string"}') return ''
  const words = shorten(hasWord('pattern format', keyword) ? (content as string) : json)
  return (content === 1 ? template.replace(/s\.$/, '.') : template).replace('%', () => words)
}

/** Returns a sentence that lists the only values. */
export function valuesSentence(values: readonly unknown[]): string {
  const listText = shorten(values.map(jsonOf).join(', '))
  return `Must be ${values.length === 1 ? '' : 'one of '}${listText}.`
}

/** Returns the alternatives of a union that only refines the fields beside it. */
export function alternativesSentence(keyword: string, choices: readonly SchemaObject[]): string {
  const isPlain = choices.every((choice) => Object.keys(choice).join() === 'required')
  if (!isPlain) return sentenceOf(keyword, choices)
  const names = choices.map(({ required = [] }) => required.join(' and ')).join(', ')
  return shorten(`Give ${keyword === 'anyOf' ? 'at least' : 'exactly'} one of: ${names}.`)
}

/** Returns a description with sentences after it, each once. */
export function descriptionWith(description: unknown, ...words: readonly unknown[]): string {
  const own = text(description)
  const sentences = new Set(words.map(text).filter((word) => word !== ''))
  if (sentences.size === 0) return own
  return (own && `${own.replace(/[^.!?:;\s]\s*$/u, '$&.')} `) + [...sentences].join(' ')
}

/** Returns text of at most 300 characters. */
function shorten(long: string): string {
  return long.length > 300 ? `${long.slice(0, 300).replace(/[\ud800-\udbff]$/, '')}…` : long
}
