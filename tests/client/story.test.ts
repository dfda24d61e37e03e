import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Browser } from 'playwright-core'
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
    await page.getByRole('button', { name: 'Add a lamp' }).click()
    await page.getByText('2 in the cart').waitFor()
    await picture(page, 'shop-form')
    await page.getByLabel('City').fill('O')
    const refused = new Promise<string>((resolve) => {
      page.once('dialog', (dialog) => void dialog.accept().then(() => resolve(dialog.message())))
    })
    await page.getByRole('button', { name: 'Ship there' }).click()
    expect(await refused).toContain('city')
    await page.getByLabel('City').fill('Oslo')
    await page.getByRole('button', { name: 'Ship there' }).click()
    await page.getByText('Order 2 lamps for 80 euros, to Oslo?').waitFor()
    await picture(page, 'shop-approval')
    await inspecting.getByRole('button', { name: '1 to approve' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.getByText('2 lamps are on their way to Oslo').waitFor()
    await page.getByLabel('City').waitFor()
    await picture(page, 'shop-ordered')
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
