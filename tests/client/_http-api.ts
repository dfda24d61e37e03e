import { request as nodeRequest } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor, tool, type Extension, type Tool, type ToolExecutor } from 'toolwright'
import { httpClients, type HttpClients, type HttpClientsOptions, type PageUser } from 'toolwright/client/http'
import { listen, type Listening } from 'toolwright/client/node'
import type { Answer, CallPage, CallView, Frames, WireFault } from 'toolwright/client/protocol'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { onTestFinished } from 'vitest'

/** What the tools of the tests did. */
export interface Done {
  readonly ran: unknown[]
  /** Lets the next call of `slow` end. */
  release: () => void
}

const text = { type: 'string' } as const

/** The tools of the tests. */
export function toolsOf(done: Done): Tool[] {
  return [
    tool({
      name: 'deploy',
      description: 'Deploys',
      inputSchema: { type: 'object', properties: { to: text, key: text }, required: ['to'] },
      secrets: ['/key'],
      requiresConfirmation: true,
      confirmationMessage: ({ to }) => `Deploy to ${String(to)}?`,
      handler: ({ to }) => (done.ran.push(to), `deployed to ${String(to)}`),
    }),
    tool({
      name: 'form',
      description: 'Asks the page',
      type: 'client',
      requiresResponse: true,
      timeout: 600_000,
      inputSchema: { type: 'object', properties: { question: text, pin: text } },
      outputSchema: { type: 'object', properties: { email: text }, required: ['email'] },
      secrets: ['/pin'],
    }),
    tool({
      name: 'look',
      description: 'Reads the page',
      type: 'client',
      requiresResponse: true,
      timeout: 600_000,
      inputSchema: { type: 'object', properties: { at: text } },
    }),
    tool({
      name: 'slow',
      description: 'Takes its time',
      requiresConfirmation: true,
      handler: () => new Promise<string>((resolve) => (done.release = () => resolve('at last'))),
    }),
    tool({ name: 'endless', description: 'Never ends', handler: () => new Promise<string>(() => {}) }),
    tool({ name: 'log', description: 'Gives a long text', handler: () => 'a line of text, no more\n'.repeat(5_000) }),
    tool({
      name: 'count',
      description: 'Counts',
      handler: async function* () {
        for (let number = 1; number < 4; number++) yield number
        return 'counted'
      },
    }),
    tool({
      name: 'echo',
      description: 'Says it again',
      inputSchema: { type: 'object', properties: { text } },
      handler: ({ text: said }) => said,
    }),
  ]
}

/** An HTTP API that listens, its executor, and what its tools did. */
export interface HttpApi extends Done {
  readonly executor: ToolExecutor
  readonly clients: HttpClients
  readonly url: string
  readonly reports: unknown[]
  readonly listening: Listening
  readonly close: () => Promise<void>
}

/** Users by their tokens. */
const users: Readonly<Record<string, PageUser>> = {
  ada: { session: 'ada', name: 'Ada' },
  bob: { session: 'bob', name: 'Bob' },
  all: { session: '*', name: 'the operator' },
  guest: { session: 'ada', may: ['watch'] },
}

export function userOf(request: Request): PageUser | undefined {
  return users[/^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? '']
}

export interface HttpApiOptions extends Omit<Partial<HttpClientsOptions>, 'executor'> {
  readonly use?: readonly Extension[]
  readonly port?: number
  readonly extra?: readonly Tool[]
}

/** Opens an HTTP API for one test. */
export async function httpApi({ use = [], port = 0, extra = [], ...options }: HttpApiOptions = {}): Promise<HttpApi> {
  const reports: unknown[] = []
  const report = (error: unknown): void => void reports.push(error)
  const done: Done = { ran: [], release: () => {} }
  const executor = createExecutor({ tools: [...toolsOf(done), ...extra], use: [...use], report })
  const clients = httpClients({ executor, authorize: userOf, report, ...options })
  const listening = await listen(clients.fetch, { report, port })
  let isClosed = false
  const close = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    await clients.close()
    await listening.close()
    await executor.close()
  }
  onTestFinished(close)
  return Object.assign(done, { executor, clients, url: listening.url, reports, listening, close })
}

/** A journal on a file of its own, which any number of executors open. */
export function journalFile(): () => Extension {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-client-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return () => sqliteJournal(join(folder, 'calls.db'))
}

export interface Sent {
  readonly as?: string
  readonly method?: string
  readonly body?: unknown
  /** The body as it goes out. */
  readonly raw?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request. */
export async function send(
  url: string,
  { as = 'ada', method, body, raw, headers }: Sent = {},
): Promise<Response & { readonly data: Answer & CallPage & CallView & WireFault & Record<string, unknown> }> {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  // A browser says where a request comes from, and a page its version.
  const isPages = headers !== undefined && 'origin' in headers
  const response = await fetch(isPages ? `${url}${url.includes('?') ? '&' : '?'}protocol=2` : url, {
    method: method ?? (content === undefined ? 'GET' : 'POST'),
    headers: {
      ...(as !== '' && { authorization: `Bearer ${as}` }),
      ...(content !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(content !== undefined && { body: content }),
  })
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return Object.assign(response, { data: isJson ? await response.clone().json() : {} })
}

/** Sends a request with headers that `fetch` does not let through. Resolves with the status. */
export function sendRaw(
  url: string,
  headers: Readonly<Record<string, string>>,
  path = '/calls?protocol=2',
): Promise<number> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = nodeRequest({ hostname, port, path, headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject).end()
  })
}

type Frame = { readonly [Name in keyof Frames]: { readonly name: Name; readonly data: Frames[Name] } }[keyof Frames] & {
  readonly id: string
}

/** A stream that is read as it comes. */
export interface Reading {
  readonly status: number
  readonly frames: Frame[]
  readonly text: () => string
  readonly isOver: () => boolean
  readonly close: () => void
}

/** Opens a stream and reads it. */
export async function read(url: string, as = 'ada', lastId?: string): Promise<Reading> {
  const leaving = new AbortController()
  const response = await fetch(`${url}/events`, {
    headers: { authorization: `Bearer ${as}`, ...(lastId !== undefined && { 'last-event-id': lastId }) },
    signal: leaving.signal,
  })
  const frames: Frame[] = []
  let all = ''
  let isOver = false
  const decoder = new TextDecoder()
  const reading = async (): Promise<void> => {
    let rest = ''
    for await (const piece of response.body ?? []) {
      const came = decoder.decode(piece, { stream: true })
      all += came
      const parts = (rest + came).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1] ?? ''
        if (field('data') !== '') {
          frames.push({ id: field('id'), name: field('event'), data: JSON.parse(field('data')) } as Frame)
        }
      }
    }
  }
  void reading()
    .catch(() => {})
    .finally(() => (isOver = true))
  onTestFinished(() => leaving.abort())
  return { status: response.status, frames, text: () => all, isOver: () => isOver, close: () => leaving.abort() }
}

/** The calls as a page that reads a stream knows them: its last word of each. */
export function seenIn({ frames }: Reading): Map<string, Partial<CallView>> {
  const seen = new Map<string, Partial<CallView>>()
  for (const { name, data } of frames) {
    if (name === 'calls') {
      seen.clear()
      for (const view of data.calls) seen.set(view.invocationId, view)
    }
    if (name === 'call') seen.set(data.invocationId, data)
  }
  return seen
}
