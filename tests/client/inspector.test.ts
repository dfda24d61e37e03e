import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { argsRepair } from 'toolwright/repairs/args'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPage } from '../devtools/_page.ts'
import { startBrowser } from './_browser.ts'
import { journalFile } from './_http-api.ts'
import { inspected, open, picture } from './_inspected.ts'
import { missingBrowser } from './_installed.ts'

if (missingBrowser !== undefined) console.warn(`The page of the inspector is not opened: ${missingBrowser}`)

// Each would run, hide or turn something around, if it were more than text.
const hostile =
  '<script>ran = 1</script><img src=x onerror="ran = 1"><svg onload="ran = 1"> javascript:ran=1 ' +
  'exe.\u202Egnp \u001B[31mred\u001B[0m \u0000 zero\u200Bwidth \u{E0041} line\u2028separator [link](javascript:ran=1)'
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}]/u

const soon = { timeout: 20_000 }
let browser: Browser

beforeAll(async () => {
  if (missingBrowser !== undefined) return
  await buildPage()
  browser = await startBrowser()
})
afterAll(() => browser?.close())

/** The rows of the list, as they read. */
const rows = (page: Page): Promise<string[]> => page.getByRole('option').locator('.name').allInnerTexts()
const row = (page: Page, name: string): ReturnType<Page['locator']> =>
  page.getByRole('option').filter({ hasText: name }).first()
const detail = (page: Page): ReturnType<Page['locator']> => page.locator('.detail')

describe.skipIf(missingBrowser !== undefined)('the page of the inspector', () => {
  test('shows what is served, then calls as they happen, those that wait first', async () => {
    const { url, call } = await inspected({ use: [journalFile()()] })
    const { page, faults } = await open(browser, url)
    await page.getByText('No calls yet').waitFor()
    await page.getByText('These 8 tools are served').waitFor()
    await picture(page, 'empty')
    for (const city of ['Oslo', 'Lima', 'Kyoto']) await call('get_weather', { city })
    await call('charge_card', { cents: 1_999 })
    await call('charge_card', { cents: 'many' })
    await call('search_logs', { query: 'orders' })
    void call('index_repository', { repository: 'shop' })
    await call('read_selection', { part: 'title' })
    await call('deploy', { environment: 'production', version: '2.4.1', token: 'canary' })
    await expect.poll(() => rows(page), soon).toHaveLength(9)
    expect((await rows(page)).slice(0, 2).toSorted()).toEqual(['deploy', 'read_selection'])
    expect(await row(page, 'Kyoto').innerText()).toMatch(
      /get_weather\s+\d\d:\d\d:\d\d\s+{"city":"Kyoto"}\s+ok [\d.]+ ms/,
    )
    await expect.poll(() => page.title(), soon).toBe('(1) Toolwright')
    await page.getByRole('button', { name: '1 to approve' }).click()
    await detail(page).getByText('Deploy 2.4.1 to production?').waitFor()
    await picture(page, 'waiting')
    await row(page, 'index_repository').click()
    await detail(page).getByText('{"read":"src/pay.ts"}').first().waitFor()
    await picture(page, 'running')
    await row(page, 'Kyoto').click()
    await detail(page).getByText('"NW"').waitFor()
    await picture(page, 'result')
    await row(page, 'charge_card').click()
    await picture(page, 'error')
    expect(await page.content()).not.toContain('canary')
    expect(faults).toEqual([])
  })

  test('approves, denies with a note, and runs edited args, once those fit', async () => {
    const { url, call, ran, executor } = await inspected({ use: [journalFile()()] })
    const { page, faults } = await open(browser, url)
    const approve = page.getByRole('button', { name: 'Approve', exact: true })
    const first = await call('deploy', { environment: 'staging', version: '1' })
    await page.getByLabel('Note').fill('after the backup')
    await approve.click()
    await detail(page).getByText('Approved by user: after the backup').waitFor()
    await detail(page).getByText('deployed 1 to staging').waitFor()
    expect((await executor.calls.settled(first)).status).toBe('ok')

    const second = await call('deploy', { environment: 'production', version: '2' })
    await page.getByRole('button', { name: '1 to approve' }).click()
    await page.getByLabel('Note').fill('not on a Friday')
    await page.getByRole('button', { name: 'Deny' }).click()
    await detail(page).getByText('Denied by user: not on a Friday', { exact: true }).waitFor()
    expect((await executor.calls.settled(second)).status).toBe('denied')

    const third = await call('deploy', { environment: 'production', version: '3', token: 'canary' })
    await page.getByRole('button', { name: '1 to approve' }).click()
    await page.getByRole('button', { name: 'Edit args' }).click()
    await page.getByText('Write secrets anew').waitFor()
    const args = page.getByLabel('Edited args')
    for (const [text, fault] of [
      ['{', /The args are not JSON/],
      ['{"environment":"moon","version":"3"}', /environment/],
    ] as const) {
      await args.fill(text)
      await page.getByRole('button', { name: 'Approve edited' }).click()
      await page.getByRole('alert').getByText(fault).first().waitFor()
    }
    await args.fill('{"environment":"staging","version":"3b"}')
    await page.getByRole('button', { name: 'Approve edited' }).click()
    await detail(page).getByText('deployed 3b to staging').waitFor()
    expect((await executor.calls.settled(third)).status).toBe('ok')
    expect(ran).toEqual(['1', '3b'])
    expect(faults.filter((fault) => !fault.includes('400'))).toEqual([])
  })

  test('says that args were repaired, and how', async () => {
    const { url, call, executor } = await inspected({ use: [journalFile()(), argsRepair()] })
    const { page, faults } = await open(browser, url)
    await page.getByText('No calls yet').waitFor()
    const { callId } = await call('charge_card', '{"cents":"1999",}')
    await call('get_weather', { city: 'Oslo' })
    await row(page, 'charge_card').click()
    const moments = detail(page).locator('.moments.line li')
    const repaired = moments.filter({ hasText: 'repaired' })
    await repaired.getByText('trailing-comma · number-from-text cents').waitFor()
    expect(await repaired.count()).toBe(1)
    // What is shown is what ran: the args that came are not repeated.
    const shown = await detail(page).innerText()
    expect(shown).toMatch(/"?cents"?:? 1999/)
    expect(shown).not.toContain('"1999"')
    expect(shown).toContain(callId)
    expect(await executor.calls.list({})).toHaveLength(2)
    await picture(page, 'repaired')
    await row(page, 'get_weather').click()
    await detail(page).getByText('"NW"').waitFor()
    expect(await repaired.count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('keeps the call that is chosen while others come, and says what another page has answered', async () => {
    const { url, call, executor } = await inspected({ use: [journalFile()()] })
    const { page } = await open(browser, url)
    const chosen = await call('deploy', { environment: 'staging', version: 'first' })
    await detail(page).getByText('Deploy first to staging?').waitFor()
    await call('deploy', { environment: 'production', version: 'second' })
    await page.getByRole('button', { name: '2 to approve' }).waitFor()
    expect(await detail(page).getByText('Deploy first to staging?').isVisible()).toBe(true)
    const [waiting] = await executor.calls.waiting({ invocationId: chosen.invocationId })
    await executor.calls.decide(waiting!, 'deny', { decidedBy: 'Ada' })
    await detail(page).getByText('Denied by Ada', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0)
  })

  test('cancels a call, and shows who holds the lease of another', async () => {
    const { url, call, executor } = await inspected({ heartbeat: 500 })
    const { page } = await open(browser, url)
    const slow = call('index_repository', { repository: 'shop' })
    await detail(page).getByText('src/pay.ts').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect((await slow).status).toBe('cancelled')
    await detail(page).getByText('cancelled', { exact: true }).first().waitFor()
    await call('read_selection')
    await row(page, 'read_selection').click()
    await detail(page).getByText('No page holds it').waitFor()
    const [waiting] = await executor.calls.waiting()
    await executor.calls.lease(waiting!, 'tab-of-ada', 60_000)
    await expect
      .poll(() => detail(page).innerText(), { timeout: 40_000 })
      .toMatch(/Held by tab-of-ada · renews within \d+ s/)
  })

  test('reads an artifact in pages of 8 KiB that end with a line, and bytes as numbers', async () => {
    const { url, call } = await inspected({ use: [journalFile()()] })
    const { page } = await open(browser, url)
    await call('search_logs', { query: 'orders' })
    const part = page.getByLabel('Part of the artifact')
    const texts: string[] = []
    for (const [from, to] of [
      [1, /8,1\d\d/],
      [8, /16,\d{3}/],
      [16, /24,\d{3}/],
    ] as const) {
      await page
        .getByText(new RegExp(`bytes ${from === 1 ? 1 : `${from},\\d{3}`}–${to.source} of 1\\d\\d,\\d{3}`))
        .waitFor()
      texts.push(await part.innerText())
      await page.getByRole('button', { name: 'Next' }).click()
    }
    const lines = texts.map((text) => text.split('\n').filter(Boolean))
    for (const each of lines) expect(each.every((line) => /^\d{4} GET .* – 12 ms$/.test(line))).toBe(true)
    expect(lines.flat().map((line) => Number(line.slice(0, 4)))).toEqual(lines.flat().map((_, index) => index))
    for (const _ of [1, 2, 3]) await page.getByRole('button', { name: 'Previous' }).click()
    await expect.poll(() => part.innerText(), soon).toBe(texts[0])
    await row(page, 'search_logs').click()
    await detail(page).evaluate((element) => element.scrollTo(0, 0))
    await picture(page, 'artifact')
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save' }).click()
    expect((await downloading).suggestedFilename()).toBe('artifact.txt')
    await call('read_key')
    await row(page, 'read_key').click()
    await part.getByText('000000f0  f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 fa 00 01 02 03 04').waitFor()
  })

  test('finds calls by words, and shows those of one state', async () => {
    const { url, call } = await inspected()
    const { page } = await open(browser, url)
    for (const city of ['Oslo', 'Lima']) await call('get_weather', { city })
    await call('charge_card', { cents: 1 })
    await call('deploy', { environment: 'staging', version: '1' })
    await expect.poll(() => rows(page), soon).toHaveLength(4)
    const show = (name: RegExp): Promise<void> => page.getByRole('button', { name, exact: true }).click()
    await show(/^Failed/)
    await expect.poll(() => rows(page), soon).toEqual(['charge_card'])
    await show(/^Waiting/)
    await expect.poll(() => rows(page), soon).toEqual(['deploy'])
    await show(/^All/)
    await page.getByLabel('Search calls').fill('WEATHER lim')
    await expect.poll(() => rows(page), soon).toEqual(['get_weather'])
    await page.getByLabel('Search calls').fill('declined')
    await expect.poll(() => rows(page), soon).toEqual(['charge_card'])
    await page.getByLabel('Search calls').fill('nothing like it')
    await page.getByRole('button', { name: 'Show all 4' }).click()
    await expect.poll(() => rows(page), soon).toHaveLength(4)
  })

  test('is used with the keyboard alone', async () => {
    const { url, call, executor } = await inspected({ use: [journalFile()()] })
    const { page } = await open(browser, url)
    await call('get_weather', { city: 'Oslo' })
    const asked = await call('deploy', { environment: 'staging', version: '1' })
    await expect.poll(() => rows(page), soon).toEqual(['deploy', 'get_weather'])
    const { keyboard } = page
    await keyboard.press('/')
    await keyboard.type('oslo')
    await expect.poll(() => rows(page), soon).toEqual(['get_weather'])
    await keyboard.press('Escape')
    await expect.poll(() => rows(page), soon).toHaveLength(2)
    await keyboard.press('End')
    await expect.poll(() => page.locator('[aria-selected=true] .name').innerText(), soon).toBe('get_weather')
    await keyboard.press('ArrowUp')
    await keyboard.press('Enter')
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? '')
    await expect.poll(focused, soon).toBe('deploy')
    for (let count = 0; (await focused()) !== 'Approve' && count < 6; count++) await keyboard.press('Tab')
    await picture(page, 'focus')
    await keyboard.press('Enter')
    expect((await executor.calls.settled(asked)).status).toBe('ok')
    await keyboard.press('Escape')
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('role')), soon).toBe('listbox')
  })

  test('shows the list or one call at 400 pixels, and nothing is wider', async () => {
    const { url, call } = await inspected({ canCall: true, use: [journalFile()()] })
    const { page } = await open(browser, url, { width: 400, height: 800 })
    const overflow = (): Promise<number> =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    await call('deploy', { environment: 'production', version: 'x'.repeat(3_000) })
    await call('get_weather', { city: 'a b '.repeat(500) })
    await call('charge_card', { cents: 1 })
    await expect.poll(() => rows(page), soon).toHaveLength(3)
    expect([await overflow(), await detail(page).isVisible()]).toEqual([0, false])
    await picture(page, 'list')
    for (const name of ['deploy', 'get_weather', 'charge_card']) {
      await row(page, name).click()
      await detail(page).getByRole('heading', { name }).waitFor()
      expect([name, await overflow(), await page.locator('.list').isVisible()]).toEqual([name, 0, false])
      await page.getByRole('button', { name: 'All calls' }).click()
    }
    await page.getByRole('button', { name: 'Call a tool' }).click()
    await page.getByRole('heading', { name: 'Call a tool' }).waitFor()
    expect(await overflow()).toBe(0)
  })

  test('calls a tool, and shows what becomes of the call', async () => {
    const { url, ran } = await inspected({ canCall: true, use: [journalFile()()] })
    const { page } = await open(browser, url)
    await page.getByRole('button', { name: 'Call a tool' }).click()
    await page.getByLabel('Tool').selectOption('deploy')
    await expect.poll(() => page.getByLabel('Args').inputValue(), soon).toContain('"environment": "staging"')
    await picture(page, 'new-call')
    await page.getByLabel('Args').fill('{"environment":"staging","version":"9"}')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await detail(page).getByText('deployed 9 to staging').waitFor()
    expect(ran).toEqual(['9'])
  })

  test('shows hostile text as text: nothing of it runs, and what is not seen is written out', async () => {
    const { url, call } = await inspected({ use: [journalFile()()] })
    const { page, faults } = await open(browser, url)
    await call('publish', { html: hostile })
    await detail(page).getByText('<script>', { exact: false }).first().waitFor()
    await row(page, 'publish').click()
    await picture(page, 'hostile')
    expect(await detail(page).locator('mark').allInnerTexts()).toEqual(
      expect.arrayContaining(['\\u202e', '\\u001b', '\\u0000', '\\u200b', '\\udb40\\udc41', '\\u2028']),
    )
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByLabel('Part of the artifact').getByText('<script>').first().waitFor()
    await call('get_weather', { city: hostile })
    await call(hostile, {})
    await expect.poll(() => rows(page), soon).toHaveLength(3)
    for (let count = 0; count < 3; count++) await page.getByRole('option').nth(count).click()
    expect(await page.evaluate(() => (globalThis as { ran?: unknown }).ran)).toBeUndefined()
    expect(await page.locator('script').count()).toBe(1)
    expect(await page.locator('#page img, #page iframe, #page a').count()).toBe(0)
    expect(await page.evaluate(() => document.body.innerText)).not.toMatch(unseen)
    expect(faults).toEqual([])
  })

  test('writes out what is not seen in the beginning of long args, too', async () => {
    const { url, call } = await inspected()
    const { page } = await open(browser, url)
    await call('get_weather', { city: hostile.padEnd(5_000, 'x') })
    const args = row(page, 'get_weather').locator('.args')
    await args.getByText('\\u202e').waitFor()
    await page.reload() // a list has but the beginning of the args
    await args.getByText('\\u202e').waitFor()
    expect(await args.innerText()).not.toMatch(unseen)
  })

  test('marks a blank that is no space', async () => {
    const { url, call } = await inspected()
    const { page } = await open(browser, url)
    await call('publish', { html: 'rm -r\u2800/tmp/a\u3000b\u00a0c d' })
    const prompt = detail(page).locator('.prompt')
    await expect.poll(() => prompt.locator('mark').allTextContents(), soon).toEqual(['\u2800', '\u3000', '\u00a0'])
    expect(await prompt.textContent()).toBe('rm -r\u2800/tmp/a\u3000b\u00a0c d')
  })

  test('has no fault that axe finds, in any state, light and dark', async () => {
    const { url, call } = await inspected({ canCall: true, use: [journalFile()()] })
    const { page } = await open(browser, url)
    const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    await page.evaluate(source)
    const check = async (state: string): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        const { violations } = (await page.evaluate('axe.run()')) as {
          violations: { id: string; nodes: { html: string }[] }[]
        }
        expect([state, colorScheme, violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])]).toEqual([
          state,
          colorScheme,
          [],
        ])
      }
    }
    await page.getByText('No calls yet').waitFor()
    await check('empty')
    await call('get_weather', { city: 'Oslo' })
    await call('search_logs', { query: 'x' })
    await call('charge_card', { cents: 1 })
    await call('read_selection')
    await call('deploy', { environment: 'production', version: '1' })
    await expect.poll(() => rows(page), soon).toHaveLength(5)
    for (const name of await rows(page)) {
      await row(page, name).click()
      await detail(page).getByRole('heading', { name }).waitFor()
      if (name === 'deploy') await page.getByRole('button', { name: 'Edit args' }).click()
      await check(name)
    }
    await page.getByRole('button', { name: 'Call a tool' }).click()
    await page.getByLabel('Args').waitFor()
    await check('a new call')
    await page.setViewportSize({ width: 400, height: 800 })
    await check('a new call at 400 pixels')
  }, 180_000)

  test('comes back after a reload and after a restart of the server, and loses no approval', async () => {
    const journal = journalFile()
    const before = await inspected({ use: [journal()], token: 'same' })
    const { page } = await open(browser, before.url)
    await page.getByText('No calls yet').waitFor()
    expect(page.url()).not.toContain('same')
    const asked = await before.call('deploy', { environment: 'production', version: '7' })
    await page.getByRole('button', { name: '1 to approve' }).waitFor()
    await page.reload()
    await detail(page).getByText('Deploy 7 to production?').waitFor()
    const port = Number(new URL(before.url).port)
    await before.close()
    await page.getByText('Connecting…').waitFor()
    const after = await inspected({ use: [journal()], token: 'same', port })
    await page.getByText('Live').waitFor()
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await detail(page).getByText('deployed 7 to production').waitFor()
    expect((await after.executor.calls.settled(asked.invocationId)).status).toBe('ok')
    expect([before.ran, after.ran]).toEqual([[], ['7']])
    await after.close()
    const next = await inspected({ use: [journal()], token: 'another', port })
    await page.getByText('This page may not look yet').waitFor()
    await picture(page, 'refused')
    await page.goto(next.url)
    await detail(page).getByText('deployed 7 to production').waitFor()
  })
})
