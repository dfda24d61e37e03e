import { connect } from '../../../client/browser.ts'
import type { ToolClient } from '../../../client/protocol.ts'
import type { ToolPage } from '../_calls.ts'
import { Timelines } from './timelines.ts'

const key = 'toolwright.token'

/** Takes the token out of the address: it stays in this tab, and in no history. */
function takeToken(): boolean {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return false
  sessionStorage.setItem(key, token)
  history.replaceState(null, '', location.pathname + location.search)
  return true
}

takeToken()
addEventListener('hashchange', () => {
  if (takeToken()) location.reload() // the link of a server that was started again
})

const accessToken = sessionStorage.getItem(key)
const headers: Record<string, string> = accessToken === null ? {} : { authorization: `Bearer ${accessToken}` }
const api = new URL('api', document.baseURI).href

/** The connection of this page. */
export const client: ToolClient = connect(api, { headers })

/** The events of the calls that this page has seen. */
export const timelines: Timelines = new Timelines(client)

/** Asks which tools this page may call. */
export async function loadTools(): Promise<ToolPage> {
  const response = await fetch(`${api}/tools`, { headers })
  if (!response.ok) throw new Error(`The server answered ${response.status}.`)
  return response.json() as Promise<ToolPage>
}

/** Calls a tool. Resolves with the id of the call. */
export async function postCall(name: string, args: unknown): Promise<string> {
  const body = JSON.stringify({ name, args })
  const response = await fetch(`${api}/tools`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  const reply = (await response.json()) as { readonly invocationId: string; readonly error?: Error }
  if (!response.ok) throw new Error(reply.error?.message ?? `The server answered ${response.status}.`)
  return reply.invocationId
}
