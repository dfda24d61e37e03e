import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createExecutor, type ToolDefinition } from 'toolwright'
import { openapiTools } from 'toolwright/imports/openapi'
import { mcpTools } from 'toolwright/mcp/client'
import { missing as noServers, program } from '../servers/installed.ts'
import { missing as noDocuments, textOf } from '../imports/_documents.ts'

/** Why the tools of GitHub's API and of MCP servers are not there, if they are not. */
export const missing: string | undefined = noDocuments ?? noServers

/** Queries by one author, and of which tools one has to be found. */
export interface QuerySet {
  readonly name: 'own' | 'read' | 'unread' | 'models'
  readonly author: string
  readonly queries: readonly { readonly query: string; readonly tools: readonly string[] }[]
}

export const querySets: readonly QuerySet[] = (
  JSON.parse(readFileSync(join(import.meta.dirname, 'queries.json'), 'utf8')) as { readonly sets: readonly QuerySet[] }
).sets

// They list their tools without a network. No call is made, so the tokens are none.
const servers = [
  ['filesystem', 'mcp-server-filesystem', [tmpdir()], {}],
  ['everything', 'mcp-server-everything', ['stdio'], {}],
  ['github', 'mcp-server-github', [], { GITHUB_PERSONAL_ACCESS_TOKEN: 'none' }],
  ['notion', 'notion-mcp-server', [], { NOTION_TOKEN: 'none' }],
] as const

export interface RealCatalogue extends AsyncDisposable {
  readonly tools: readonly ToolDefinition[]
  /** The label of each tool by its name: the id of its operation, or `server/name`. */
  readonly labels: ReadonlyMap<string, string>
}

/** The tools of GitHub's whole API, and of four MCP servers. */
export async function realCatalogue(): Promise<RealCatalogue> {
  const ignore = (): void => {}
  const document = textOf('@octokit/openapi/generated/api.github.com.json')
  const api = await openapiTools(document, { baseUrl: 'https://api.github.com', report: ignore })
  const connections = await Promise.all(
    servers.map(([name, command, args, env]) =>
      mcpTools({
        name,
        command: process.execPath,
        args: [program(command), ...args],
        env,
        prefix: `${name}_`,
        report: ignore,
      }),
    ),
  )
  const ofApi = createExecutor({ use: [api] }).tools()
  const ofServers = createExecutor({ use: connections }).tools()
  const labels = new Map([
    ...ofApi.map(({ name }, index) => [name, api.operations[index]?.id ?? name] as const),
    ...ofServers.map(({ name, mcpConfig }) => [name, `${mcpConfig?.serverName}/${mcpConfig?.toolName}`] as const),
  ])
  return {
    tools: [...ofApi, ...ofServers],
    labels,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(connections.map(async (each) => each.close()))
    },
  }
}

/** How many of the queries that can be answered find one of their tools, by what returns the names found. */
export async function recallOf(
  { queries }: QuerySet,
  { labels }: RealCatalogue,
  find: (query: string) => readonly string[] | Promise<readonly string[]>,
): Promise<{ readonly recall: number; readonly first: number; readonly queries: number }> {
  const known = new Set(labels.values())
  let [answerable, hits, first] = [0, 0, 0]
  for (const { query, tools } of queries) {
    if (!tools.some((label) => known.has(label))) continue
    answerable++
    const places = (await find(query)).map((name) => tools.includes(labels.get(name) ?? ''))
    if (places.includes(true)) hits++
    if (places[0] === true) first++
  }
  return { recall: hits / answerable, first: first / answerable, queries: answerable }
}
