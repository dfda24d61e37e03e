// Runs the cases in a page, then in a Worker of it. Each posts what came of it to the server of the page.
import { cases } from '../cases.ts'
import { mcpRefusals } from '../cases/mcp.ts'
import { run, type Need, type Place } from '../run.ts'

interface Page {
  readonly document?: unknown
  readonly trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } }
  readonly location: { readonly origin: string; readonly search: string }
  readonly Worker: new (url: string) => unknown
}

const { document, trustedTypes, location, Worker } = globalThis as unknown as Page
const api = `${location.origin}/api`
const place: Place = { folder: '', postgres: '', api, otherApi: api }
const lacks = JSON.parse(new URLSearchParams(location.search).get('lacks') ?? '[]') as Need[]
const isPage = document !== undefined

async function start(): Promise<void> {
  const outcome = await run([...cases, ...mcpRefusals], isPage ? lacks : [...lacks, 'realms'], place)
  await fetch(isPage ? '/page' : '/worker', { method: 'POST', body: JSON.stringify(outcome) })
  if (!isPage) return
  const url = `/page.js${location.search}`
  const policy = trustedTypes?.createPolicy('portable', { createScriptURL: (text: string) => text })
  void new Worker(policy?.createScriptURL(url) ?? url)
}

void start()
