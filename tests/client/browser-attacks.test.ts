import type { Browser, Page } from 'playwright-core'
import { tool } from 'toolwright'
import { pageTools } from 'toolwright/client/page-tools'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageIn, sees, startBrowser, startSite, windowOf } from './_browser.ts'
import { missingBrowser } from './_installed.ts'

if (missingBrowser !== undefined) console.warn(`Attacks of pages are not tried in a browser: ${missingBrowser}`)

const hostile =
  '<script>window.pwned = 1</script><img src=x onerror="window.pwned = 1"> \u202egnp.exe \u001b[31mred javascript:alert(1)'

/** Sends a request from a page, with the cookies of the browser. */
function sendFrom(page: Page, url: string, init: object = {}): Promise<number | string> {
  return page.evaluate(
    async ([address, options]) =>
      fetch(address, { credentials: 'include', ...options }).then(
        ({ status, type }) => (type === 'opaque' ? 'opaque' : status),
        (error: Error) => error.name,
      ),
    [url, init] as const,
  )
}

describe.skipIf(missingBrowser !== undefined)('a page', () => {
  let browser: Browser
  beforeAll(async () => void (browser = await startBrowser()))
  afterAll(() => browser?.close())

  test('of another site reads nothing, decides nothing, and reaches nothing under its own name', async () => {
    const site = await startSite()
    const user = await windowOf(browser, site)
    const evil = site.url.replace('127.0.0.1', 'evil.test')
    const waiting = await site.executor.execute({ name: 'deploy', args: { to: 'prod' } }, { session: 'ada' })
    const page = await user.newPage()
    await page.goto(`${evil}/?idle`)
    const decision = `/api/calls/${waiting.invocationId}/decision`
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"decision":"allow"}' }
    const simple = { method: 'POST', mode: 'no-cors', body: '{"decision":"allow"}' }
    expect(await sendFrom(page, `${site.url}/api/calls`)).toBe('TypeError')
    expect(await sendFrom(page, `${site.url}/api/calls`, { mode: 'no-cors' })).toBe('opaque')
    expect(await sendFrom(page, site.url + decision, json)).toBe('TypeError')
    expect(await sendFrom(page, site.url + decision, simple)).toBe('opaque')
    // The name leads to the same server, as after DNS rebinding: the page has an origin of its own there.
    expect(await sendFrom(page, `${evil}/api/calls`)).toBe(403)
    expect(await sendFrom(page, evil + decision, json)).toBe(403)
    expect(site.ran).toEqual([])
    expect(await site.executor.calls.waiting()).toHaveLength(1)
  })

  test('in a frame without an origin, and a form, decide nothing', async () => {
    const site = await startSite()
    const user = await windowOf(browser, site)
    const { invocationId } = await site.executor.execute({ name: 'deploy', args: { to: 'prod' } }, { session: 'ada' })
    const page = await user.newPage()
    await page.goto(`${site.url}/?idle`)
    const target = `${site.url}/api/calls/${invocationId}/decision`
    const said = await page.evaluate(async (address) => {
      const frame = document.createElement('iframe')
      frame.setAttribute('sandbox', 'allow-scripts allow-forms')
      const answer = new Promise((resolve) => {
        window.addEventListener('message', ({ data }) => resolve(data))
      })
      frame.srcdoc =
        `<form method=post enctype=text/plain action="${address}"><input name='{"decision":"allow","x":"' value='"}'></form>
        <script>fetch('${address}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"decision":"allow"}' })
          .then((answer) => answer.status, (error) => error.name).then((said) => { parent.postMessage(said, '*'); document.forms[0].submit() })</` +
        'script>'
      document.body.append(frame)
      return answer
    }, target)
    expect(['TypeError', 403]).toContain(said)
    await expect.poll(() => site.counts.requests, { timeout: 20_000 }).toBeGreaterThan(1)
    expect(site.ran).toEqual([])
    expect(await site.executor.calls.waiting()).toHaveLength(1)
  })

  test('is given hostile text as it is, and runs none of it', async () => {
    const echo = tool({
      name: 'repeat',
      description: hostile,
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      requiresConfirmation: true,
      confirmationMessage: () => hostile,
      handler: ({ text }) => text,
    })
    const site = await startSite({ extra: [echo] })
    const page = await pageIn(await windowOf(browser, site), site)
    const { invocationId } = await site.executor.execute(
      { name: 'repeat', args: { text: hostile } },
      { session: 'ada' },
    )
    await sees(page, `call.waiting`)
    await page.evaluate((id) => window.client.decide(id, 'allow', { wait: 20 }), invocationId)
    const [view] = await page.evaluate(() => window.client.calls())
    expect(view?.args).toEqual({ text: hostile })
    const { waiting } = await page.evaluate(async () => ({ waiting: window.client.calls()[0]?.waiting }))
    expect(waiting).toBeUndefined()
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false)
  })

  test.each(['the whole of it', 'with a name like a page'])(
    'that opens an artifact in a tab saves it, and runs none of it: %s',
    async (which) => {
      const html = tool('html', () => `<!doctype html><script>document.title = 'pwned'</script>${hostile.repeat(500)}`)
      const site = await startSite({ extra: [html] })
      const user = await windowOf(browser, site)
      const { handle } = await site.executor.execute({ name: 'html' }, { session: 'ada' })
      const page = await user.newPage()
      await page.goto(`${site.url}/?idle`)
      const saved = page.waitForEvent('download')
      const address = `${site.url}/api/artifacts/${handle}${which.startsWith('with') ? '?x=.html' : ''}`
      await page.goto(address).catch(() => {}) // a download is no page
      expect((await saved).url()).toBe(address)
      expect(await page.title()).toBe('page')
    },
  )

  test('declares tools for its own session, and they go when it closes its client', async () => {
    const pages = pageTools()
    const site = await startSite({ use: () => [pages], pageTools: pages })
    const page = await pageIn(await windowOf(browser, site), site)
    await page.evaluate(() => {
      const described = { name: 'read_title', description: 'Reads the title of the page' }
      window.client.tool('read_title', () => document.title, described)
    })
    const namesOf = (session: string): string[] => site.executor.tools('model', session).map(({ name }) => name)
    await expect.poll(() => namesOf('ada'), { timeout: 20_000 }).toContain('read_title')
    expect(namesOf('bob')).not.toContain('read_title')
    const waiting = await site.executor.execute({ name: 'read_title' }, { session: 'ada' })
    expect((await site.executor.calls.settled(waiting)).content).toEqual([{ type: 'text', text: 'page' }])
    await page.evaluate(() => window.client.close())
    await expect.poll(() => namesOf('ada'), { timeout: 20_000 }).not.toContain('read_title')
  })

  test('has no token of the kernel anywhere it could look', async () => {
    const site = await startSite()
    const page = await pageIn(await windowOf(browser, site), site)
    const { token = '' } = await site.executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    await sees(page, `call.waiting`)
    const all = await page.evaluate(() =>
      JSON.stringify([
        window.client.calls(),
        window.client.hello,
        Object.entries(localStorage),
        Object.entries(sessionStorage),
        location.href,
      ]),
    )
    expect(all).not.toContain(token.split('.')[1])
  })
})
