import { isJsonType } from './_bodies.ts'
import { entriesOf, memberOf, resolved, resolvedOrNone, type DocumentNode } from './_document.ts'
import { isHeaderName } from './_operations.ts'

/** Returns the answer that an operation declares for a status. */
export function declaredAnswer(root: DocumentNode, node: DocumentNode, status: number): unknown {
  const responses = memberOf(node, 'responses')
  const range = `${Math.floor(status / 100)}XX`
  const found = [String(status), range, range.toLowerCase(), 'default'].find(
    (key) => memberOf(responses, key) !== undefined,
  )
  return found === undefined ? undefined : resolved(root, memberOf(responses, found))
}

const usualHeaders = ['link', 'location', 'retry-after', 'etag', 'content-range', 'x-next-page', 'x-total-count']

/** Returns a function that gives the names of the headers that a model is told with a status: those that are declared, and some more. */
export function shownHeaders(root: DocumentNode, node: DocumentNode): (status: number) => readonly string[] {
  const namesOfStatus = new Map<number, readonly string[]>()
  return (status) => {
    let names = namesOfStatus.get(status)
    if (names === undefined) {
      names = [...new Set([...declaredHeaders(root, node, status), ...usualHeaders])]
      namesOfStatus.set(status, names)
    }
    return names
  }
}

/** Returns the headers that an operation declares for a status. A document that is wrong about them ends no call. */
function declaredHeaders(root: DocumentNode, node: DocumentNode, status: number): string[] {
  try {
    const names = entriesOf(declaredAnswer(root, node, status), 'headers').map(([name]) => name.toLowerCase())
    return names.filter((name) => isHeaderName(name) && name !== 'set-cookie')
  } catch {
    return []
  }
}

/** Returns the schema of a declared answer of JSON. */
export function jsonSchemaOfAnswer(answer: unknown): unknown {
  const media = entriesOf(answer, 'content').find(([type]) => isJsonType(type))
  return media === undefined ? undefined : memberOf(media[1], 'schema')
}

/** Returns the header `Accept` of an operation: its types of JSON, if it declares one. */
export function acceptOf(root: DocumentNode, node: DocumentNode): string {
  const types = entriesOf(node, 'responses').flatMap(([status, answer]) => {
    return status.startsWith('2') ? entriesOf(resolvedOrNone(root, answer), 'content').map(([type]) => type.trim()) : []
  })
  const declared = [...new Set(types)].filter((type) => /^[\x20-\x7e]{3,100}$/.test(type))
  const ofJson = declared.filter(isJsonType)
  return ofJson.length > 0 ? ofJson.join(', ') : '*/*'
}
