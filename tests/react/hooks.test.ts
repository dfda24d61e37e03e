// What hooks do in a page is tried in Chromium, by tests/client/hooks.test.ts.
import { createElement, type ReactNode } from 'react'
import { createExecutor, tool } from 'toolwright'
import { connect } from 'toolwright/client/browser'
import { httpClients } from 'toolwright/client/http'
import { ToolClientProvider, useApprovals, useToolClient } from 'toolwright/react/hooks'
import { createToolRoot } from 'toolwright/react/root'
import { expect, it, onTestFinished, vi } from 'vitest'

it('a hook outside of a provider says what is missing', () => {
  const Lost = (): ReactNode => {
    useToolClient()
    return null
  }
  const root = createToolRoot({ report: () => {} })
  expect(() => root.render(createElement(Lost))).toThrow(/<ToolClientProvider/)
})

it('the hooks need nothing of a page: any renderer shows what waits, and decides', async () => {
  const deploy = tool({ name: 'deploy', description: 'Deploys', requiresConfirmation: true, handler: () => 'deployed' })
  const executor = createExecutor({ tools: [deploy] })
  const { fetch, close } = httpClients({ executor, authorize: () => ({ session: executor.session }) })
  const client = connect('http://localhost', { fetch: (...given) => fetch(new Request(...given)) })
  onTestFinished(async () => {
    client.close()
    await close()
  })
  let seen: ReturnType<typeof useApprovals> | undefined
  const Approvals = (): ReactNode => {
    seen = useApprovals()
    return null
  }
  const root = createToolRoot()
  root.render(createElement(ToolClientProvider, { client }, createElement(Approvals)))
  expect(seen?.pending).toEqual([])
  const { invocationId } = await executor.execute({ name: 'deploy' })
  await vi.waitFor(() => expect(seen?.pending).toMatchObject([{ invocationId }]), { timeout: 10_000 })
  expect(await seen?.decide(invocationId, 'allow', { wait: 10 })).toMatchObject({ result: { status: 'ok' } })
  await vi.waitFor(() => expect(seen?.pending).toEqual([]), { timeout: 10_000 })
  root.unmount()
})
