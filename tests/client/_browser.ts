import { join } from 'node:path'
import { build } from 'esbuild'
import { createExecutor, type Extension, type Tool, type ToolExecutor } from 'toolwright'
import { httpClients, type HttpClientsOptions, type PageUser } from 'toolwright/client/http'
import { listen } from 'toolwright/client/node'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { toolsOf, type Done } from './_http-api.ts'
import { chromiumPath } from './_installed.ts'

const root = join(import.meta.dirname, '..', '..')

/** Starts Chromium, which knows the machine by a strange name too. */
export async function startBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--host-resolver-rules=MAP evil.test 127.0.0.1',
    ],
  })
}

let script: Promise<string> | undefined

/** Bundles the client for pages. */
function clientScript(): Promise<string> {
  script ??= build({
    entryPoints: [join(root, 'src/client/browser.ts')],
    bundle: true,
    format: 'esm',
    write: false,
    target: 'es2022',
  }).then(({ outputFiles }) => outputFiles[0]!.text)
  return script
}

const page = `<!doctype html><title>page</title><script type="module">
  import { connect, WireError } from '/client.js'
  Object.assign(window, { connect, WireError })
  if (!location.search.includes('idle')) window.client = connect('/api', window.settings ?? {})
</script>`

/** A site with a page and an HTTP API, which can be started anew at its address. */
export interface Site extends Done {
  executor: ToolExecutor
  readonly url: string
  readonly reports: unknown[]
  /** How many streams were opened, and how many requests were refused. */
  readonly counts: { events: number; refused: number; requests: number }
  readonly stop: () => Promise<void>
  readonly restart: () => Promise<void>
}

export interface SiteOptions extends Omit<Partial<HttpClientsOptions>, 'executor'> {
  readonly use?: () => readonly Extension[]
  readonly extra?: readonly Tool[]
}

/** Who a browser is, by its cookie. */
function userOf(request: Request): PageUser | undefined {
  const user = /(?:^|; )user=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1]
  return user === undefined ? undefined : { session: user === 'all' ? '*' : user, name: user }
}

export async function startSite({ use = () => [], extra = [], ...options }: SiteOptions = {}): Promise<Site> {
  const reports: unknown[] = []
  const report = (error: unknown): void => void reports.push(error)
  const counts = { events: 0, refused: 0, requests: 0 }
  const done: Done = { ran: [], release: () => {} }
  const client = await clientScript()
  let port = 0
  let stop = async (): Promise<void> => {}

  const start = async (): Promise<string> => {
    const executor = createExecutor({ tools: [...toolsOf(done), ...extra], use: [...use()], report })
    const clients = httpClients({ executor, authorize: userOf, base: '/api', report, ...options })
    const listening = await listen(
      async (request) => {
        const { pathname } = new URL(request.url)
        if (pathname === '/client.js') return new Response(client, { headers: { 'content-type': 'text/javascript' } })
        if (!pathname.startsWith('/api/')) return new Response(page, { headers: { 'content-type': 'text/html' } })
        const response = await clients.fetch(request)
        counts.requests++
        if (pathname === '/api/events' && response.ok) counts.events++
        if (response.status === 401) counts.refused++
        return response
      },
      { port, report },
    )
    port = Number(new URL(listening.url).port)
    made.executor = executor
    stop = async () => {
      stop = async () => {}
      await clients.close()
      await listening.close()
      await executor.close()
    }
    return listening.url
  }
  const made = Object.assign(done, { counts, reports }) as unknown as { executor: ToolExecutor }
  const url = await start()
  onTestFinished(() => stop())
  return Object.assign(made, {
    url,
    stop: () => stop(),
    restart: async () => (await stop(), void (await start())),
  }) as Site
}

/** Opens a window of a user, whose pages share cookies and storage. */
export async function windowOf(browser: Browser, { url }: Site, user = 'ada'): Promise<BrowserContext> {
  const context = await browser.newContext()
  await context.addCookies([{ name: 'user', value: user, url }])
  onTestFinished(() => context.close())
  return context
}

/** Opens a page, and waits until its client is connected. */
export async function pageIn(context: BrowserContext, { url }: Site, path = '/'): Promise<Page> {
  const opened = await context.newPage()
  await opened.goto(url + path)
  if (!path.includes('idle')) await opened.waitForFunction(() => window.client?.state === 'open')
  return opened
}

/** Waits until a page knows a call in some way. */
export async function sees(page_: Page, expression: string): Promise<void> {
  await page_.waitForFunction(`client.calls().some((call) => ${expression})`, undefined, { timeout: 20_000 })
}

declare global {
  interface Window {
    client: import('toolwright/client/protocol').ToolClient
    connect: typeof import('toolwright/client/browser').connect
    WireError: typeof import('toolwright/client/browser').WireError
    settings: object
    /** What the handlers of a page did. */
    ran: unknown[]
    aborted: number
    release: (value: unknown) => void
  }
}
