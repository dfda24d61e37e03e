// What hooks do in a page is tried in Chromium, by tests/client/hooks.test.ts.
import { createElement, type ReactNode } from 'react'
import { createExecutor, tool } from 'toolwright'
import { connect } from 'toolwright/client/browser'
import { httpClients } from 'toolwright/client/http'
import type { ToolClient } from 'toolwright/client/protocol'
import { ToolClientProvider, useApprovals, useToolClient, useToolClientState } from 'toolwright/react/hooks'
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
  const client = connect('http://localhost', { fetch: (...parameters) => fetch(new Request(...parameters)) })
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
  expect(seen?.calls).toEqual([])
  const { invocationId } = await executor.execute({ name: 'deploy' })
  await vi.waitFor(() => expect(seen?.calls).toMatchObject([{ invocationId }]), { timeout: 10_000 })
  expect(await seen?.decide(invocationId, 'allow', { wait: 10 })).toMatchObject({ result: { status: 'ok' } })
  await vi.waitFor(() => expect(seen?.calls).toEqual([]), { timeout: 10_000 })
  root.unmount()
})

it('the hooks tell the state of the connection, the oldest question first, and a decision that came too late', async () => {
  const deploy = tool({ name: 'deploy', description: 'Deploys', requiresConfirmation: true, handler: () => 'deployed' })
  const executor = createExecutor({ tools: [deploy] })
  let isKnown = true
  const { fetch, close } = httpClients({
    executor,
    authorize: () => (isKnown ? { session: executor.session } : undefined),
  })
  const open = (): ToolClient =>
    connect('http://localhost', { fetch: (...parameters) => fetch(new Request(...parameters)) })
  const clients = [open()]
  onTestFinished(async () => {
    for (const client of clients) client.close()
    await close()
  })
  let seen: ReturnType<typeof useApprovals> | undefined
  let states: string[] = []
  const Approvals = (): ReactNode => {
    seen = useApprovals({ oldestFirst: true })
    states.push(useToolClientState())
    return null
  }
  const root = createToolRoot()
  const render = (client: ToolClient): void =>
    root.render(createElement(ToolClientProvider, { client }, createElement(Approvals)))
  render(clients[0]!)
  await vi.waitFor(() => expect(states.at(-1)).toBe('open'), { timeout: 10_000 })
  expect(states[0]).toBe('connecting')
  const ids: string[] = []
  for (let index = 0; index < 3; index++) {
    ids.push((await executor.execute({ name: 'deploy' })).invocationId)
    await new Promise((resolve) => setTimeout(resolve, 2)) // each is created at another time
  }
  const waiting = (): string[] => (seen?.calls ?? []).map(({ invocationId }) => invocationId)
  await vi.waitFor(() => expect(waiting()).toEqual(ids), { timeout: 10_000 })
  const [id = ''] = ids
  expect(await seen?.decide(id, 'allow', { wait: 10 })).toMatchObject({ result: { status: 'ok' } })
  expect(await seen?.decide(id, 'deny')).toBeUndefined()
  await expect(seen?.decide('no such call', 'deny')).rejects.toMatchObject({ code: 'E_NOT_FOUND' })
  isKnown = false
  states = []
  clients.push(open())
  render(clients[1]!)
  await vi.waitFor(() => expect(states.at(-1)).toBe('refused'), { timeout: 10_000 })
  root.unmount()
})
