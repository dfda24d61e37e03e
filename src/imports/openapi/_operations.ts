import {
  entriesOf,
  isNode,
  listMember,
  memberOf,
  OperationFault,
  documentLine,
  documentText,
  resolved,
  textMember,
} from './_document.ts'
import type { ApiDocument, DocumentNode } from './_document.ts'
import type { ApiOperation } from './_options.ts'
import { alternativesOf } from './_security.ts'

const httpMethods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options']
const longestSummary = 1_024

/** An operation as it stands in a document. */
export interface FoundOperation {
  readonly operation: ApiOperation
  readonly item: DocumentNode
  readonly node: DocumentNode
}

/** Returns the operations of a document. One that cannot be read is told to `omit`. */
export function operationsOf({ root }: ApiDocument, omit: (key: string, why: string) => void): FoundOperation[] {
  const found: FoundOperation[] = []
  for (const [path, entry] of entriesOf(root, 'paths')) {
    if (!path.startsWith('/')) continue
    try {
      const item = resolved(root, entry)
      if (!isNode(item)) throw new OperationFault('its path item is not an object')
      for (const method of httpMethods) {
        if (!Object.hasOwn(item, method)) continue
        const node = item[method]
        const key = `${method.toUpperCase()} ${path}`
        if (isNode(node)) found.push({ operation: operationOf(root, key, path, method, node), item, node })
        else omit(key, 'it is not an object')
      }
      for (const method of ['query', 'additionalOperations']) {
        if (Object.hasOwn(item, method)) omit(`${method.toUpperCase()} ${path}`, 'its method is not known here')
      }
    } catch (error) {
      omit(documentText(path), faultWords(error))
    }
  }
  return found
}

function operationOf(root: DocumentNode, key: string, path: string, method: string, node: DocumentNode): ApiOperation {
  const [id, summary] = [textMember(node, 'operationId'), textMember(node, 'summary')]
  return Object.freeze({
    key: documentText(key),
    ...(id === undefined ? undefined : { id }),
    method: method.toUpperCase(),
    path,
    tags: listMember(node, 'tags').filter((tag) => typeof tag === 'string'),
    ...(summary === undefined ? undefined : { summary: documentText(summary.slice(0, longestSummary)) }),
    deprecated: memberOf(node, 'deprecated') === true,
    security: [...new Set(alternativesOf(root, node).flatMap(Object.keys))],
  })
}

/** Whether a method only reads. */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

/** Whether a text can be the name of a header. */
export function isHeaderName(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text)
}

/** Returns where a value of a request stands, such as `query api_key`. Names of headers are read in any case. */
export function requestPlace(place: string, name: string): string {
  const isHeader = place === 'header' || place === 'bearer' || place === 'basic'
  return isHeader ? `header ${name.toLowerCase()}` : `${place} ${name}`
}

/** Whether this version of OpenAPI joins what a label has by commas. Its tables said dots until 3.0.3 and 3.1.0. */
export function joinsLabelsByCommas({ version: [, minor, patch] }: ApiDocument): boolean {
  return minor === 0 ? patch >= 4 : minor > 1 || patch >= 1
}

/** Returns why an operation gives no tool. */
export function faultWords(error: unknown): string {
  try {
    return documentLine(error instanceof Error ? error.message : String(error), 500).replace(/\.$/, '')
  } catch {
    return 'it cannot be read'
  }
}
