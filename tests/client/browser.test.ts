import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageIn, sees, startBrowser, startSite, windowOf } from './_browser.ts'
import { journalFile } from './_http-api.ts'
import { missingBrowser } from './_installed.ts'

if (missingBrowser !== undefined) console.warn(`The client is not tried in a browser: ${missingBrowser}`)

const waitFor = { timeout: 20_000, interval: 50 }

describe.skipIf(missingBrowser !== undefined)('a page', () => {
  let browser: Browser
  beforeAll(async () => void (browser = await startBrowser()))
  afterAll(() => browser?.close())

  test('sees an approval with its words after a reload, in a second tab, and after a restart; one answer counts', async () => {
    const open = journalFile()
    const site = await startSite({ use: () => [open()] })
    const user = await windowOf(browser, site)
    const first = await pageIn(user, site)
    const waiting = await site.executor.execute({ name: 'deploy', args: { to: 'prod' } }, { session: 'ada' })
    const isAsked = `call.waiting?.prompt === 'Deploy to prod?' && call.args.to === 'prod'`
    await sees(first, isAsked)
    await first.reload()
    await sees(first, isAsked)
    const second = await pageIn(user, site)
    await sees(second, isAsked)
    await site.restart()
    await first.waitForFunction(() => window.client.state === 'open')
    const third = await pageIn(user, site)
    await sees(third, isAsked)
    const answers = await Promise.all(
      [first, second, third].flatMap((page) =>
        Array.from({ length: 7 }, () =>
          page.evaluate((id) => window.client.decide(id, 'allow', { note: 'yes', wait: 20 }), waiting.invocationId),
        ),
      ),
    )
    expect(answers.filter(({ repeated }) => !repeated)).toHaveLength(1)
    expect(answers.map(({ result }) => result?.status)).toEqual(answers.map(() => 'ok'))
    expect(site.ran).toEqual(['prod'])
    for (const page of [first, second, third])
      await sees(page, `call.status === 'ok' && call.content?.[0].text === 'deployed to prod'`)
    const other = first.evaluate(
      (id) => window.client.decide(id, 'deny').catch(({ code, status }) => [code, status]),
      waiting.invocationId,
    )
    expect(await other).toEqual(['E_APPROVAL_INVALID', 409])
  })

  test('answers a client tool, also a call that came before its handler; of two tabs one runs it', async () => {
    const site = await startSite()
    const user = await windowOf(browser, site)
    const [one, other] = [await pageIn(user, site), await pageIn(user, site)]
    const early = await site.executor.execute({ name: 'look', args: { at: 'early' } }, { session: 'ada' })
    const settled = site.executor.calls.settled(early)
    for (const page of [one, other]) {
      await sees(page, `call.toolName === 'look'`)
      await page.evaluate(() => {
        window.ran = []
        window.client.tool<{ at: string }>('look', async ({ at }, { toolName }) => {
          window.ran.push(at)
          await new Promise((resolve) => setTimeout(resolve, 50))
          return `${toolName} saw ${at}`
        })
      })
    }
    expect((await settled).content).toEqual([{ type: 'text', text: 'look saw early' }])
    const late = await site.executor.execute({ name: 'look', args: { at: 'late' } }, { session: 'ada' })
    expect((await site.executor.calls.settled(late)).content).toEqual([{ type: 'text', text: 'look saw late' }])
    const ran = await Promise.all([one, other].map((page) => page.evaluate(() => window.ran)))
    expect(new Set(ran.flat())).toEqual(new Set(['early', 'late']))
    expect(ran.flat()).toHaveLength(2)
  })

  test('tells the model what its handler throws, and what does not fit', async () => {
    const site = await startSite()
    const page = await pageIn(await windowOf(browser, site), site)
    await page.evaluate(() => {
      window.client.tool('look', () => {
        throw new Error('nothing is selected')
      })
      window.client.tool('form', () => ({ phone: 'x' }))
      try {
        window.client.tool('form', () => 1)
      } catch (error) {
        window.ran = [(error as Error).message]
      }
    })
    const failed = await site.executor.execute({ name: 'look', args: {} }, { session: 'ada' })
    const text = JSON.stringify((await site.executor.calls.settled(failed)).content)
    expect(text).toContain('nothing is selected')
    const wrong = await site.executor.execute({ name: 'form', args: {} }, { session: 'ada' })
    expect((await site.executor.calls.settled(wrong)).status).toBe('error')
    expect(await page.evaluate(() => window.ran)).toEqual([expect.stringContaining('has a handler already')])
  })

  test('that is killed with a lease leaves the call to another, once the lease has run out', async () => {
    const site = await startSite()
    const [one, other] = [await windowOf(browser, site), await windowOf(browser, site)]
    const settings = { lease: 1_500 }
    for (const context of [one, other]) await context.addInitScript(`window.settings = ${JSON.stringify(settings)}`)
    const dying = await pageIn(one, site)
    await dying.evaluate(() => void window.client.tool('look', () => new Promise(() => {})))
    const waiting = await site.executor.execute({ name: 'look', args: {} }, { session: 'ada' })
    const settled = site.executor.calls.settled(waiting)
    const heir = await pageIn(other, site)
    await sees(heir, `call.waiting?.lease !== undefined`)
    await heir.evaluate(() => void window.client.tool('look', () => 'taken over'))
    await dying.close()
    expect((await settled).content).toEqual([{ type: 'text', text: 'taken over' }])
  })

  test('that sleeps through its lease stops when another has taken the call on, and its answer is dropped', async () => {
    const site = await startSite()
    const [one, other] = [await windowOf(browser, site), await windowOf(browser, site)]
    for (const context of [one, other]) await context.addInitScript(`window.settings = { lease: 1_000 }`)
    const sleeping = await pageIn(one, site)
    await sleeping.evaluate(() => {
      window.aborted = 0
      window.client.tool('look', async (_args, { signal }) => {
        signal.addEventListener('abort', () => window.aborted++)
        return new Promise((resolve) => (window.release = resolve))
      })
    })
    const waiting = await site.executor.execute({ name: 'look', args: {} }, { session: 'ada' })
    const settled = site.executor.calls.settled(waiting)
    await sees(sleeping, `call.waiting?.lease !== undefined`)
    const awake = await pageIn(other, site)
    await awake.evaluate(
      () => void window.client.tool('look', () => new Promise((resolve) => (window.release = resolve))),
    )
    // The page does nothing for longer than its lease, as one that the system has put to sleep.
    await sleeping.evaluate(() => {
      const end = performance.now() + 2_500
      while (performance.now() < end);
    })
    await sleeping.waitForFunction(() => window.aborted === 1)
    await sleeping.evaluate(() => window.release('too late'))
    await awake.waitForFunction(() => window.release !== undefined)
    await awake.evaluate(() => window.release('in time'))
    expect((await settled).content).toEqual([{ type: 'text', text: 'in time' }])
  })

  test('renews the lease of a handler that takes long', async () => {
    const site = await startSite()
    const user = await windowOf(browser, site)
    await user.addInitScript(`window.settings = { lease: 1_000 }`)
    const page = await pageIn(user, site)
    await page.evaluate(
      () => void window.client.tool('look', () => new Promise((resolve) => setTimeout(resolve, 2_500, 'done'))),
    )
    const other = await pageIn(user, site)
    await other.evaluate(() => {
      window.ran = []
      window.client.tool('look', () => void window.ran.push(1))
    })
    const waiting = await site.executor.execute({ name: 'look', args: {} }, { session: 'ada' })
    const { content } = await site.executor.calls.settled(waiting)
    const ran = await other.evaluate(() => window.ran)
    // One of them has run it, and that one alone.
    if (ran.length === 0) expect(content).toEqual([{ type: 'text', text: 'done' }])
    else expect([ran, content]).toEqual([[1], [{ type: 'json', data: null }]])
  })

  test('shares one stream with seven others, each of which can answer; if it is closed another listens', async () => {
    const site = await startSite()
    const user = await windowOf(browser, site)
    const pages = []
    for (let index = 0; index < 8; index++) pages.push(await pageIn(user, site))
    expect(site.counts.events).toBe(1)
    for (const page of pages.slice(0, 3)) {
      const { invocationId } = await site.executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
      for (const each of pages) await sees(each, `call.invocationId === '${invocationId}' && call.waiting`)
      const answer = await page.evaluate((id) => window.client.decide(id, 'allow', { wait: 20 }), invocationId)
      expect(answer.result?.status).toBe('ok')
      for (const each of pages) await sees(each, `call.invocationId === '${invocationId}' && call.status === 'ok'`)
    }
    await pages[0]!.close()
    await expect.poll(() => site.counts.events, waitFor).toBe(2)
    const { invocationId } = await site.executor.execute({ name: 'deploy', args: { to: 'y' } }, { session: 'ada' })
    for (const each of pages.slice(1)) await sees(each, `call.invocationId === '${invocationId}' && call.waiting`)
    expect(site.counts.events).toBe(2)
  })

  test('does not share with a page of another user', async () => {
    const site = await startSite()
    const user = await windowOf(browser, site)
    const first = await pageIn(user, site)
    await site.executor.execute({ name: 'echo', args: { text: 'before' } }, { session: 'ada' })
    await sees(first, `call.args?.text === 'before' && call.status === 'ok'`) // its stream is open, as Ada
    await user.addCookies([{ name: 'user', value: 'bob', url: site.url }])
    const second = await pageIn(user, site)
    await site.executor.execute({ name: 'echo', args: { text: 'for Ada' } }, { session: 'ada' })
    await site.executor.execute({ name: 'echo', args: { text: 'for Bob' } }, { session: 'bob' })
    await sees(first, `call.args?.text === 'for Ada' && call.status === 'ok'`)
    await sees(second, `call.args?.text === 'for Bob' && call.status === 'ok'`)
    const sessions = await Promise.all(
      [first, second].map((page) => page.evaluate(() => window.client.calls().map(({ session }) => session))),
    )
    expect(sessions).toEqual([['ada', 'ada'], ['bob']])
  })

  test('has a stream of its own if the browser cannot share', async () => {
    const site = await startSite()
    const user = await windowOf(browser, site)
    await user.addInitScript(() => void Reflect.deleteProperty(globalThis, 'BroadcastChannel'))
    const pages = [await pageIn(user, site), await pageIn(user, site)]
    await expect.poll(() => site.counts.events, waitFor).toBe(2)
    await site.executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    for (const page of pages) await sees(page, `call.waiting`)
  })

  test('counts down by the clock of the server, though its own is an hour off', async () => {
    const site = await startSite()
    const user = await windowOf(browser, site)
    await user.addInitScript(() => {
      const own = Date.now
      Date.now = () => own() + 3_600_000
      window.settings = { lease: 1_500 }
    })
    const page = await pageIn(user, site)
    const [off, now] = await page.evaluate(() => [Date.now(), window.client.now()] as const)
    expect(off - now).toBeGreaterThan(3_500_000)
    const { invocationId } = await site.executor.execute({ name: 'look', args: {} }, { session: 'ada' })
    const settled = site.executor.calls.settled(invocationId)
    const [waiting] = await site.executor.calls.waiting({ invocationId })
    await site.executor.calls.lease(waiting!, 'another page', 1_500)
    await page.reload()
    await sees(page, `call.waiting?.lease`)
    await page.evaluate(() => void window.client.tool('look', () => 'in its time'))
    expect((await settled).content).toEqual([{ type: 'text', text: 'in its time' }])
  })

  test('that a user leaves and comes back to is as before', async () => {
    const site = await startSite()
    const user = await windowOf(browser, site)
    const page = await pageIn(user, site)
    await page.goto(`${site.url}/elsewhere?idle`)
    const { invocationId } = await site.executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    await page.goBack()
    await sees(page, `call.invocationId === '${invocationId}' && call.waiting`)
    const answer = await page.evaluate((id) => window.client.decide(id, 'allow', { wait: 20 }), invocationId)
    expect(answer.result?.status).toBe('ok')
  })

  test('sends an answer again whose answer was lost, and the handler runs once', async () => {
    const site = await startSite()
    const page = await pageIn(await windowOf(browser, site), site)
    const { invocationId } = await site.executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    let lost = 0
    await page.route('**/decision?*', async (route) => {
      if (lost++ > 0) return route.continue()
      await route.fetch() // it gets through, and its answer does not come back
      return route.abort()
    })
    const answer = await page.evaluate((id) => window.client.decide(id, 'allow', { wait: 20 }), invocationId)
    expect([answer.repeated, answer.result?.status, site.ran, lost]).toEqual([true, 'ok', ['x'], 2])
  })

  test('does not run a handler again whose answer could not be sent', async () => {
    const site = await startSite()
    const page = await pageIn(await windowOf(browser, site), site)
    let isCut = true
    await page.route('**/tool-results?*', (route) => (isCut ? route.abort() : route.continue()))
    await page.evaluate(() => {
      window.ran = []
      window.client.tool('look', () => window.ran.push('ran'))
    })
    const waiting = await site.executor.execute({ name: 'look', args: {} }, { session: 'ada' })
    const settled = site.executor.calls.settled(waiting)
    await page.waitForFunction(() => window.ran.length === 1)
    await page.waitForTimeout(1_500) // all tries have failed
    isCut = false
    await site.executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    expect((await settled).content).toEqual([{ type: 'text', text: '1' }])
    expect(await page.evaluate(() => window.ran)).toEqual(['ran'])
  })

  test('is refused once and for all without a right to be there', async () => {
    const site = await startSite()
    const stranger = await browser.newContext()
    const page = await stranger.newPage()
    await page.goto(site.url)
    await page.waitForFunction(() => window.client.state === 'refused')
    await page.waitForTimeout(1_500)
    expect(site.counts.refused).toBe(1)
    const asked = await page.evaluate(() =>
      window.client.decide('x', 'allow').catch(({ status, code }) => [status, code]),
    )
    expect(asked).toEqual([401, 'E_UNAUTHORIZED'])
    await stranger.close()
  })

  test('finds a server again that was away, and what it has missed', async () => {
    const open = journalFile()
    const site = await startSite({ use: () => [open()] })
    const page = await pageIn(await windowOf(browser, site), site)
    await site.stop()
    await page.waitForFunction(() => window.client.state === 'connecting')
    await site.restart()
    const { invocationId } = await site.executor.execute({ name: 'deploy', args: { to: 'x' } }, { session: 'ada' })
    await page.evaluate(() => window.dispatchEvent(new Event('online')))
    await sees(page, `call.invocationId === '${invocationId}' && call.waiting`)
    expect(await page.evaluate(() => window.client.state)).toBe('open')
  })

  test('keeps the same list until something changes, shows progress, and loads older calls', async () => {
    const site = await startSite({ use: () => [] })
    for (let index = 0; index < 250; index++)
      await site.executor.execute({ name: 'echo', args: {} }, { session: 'ada' })
    const page = await pageIn(await windowOf(browser, site), site)
    expect(await page.evaluate(() => window.client.calls() === window.client.calls())).toBe(true)
    expect(await page.evaluate(() => window.client.calls().length)).toBe(200)
    expect(await page.evaluate(() => window.client.more())).toBe(true)
    expect(await page.evaluate(() => window.client.calls().length)).toBe(250)
    expect(await page.evaluate(() => window.client.more())).toBe(false)
    await site.executor.execute({ name: 'count' }, { session: 'ada' })
    await sees(
      page,
      `call.toolName === 'count' && call.status === 'ok' && call.progress.map(({ data }) => data).join() === '1,2,3'`,
    )
    const [newest] = await page.evaluate(() => window.client.calls())
    expect(newest?.toolName).toBe('count')
  })
})
