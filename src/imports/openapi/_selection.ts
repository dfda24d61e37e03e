import { optionsError } from '../../extension.ts'
import { quotedFromDocument } from './_document.ts'
import type { FoundOperation } from './_operations.ts'
import type { ApiOperation, ApiSettings } from './_options.ts'

/**
 * Returns the operations that `only` takes.
 *
 * @throws `E_INVALID_CONFIGURATION` if an option names an operation that is nowhere: nothing is ignored in silence.
 */
export function selectedOperations(
  found: readonly FoundOperation[],
  { only, rename, tools }: ApiSettings,
): readonly FoundOperation[] {
  const knownNames = new Set(found.flatMap(({ operation: { id = '', key } }) => [id, key]))
  for (const [option, record] of Object.entries({ rename, tools })) {
    const names = typeof record === 'object' ? Object.keys(record) : []
    for (const name of names) if (!knownNames.has(name)) throw strangerError(option, name, found)
  }
  if (only === undefined) return found
  if (typeof only === 'function') return found.filter(({ operation }) => only(operation))
  if (only.length === 0 && found.length > 0) throw optionsError('openapiTools', 'takes no operation: `only` is empty')
  const selected = new Set<FoundOperation>()
  for (const pattern of only) {
    const matching = found.filter(({ operation }) => isSelectedBy(operation, pattern))
    if (matching.length === 0) throw strangerError('only', pattern, found)
    for (const each of matching) selected.add(each)
  }
  return found.filter((each) => selected.has(each))
}

function isSelectedBy({ id, key, path, tags }: ApiOperation, pattern: string): boolean {
  if (pattern.startsWith('tag:') && tags.includes(pattern.slice(4))) return true
  return [id ?? key, key, path].some((text) => fitsPattern(text, pattern))
}

/** Whether a text fits a pattern whose stars stand for any text. A document may have long texts, so each is read once. */
function fitsPattern(text: string, pattern: string): boolean {
  const [start = '', ...parts] = pattern.split('*')
  const end = parts.pop()
  if (end === undefined) return text === pattern
  const stop = text.length - end.length
  let at = start.length
  if (at > stop || !text.startsWith(start) || !text.endsWith(end)) return false
  return parts.every((part) => {
    const place = text.indexOf(part, at)
    at = place + part.length
    return place >= 0 && at <= stop
  })
}

/** Makes the error for a name that nothing has, with those that are most like it. */
function strangerError(option: string, name: string, found: readonly FoundOperation[]): Error {
  const isTag = name.startsWith('tag:')
  const names = found.flatMap(({ operation: { id, key, tags } }) =>
    isTag ? tags.map((tag) => `tag:${tag}`) : [id ?? key, key],
  )
  const own = bigramsOf(name)
  const likeness = (other: string): number => {
    const others = bigramsOf(other)
    return [...own].filter((pair) => others.has(pair)).length / Math.max(1, own.size + others.size)
  }
  const near = [...new Set(names)].map((each) => [likeness(each), each] as const).filter(([like]) => like > 0.1)
  const best = near.toSorted(([one], [other]) => other - one).slice(0, 3)
  const advice = best.length === 0 ? '' : `; there is ${best.map(([, each]) => quotedFromDocument(each)).join(', ')}`
  return optionsError('openapiTools', `finds no operation for ${quotedFromDocument(name)} of \`${option}\`${advice}`)
}

/** Returns the pairs of characters that stand beside each other in a text. */
function bigramsOf(text: string): Set<string> {
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2).toLowerCase()))
}
