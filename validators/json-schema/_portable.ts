import type { Draft } from './_dialect.ts'
import { isKnown, walkKeywords } from './_forms.ts'
import { pointerPart, type Schema } from './_snapshot.ts'

/** Keywords that may stand beside `$ref` in draft 07, which ignores all others there. */
const besideReferences = new Set(['$schema', '$ref', '$defs', 'definitions'])

/** Returns the pointer of a keyword that two drafts read differently, or `undefined` if there is none. */
export function firstDifference(schema: Schema, own: Draft, target: Draft, at = '#'): string | undefined {
  if (own === target) return undefined
  const involvesDraft7 = own === 7 || target === 7
  for (const keyword in schema) {
    if (!isKnown(keyword, own)) continue
    const isList = keyword === 'items' && Array.isArray(schema[keyword])
    const isBesideReference = involvesDraft7 && '$ref' in schema && !besideReferences.has(keyword)
    const isLocalId = involvesDraft7 && keyword === '$id' && String(schema['$id']).startsWith('#')
    if (isBesideReference || isLocalId || !isKnown(keyword, target) || (isList && (own === 2020 || target === 2020))) {
      return at + pointerPart(keyword)
    }
  }
  let found: string | undefined
  walkKeywords(schema, own, at, (child, childAt) => {
    found ??= firstDifference(child, own, target, childAt)
  })
  return found
}
