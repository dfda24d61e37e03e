import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const packages = join(import.meta.dirname, 'npm', 'node_modules')

/** Why the documents are not there, if they are not. */
export const missing: string | undefined = existsSync(join(packages, '@octokit/openapi'))
  ? undefined
  : 'npm ci --omit=optional --prefix tests/imports/npm'
if (missing !== undefined) console.warn(`The documents of APIs are not read: ${missing}`)

const apis = [
  '@octokit/openapi/generated/api.github.com.json',
  '@octokit/openapi/generated/ghes-3.17.json',
  '@directus/specs/dist/openapi.json',
  '@blockfrost/openapi/openapi.yaml',
  '@figma/rest-api-spec/openapi/openapi.yaml',
  '@ideal-postcodes/openapi/dist/openapi.json',
]

/** The documents, by their places: those of six APIs, and samples of 3.0 and 3.1. */
export const documents: readonly string[] =
  missing === undefined
    ? [...apis, ...globSync('@readme/oas-examples/3.*/json/*.json', { cwd: packages }).toSorted()]
    : []

export function textOf(document: string): string {
  return readFileSync(join(packages, document), 'utf8')
}

export type Node = Record<string, unknown>

export function parsed(document: string): Node {
  const text = textOf(document)
  return (document.endsWith('.json') ? JSON.parse(text) : parse(text)) as Node
}

/** Returns a module of the packages. */
export async function load(name: string): Promise<Node> {
  return (await import(join(packages, name))) as Node
}

/** Returns a credential for each scheme of a document but those of the transport, which `fetch` brings. */
export function authOf(document: Node): Record<string, () => string> {
  const { securitySchemes = {} } = (document['components'] ?? {}) as { securitySchemes?: Record<string, Node> }
  return Object.fromEntries(
    Object.entries(securitySchemes).flatMap(([name, { type }]) =>
      type === 'mutualTLS' ? [] : [[name, () => 'p455word-1234'] as const],
    ),
  )
}
