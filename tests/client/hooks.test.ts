import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import type { ToolExecutor, ToolResult } from 'toolwright'
import { pageTools } from 'toolwright/client/page-tools'
import { memoryJournal } from 'toolwright/journals/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageIn, startBrowser, startSite, windowOf, type Site } from './_browser.ts'
import { missingBrowser } from './_installed.ts'

if (missingBrowser !== undefined) console.warn(`The hooks are not tried in a browser: ${missingBrowser}`)

/** Bundles the page with the React that react-dom is of. */
async function pageScript(mode: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '_hooks-page.tsx')],
    bundle: true,
    format: 'esm',
    write: false,
    jsx: 'automatic',
    conditions: ['@toolwright/source'],
    alias: { react: join(import.meta.dirname, 'node_modules', 'react') },
    define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
  })
  return outputFiles[0]!.text
}

describe.skipIf(missingBrowser !== undefined).each(['production', 'development'])('a page of React (%s)', (mode) => {
  let browser: Browser
  let script = ''
  beforeAll(async () => {
    browser = await startBrowser()
    script = await pageScript(mode)
  })
  afterAll(() => browser?.close())

  async function open(): Promise<{ site: Site; page: Page }> {
    const pages = pageTools()
    const site = await startSite({ use: () => [pages, memoryJournal()], pageTools: pages })
    const page = await pageIn(await windowOf(browser, site), site, '/?idle')
    await page.addScriptTag({ content: script, type: 'module' })
    await page.waitForFunction(() => window.client?.state === 'open')
    return { site, page }
  }

  const ask = ({ executor }: Site, name: string, args: object): Promise<ToolResult> =>
    executor.execute({ name, args }, { session: 'ada' })
  const settled = (executor: ToolExecutor, call: ToolResult): Promise<ToolResult> => executor.calls.settled(call)

  it('shows what waits for approval, and decides', async () => {
    const { site, page } = await open()
    const call = await ask(site, 'deploy', { to: 'prod' })
    await page.click('button.allow:text("Deploy to prod?")')
    expect((await settled(site.executor, call)).content).toEqual([{ type: 'text', text: 'deployed to prod' }])
    await page.waitForSelector('#last:text("ok")')
    expect(await page.locator('button.allow').count()).toBe(0)
  })

  it('answers a tool with the state of now, and is registered once through any number of renders', async () => {
    const { site, page } = await open()
    const registrations = (): Promise<number> =>
      page.evaluate(() => (window as unknown as { registrations: () => number }).registrations())
    const before = await registrations()
    for (let click = 1; click <= 5; click++) await page.click('#count')
    await page.waitForSelector('#count:text("5")')
    const call = await ask(site, 'look', { at: 'top' })
    expect((await settled(site.executor, call)).content).toEqual([{ type: 'text', text: 'top: 5' }])
    expect(await registrations()).toBe(before)
  })

  it('declares a tool of its own to the model', async () => {
    const { site } = await open()
    await expect
      .poll(() => site.executor.tools('model', 'ada').map(({ name }) => name), { timeout: 20_000 })
      .toContain('page_title')
    const call = await ask(site, 'page_title', {})
    expect((await settled(site.executor, call)).content).toEqual([{ type: 'text', text: 'page' }])
  })

  it('has a form for a call: a wrong answer is told and it stays, a right one ends it, and so does a failure', async () => {
    const { site, page } = await open()
    const first = await ask(site, 'form', { question: 'Which address?', pin: 'open sesame' })
    await page.waitForSelector('legend:text("Which address? open sesame")')
    await page.click('button.wrong')
    await page.waitForSelector('output:text("outputSchema")')
    // A form that goes away for a while finds its call again.
    await page.click('#toggle')
    await page.waitForSelector('fieldset', { state: 'detached' })
    await page.click('#toggle')
    await page.click('button.right')
    expect((await settled(site.executor, first)).content).toMatchObject([
      { type: 'json', data: { email: 'ada@example.com' } },
    ])
    await page.waitForSelector('fieldset', { state: 'detached' })
    const second = await ask(site, 'form', { question: 'And now?' })
    await page.click('button.fail')
    expect((await settled(site.executor, second)).error?.message).toContain('The user gave it up')
    await page.waitForSelector('fieldset', { state: 'detached' })
  })

  it('gives a call back when its form is unmounted: another page takes it at once, and so does a form that comes back', async () => {
    const { site, page } = await open()
    const call = await ask(site, 'form', { question: 'Which address?' })
    await page.waitForSelector('fieldset')
    const other = await pageIn(page.context(), site, '/?idle')
    await other.addScriptTag({ content: script, type: 'module' })
    await other.waitForFunction(() => window.client?.calls().some(({ waiting }) => waiting?.lease !== undefined))
    expect(await other.locator('fieldset').count()).toBe(0)
    // A lease that is kept is renewed for ever: each of these waits would end without its form.
    await page.click('#toggle')
    await other.waitForSelector('fieldset')
    await page.click('#toggle')
    await other.click('#toggle')
    await page.waitForSelector('fieldset')
    expect(await other.locator('fieldset').count()).toBe(0)
    await page.click('button.right')
    expect((await settled(site.executor, call)).status).toBe('ok')
  })

  it('counts an answer whose form closes as it is sent', async () => {
    const { site, page } = await open()
    const call = await ask(site, 'form', { question: 'Which address?' })
    await page.waitForSelector('button.right')
    await page.evaluate(() => {
      document.querySelector<HTMLElement>('button.right')!.click()
      document.querySelector<HTMLElement>('#toggle')!.click()
    })
    expect((await settled(site.executor, call)).status).toBe('ok')
    await page.waitForSelector('#last:text("ok")')
  })

  it('leaves a call to others if its page ends the connection', async () => {
    const { site, page } = await open()
    await ask(site, 'form', { question: 'Which address?' })
    await page.waitForSelector('fieldset')
    await page.evaluate(() => window.client.close())
    await expect.poll(async () => (await site.executor.calls.waiting())[0]?.lease, { timeout: 20_000 }).toBeUndefined()
  })
})
