import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { createExecutor, tool, type Extension, type Tool, type ToolExecutor, type ToolResult } from 'toolwright'
import { inspector, type InspectorOptions } from 'toolwright/devtools/inspector'
import { onTestFinished } from 'vitest'

/** What the tools of the tests did, in order. */
export type Ran = unknown[]

const text = { type: 'string' } as const

/** Tools as people have them. */
export function toolsOf(ran: Ran): Tool[] {
  return [
    tool({
      name: 'deploy',
      description: 'Deploys a version of the shop to an environment, and waits until it is healthy',
      inputSchema: {
        type: 'object',
        properties: { environment: { enum: ['staging', 'production'] }, version: text, token: text },
        required: ['environment', 'version'],
      },
      secrets: ['/token'],
      requiresConfirmation: true,
      confirmationMessage: ({ environment, version }) =>
        `Deploy ${String(version)} to ${String(environment)}? ${environment === 'production' ? 'Customers see it at once.' : ''}`,
      handler: ({ environment, version }) => {
        ran.push(version)
        return `deployed ${String(version)} to ${String(environment)}`
      },
    }),
    tool({
      name: 'get_weather',
      description: 'The weather in a city',
      inputSchema: { type: 'object', properties: { city: text }, required: ['city'] },
      handler: async function* ({ city }) {
        yield 'asking the station'
        yield { station: 'EN-18700', received: 3 }
        return { city, sky: 'clear', celsius: 4, wind: { from: 'NW', metresPerSecond: 6.5 }, rain: false }
      },
    }),
    tool({
      name: 'search_logs',
      description: 'Finds lines in the logs of the shop',
      inputSchema: { type: 'object', properties: { query: text } },
      handler: ({ query }) =>
        Array.from(
          { length: 3_000 },
          (_, line) =>
            `${String(line).padStart(4, '0')} GET /${String(query)}/${line * 7} ${line % 97 ? 200 : 503} – 12 ms\n`,
        ).join(''),
    }),
    tool('read_key', () => new Uint8Array(20_000).map((_, index) => index % 251)),
    tool({
      name: 'charge_card',
      description: 'Charges the card of the customer',
      inputSchema: { type: 'object', properties: { cents: { type: 'integer' } }, required: ['cents'] },
      handler: () => {
        throw new Error('card_declined: the bank refuses the charge (insufficient funds)')
      },
    }),
    tool({
      name: 'index_repository',
      description: 'Reads all files of a repository',
      inputSchema: { type: 'object', properties: { repository: text } },
      timeout: 0,
      handler: async function* (_input, { signal }) {
        for (const file of ['src/index.ts', 'src/cart.ts', 'src/pay.ts']) yield { read: file }
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
        })
        return ''
      },
    }),
    tool({
      name: 'read_selection',
      description: 'Reads what the user has selected in the page',
      type: 'client',
      requiresResponse: true,
      timeout: 600_000,
      inputSchema: { type: 'object', properties: { part: text } },
    }),
    tool({
      name: 'publish',
      description: 'Publishes a page',
      inputSchema: { type: 'object', properties: { html: text } },
      requiresConfirmation: true,
      confirmationMessage: ({ html }) => String(html),
      handler: ({ html }) => `${String(html)}\n`.repeat(120),
    }),
  ]
}

/** An inspector that listens, its executor, and what the tools did. */
export interface Inspected {
  readonly executor: ToolExecutor
  readonly ran: Ran
  readonly url: string
  readonly token: string
  readonly reports: unknown[]
  readonly call: (name: string, args?: unknown) => Promise<ToolResult>
  readonly close: () => Promise<void>
}

/** Opens an inspector for one test. */
export async function inspected(
  options: Omit<InspectorOptions, 'executor'> & { readonly use?: readonly Extension[]; readonly port?: number } = {},
): Promise<Inspected> {
  const { use = [], port = 0, ...rest } = options
  const [ran, reports]: [Ran, unknown[]] = [[], []]
  const report = (error: unknown): void => void reports.push(error)
  const executor = createExecutor({ tools: toolsOf(ran), use: [...use], report })
  const inspecting = inspector({ executor, report, ...rest })
  const { url, close } = await inspecting.listen({ port })
  let isClosed = false
  const end = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    await close()
    await executor.close()
  }
  onTestFinished(end)
  const call = (name: string, args: unknown = {}): Promise<ToolResult> => executor.execute({ name, args })
  return { executor, ran, reports, url, token: inspecting.token, call, close: end }
}

/** A page that is open, and what went wrong in it. */
export interface Opened {
  readonly page: Page
  readonly context: BrowserContext
  readonly faults: string[]
}

/** Opens a page in a browser, as somebody who has never been there. */
export async function open(browser: Browser, url: string, size = { width: 1_280, height: 800 }): Promise<Opened> {
  const context = await browser.newContext({ viewport: size, locale: 'en-GB', reducedMotion: 'reduce' })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  await page.goto(url)
  return { page, context, faults }
}

const folder = process.env['SCREENSHOTS']
const sizes = [1_280, 400]

/** Writes pictures of the page, wide and narrow, light and dark, if `SCREENSHOTS` names a folder. */
export async function picture(page: Page, name: string, fullPage = false): Promise<void> {
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  const before = page.viewportSize()
  for (const width of sizes) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage })
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  if (before !== null) await page.setViewportSize(before)
}
