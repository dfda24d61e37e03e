import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { buildPage } from '../devtools/_page.ts'
import { startBrowser } from './_browser.ts'
import { journalFile } from './_http-api.ts'
import { inspected, open } from './_inspected.ts'
import { missingBrowser } from './_installed.ts'

if (missingBrowser !== undefined) console.warn(`No picture of the inspector is taken: ${missingBrowser}`)

const root = join(import.meta.dirname, '..', '..')
const size = { width: 1_060, height: 376 }
const mostBytes = 60_000
const themes = ['light', 'dark'] as const

/** Reads the size of a PNG from its first chunk. */
function sizeOf(png: Buffer): typeof size {
  expect(png.subarray(0, 8).toString('latin1')).toBe('\u0089PNG\r\n\u001A\n')
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
}

describe.skipIf(missingBrowser !== undefined)('the picture of the inspector', () => {
  // Times differ from one run to the next, so the bytes are not compared. `npm run pictures` writes them anew.
  test('is taken of calls of which one waits for approval, light and dark', async () => {
    await buildPage()
    const browser = await startBrowser()
    const { url, call } = await inspected({ canCall: true, use: [journalFile()()] })
    await call('get_weather', { city: 'Oslo' })
    await call('charge_card', { cents: 1_999 })
    await call('search_logs', { query: 'orders' })
    await call('deploy', { environment: 'production', version: '2.4.1', token: 'canary' })
    const { page } = await open(browser, url, size)
    await page.getByRole('button', { name: '1 to approve' }).click()
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await page.mouse.move(size.width / 2, 0) // off the button
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme })
      const png = await page.screenshot()
      expect(sizeOf(png)).toEqual(size)
      if (process.env['PICTURES'] === undefined) continue
      writeFileSync(join(root, process.env['PICTURES'], `inspector-${colorScheme}.png`), png)
    }
    await browser.close()
  })
})

test.each(themes)('the front page shows the %s picture, which is small', (theme) => {
  const path = `bench/charts/inspector-${theme}.png`
  const png = readFileSync(join(root, path))
  expect(sizeOf(png)).toEqual(size)
  expect(png.byteLength).toBeLessThan(mostBytes)
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toMatch(
    new RegExp(`<picture>.*raw\\.githubusercontent\\.com/toolwright/toolwright/main/${path}".*</picture>`),
  )
})
