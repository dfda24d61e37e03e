import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ended, start } from '../cli/_command.ts'
import { buildPage } from '../devtools/_page.ts'
import { startBrowser } from './_browser.ts'
import { open } from './_inspected.ts'
import { missingBrowser } from './_installed.ts'

if (missingBrowser !== undefined) console.warn(`The story of the shop is not told: ${missingBrowser}`)

const server = join(import.meta.dirname, '..', 'stories', 'browser', 'server.ts')
let browser: Browser

describe.skipIf(missingBrowser !== undefined)('npm run demo', () => {
  beforeAll(async () => {
    await buildPage()
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())

  test('starts a shop whose agent reads the state of the page, has a form filled in, and waits for a yes', async () => {
    const child = start(
      [process.execPath, '--disable-warning=ExperimentalWarning', '-C', '@toolwright/source', server],
      { PORT: '0' },
    )
    const end = ended(child)
    onTestFinished(async () => {
      child.kill()
      await end
    })
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    const [, shop = '', calls = ''] = /^The shop is at (\S+), and its calls are at (\S+)\n$/.exec(line) ?? []
    const [{ page, faults }, { page: inspecting }] = [await open(browser, shop), await open(browser, calls)]
    await page.getByRole('button', { name: 'Add a lamp' }).click()
    await page.getByText('2 in the cart').waitFor()
    await page.getByRole('button', { name: 'Let the agent order' }).click()
    await page.getByLabel('City').fill('Oslo')
    await page.getByRole('button', { name: 'Ship there' }).click()
    await page.getByText('Order 2 lamps for 80 euros, to Oslo?').waitFor()
    await inspecting.getByRole('button', { name: '1 to approve' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.getByText('2 lamps are on their way to Oslo').waitFor()
    await inspecting.getByText('Approved by a customer').waitFor()
    await expect
      .poll(() => inspecting.getByRole('option').locator('.name').allInnerTexts(), { timeout: 20_000 })
      .toEqual(['place_order', 'ask_address', 'read_cart'])
    expect(faults).toEqual([])
  })
})
