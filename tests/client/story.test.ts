import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import type { Browser, Page } from 'playwright-core'
import type { CallPage } from 'toolwright/client/protocol'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ended, start } from '../cli/_command.ts'
import { buildPage } from '../devtools/_page.ts'
import { startBrowser } from './_browser.ts'
import { open, picture } from './_inspected.ts'
import { missingBrowser } from './_installed.ts'

if (missingBrowser !== undefined) console.warn(`The story of the shop is not told: ${missingBrowser}`)

const shopFolder = join(import.meta.dirname, '..', 'examples', 'browser')
let browser: Browser

/** What is wrong with how the page and its frame look: wide and narrow, light and dark. */
async function faultsOfLook(page: Page): Promise<string[]> {
  const found: string[] = []
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  for (const frame of page.frames()) await frame.evaluate(axe)
  for (const width of [1_280, 400]) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const look = `${width} ${colorScheme}`
      for (const frame of page.frames()) {
        const beyond = Number(await frame.evaluate('document.documentElement.scrollWidth - innerWidth'))
        if (beyond > 0) found.push(`${look}: ${frame.url()} is ${beyond} pixels too wide`)
      }
      // It looks into the frame too, where it was loaded as well.
      const { violations } = (await page.evaluate('axe.run()')) as {
        readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
      }
      found.push(...violations.map(({ id, nodes }) => `${look}: ${id} ${nodes.map(({ html }) => html).join(' ')}`))
    }
  }
  await page.setViewportSize({ width: 1_280, height: 800 })
  return found
}

/** The sentences of a column, the newest step first. */
const sentencesOf = (page: Page, column: 'says' | 'decides' | 'shows'): Promise<string[]> =>
  page.locator(`.${column} .sentence`).allTextContents()

/** The beginnings of the ids that the HTTP API has for the calls, newest first. */
const callIdsOf = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const { calls } = (await (await fetch('/api/calls?protocol=2')).json()) as CallPage
    return calls.map(({ callId }) => callId?.slice(0, 12) ?? '')
  })

describe.skipIf(missingBrowser !== undefined)('npm run demo', () => {
  beforeAll(async () => {
    await buildPage()
    await build({ configFile: join(shopFolder, 'page', 'vite.config.ts'), mode: 'production' })
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())

  test('starts a shop whose agent has a form filled in, reads the state of the page, and waits for a yes', async () => {
    const child = start([
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      '-C',
      '@toolwright/source',
      join(shopFolder, 'server.ts'),
    ])
    const end = ended(child)
    onTestFinished(async () => {
      child.kill()
      await end
    })
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    const [, shop = '', calls = ''] = /^The shop is at (\S+), its calls are at (\S+)\n$/.exec(line) ?? []
    const [{ page, faults }, { page: inspecting }] = [await open(browser, shop), await open(browser, calls)]
    const shows = page.getByRole('region', { name: 'The page shows' })
    await page.getByRole('button', { name: 'Add a lamp' }).click()
    await page.getByText('2 in the cart').waitFor()
    await picture(page, 'shop-form', true)
    expect(await sentencesOf(page, 'says')).toEqual(['The model wants to ask where to ship.'])
    expect((await sentencesOf(page, 'decides')).at(-1)).toContain('so the call waits for the page')
    expect(await sentencesOf(page, 'shows')).toEqual([expect.stringContaining('The page holds ask_address')])
    expect(await faultsOfLook(page)).toEqual([])
    await page.getByLabel('City').fill('O')
    await page.getByRole('button', { name: 'Ship there' }).click()
    expect(await page.getByRole('alert').innerText()).toContain('city')
    expect(await faultsOfLook(page)).toEqual([])
    await picture(page, 'shop-refused', true)
    await page.getByLabel('City').fill('Oslo')
    await page.getByRole('button', { name: 'Ship there' }).click()
    await page.getByText('Order 2 lamps for 80 euros, to Oslo?').waitFor()
    await picture(page, 'shop-approval', true)
    expect(await sentencesOf(page, 'says')).toEqual([
      'The model wants to order the lamps, at 40 euros each.',
      'The model wants to read how many lamps are in the cart.',
      'The model wants to ask where to ship.',
    ])
    const decided = await sentencesOf(page, 'decides')
    expect(decided).toHaveLength(await page.locator('.decides li').count())
    expect(
      decided.filter((sentence) => sentence.includes('callId')).map((sentence) => /(\w+)\.$/.exec(sentence)?.[1]),
    ).toEqual(await callIdsOf(page))
    expect(decided[1]).toContain('nothing runs until a person agrees')
    expect(await sentencesOf(page, 'shows')).toEqual([expect.stringContaining('only after a yes')])
    expect(await page.locator('.step').first().locator('code').allTextContents()).toEqual([
      'call:received',
      'call:waiting',
    ])
    expect(await faultsOfLook(page)).toEqual([])
    await inspecting.getByRole('button', { name: '1 to approve' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Yes' }).click()
    await shows.getByText('2 lamps are on their way to Oslo').waitFor()
    await page.getByLabel('City').waitFor()
    await picture(page, 'shop-ordered', true)
    await expect.poll(() => sentencesOf(page, 'decides'), { timeout: 10_000 }).toContain('A customer said yes.')
    expect(await faultsOfLook(page)).toEqual([])
    const inspectorFrame = page.frameLocator('iframe')
    await inspectorFrame.getByRole('option').first().waitFor()
    expect(await inspectorFrame.getByRole('option').count()).toBe(4)
    await inspecting.getByText('Approved by a customer').waitFor()
    await picture(inspecting, 'shop-inspector')
    await expect
      .poll(() => inspecting.getByRole('option').locator('.name').allInnerTexts(), { timeout: 20_000 })
      .toEqual(['ask_address', 'place_order', 'read_cart', 'ask_address'])
    expect(faults).toEqual([expect.stringContaining('400')]) // the city of one letter
  })
})

test.each([
  ['server.ts', 30],
  ['page/page.tsx', 40],
])('%s of the shop has at most %d lines', (file, most) => {
  const lines = readFileSync(join(shopFolder, file), 'utf8').split('\n')
  expect(lines.length - 1).toBeLessThanOrEqual(most)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(120)
})
