// An API that answers as each request says, and tells what it got. Each case has a part of it of its own: the step after `/api`.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { GotRequest, Payments, Script } from './cases/_api.ts'
import { numbers } from './cases/_garbage.ts'
import type { Place } from './run.ts'

const gotByPart = new Map<string, GotRequest[]>()

/** The payments of a part, as they are made. */
interface Till {
  readonly random: (below: number) => number
  readonly timesByKey: Map<string, number>
  requests: number
}

const tillsByPart = new Map<string, Till>()

/** Starts the API at two origins of this machine. */
export async function startApi(): Promise<Pick<Place, 'api' | 'otherApi'> & { readonly stop: () => void }> {
  const servers = [createServer(answerAsTold), createServer(answerAsTold)]
  const urls: string[] = []
  for (const server of servers) {
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api`)
  }
  const stop = (): void => {
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  }
  return { api: urls[0]!, otherApi: urls[1]!, stop }
}

/** Answers a request for a path as `/api/PART/orders`. */
export function answerAsTold(request: IncomingMessage, response: ServerResponse): void {
  const [, part = '', url = ''] = /^\/api\/([\w-]+)(.*)$/.exec(request.url ?? '') ?? []
  const pieces: Buffer[] = []
  request.on('error', () => {})
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const former = gotByPart.get(part) ?? []
    if (url === '/got') {
      gotByPart.delete(part)
      return void response.setHeader('cache-control', 'no-store').end(JSON.stringify(former))
    }
    if (url === '/paid') {
      const { requests = 0, timesByKey = new Map<string, number>() } = tillsByPart.get(part) ?? {}
      tillsByPart.delete(part)
      const payments: Payments = { requests, times: [...timesByKey.values()] }
      return void response.setHeader('cache-control', 'no-store').end(JSON.stringify(payments))
    }
    if (url.startsWith('/pay?')) return pay(part, url, request)
    const headers = request.headers as Record<string, string>
    const own = { method: request.method ?? '', url, headers, body: Buffer.concat(pieces).toString('latin1') }
    gotByPart.set(part, [...former, own])
    write(request, scriptOf(url, former), { credential: credentialOf(own), self: request.url ?? '' })
  })
}

/** Makes a payment once for each key. By chance the request is lost before, or the answer is cut anywhere. */
function pay(part: string, url: string, { headers, socket }: IncomingMessage): void {
  const seed = Number(new URLSearchParams(url.split('?')[1]).get('seed'))
  const till = tillsByPart.get(part) ?? { random: numbers(seed), timesByKey: new Map<string, number>(), requests: 0 }
  tillsByPart.set(part, till)
  till.requests++
  const key = String(headers['idempotency-key'])
  const times = till.timesByKey.get(key) ?? 0
  if (till.random(6) === 0) return void socket.destroy()
  till.timesByKey.set(key, Math.max(times, 1))
  const body = JSON.stringify({ paid: till.timesByKey.get(key) })
  const head = `content-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n`
  const whole = `HTTP/1.1 200 OK\r\n${head}\r\n${body}`
  socket.end(till.random(3) === 0 ? whole : whole.slice(0, till.random(whole.length)))
}

/** What a request says of its answer. */
function scriptOf(url: string, former: readonly GotRequest[]): Script {
  const text = new URLSearchParams(url.split('?')[1]).get('do')
  if (text === null) return { headers: { 'content-type': 'application/json' }, body: '1' }
  let script = JSON.parse(text) as Script
  for (const each of former) if (each.url === url) script = script.next ?? script
  return script
}

/** The credential of a request, wherever it stands. */
function credentialOf({ url, headers }: GotRequest): string {
  const [, kind, value = ''] = /^(\w+) (.*)$/.exec(headers['authorization'] ?? '') ?? []
  if (kind === 'Basic') return Buffer.from(value, 'base64').toString().replace(/^.*?:/, '')
  return kind === 'Bearer' ? value : (new URLSearchParams(url.split('?')[1]).get('key') ?? '')
}

/** What scripts can repeat. */
interface Repeated {
  readonly credential: string
  /** The URL of the request. */
  readonly self: string
}

function write({ socket, method }: IncomingMessage, script: Script, repeated: Repeated): void {
  const { status = '200 OK', headers = {}, body = '', times = 1, framing = 'length', piece = Infinity } = script
  const plain = Buffer.from(withForms(body, repeated).repeat(times))
  const bytes = script.isGzip === true ? gzipSync(plain) : plain
  const hasBody = method !== 'HEAD' && !/^(?:204|304)/.test(status)
  const lines = Object.entries({ 'cache-control': 'no-store', connection: 'close', ...headers })
  if (script.isGzip === true) lines.push(['content-encoding', 'gzip'])
  if (framing === 'chunked') lines.push(['transfer-encoding', 'chunked'])
  else if (framing !== 'close' && hasBody)
    lines.push(['content-length', `${framing === 'length' ? bytes.length : framing}`])
  for (let index = 0; index < (script.moreHeaders ?? 0); index++) lines.push([`x-${index}`, 'y'])
  const head = lines.map(([name, value]) => `${name}: ${withForms(value, repeated)}\r\n`).join('')
  const pieces: Buffer[] = [Buffer.from(`HTTP/1.1 ${withForms(status, repeated)}\r\n${head}\r\n`, 'latin1')]
  const sent = script.cutBody === undefined ? bytes : bytes.subarray(0, script.cutBody)
  for (let at = 0; at < sent.length; at += piece) {
    const part = sent.subarray(at, at + piece)
    pieces.push(
      framing === 'chunked'
        ? Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
        : part,
    )
  }
  if (framing === 'chunked' && script.isUnfinished !== true) pieces.push(Buffer.from('0\r\n\r\n'))
  if (script.cut !== undefined) return void socket.end(Buffer.concat(pieces).subarray(0, script.cut))
  for (const each of pieces) socket.write(each)
  if (script.isEndless !== true) socket.end()
}

/** Fills in the credential in the forms in which servers repeat it. */
function withForms(text: string, { credential, self }: Repeated): string {
  return text.replace(/\{\{(\w+)(?: (\d))?\}\}/g, (_, form: string, shift = '0') => {
    const within = Buffer.from(`${'x'.repeat(Number(shift))}${credential}yy`)
    const forms: Record<string, string> = {
      self,
      plain: credential,
      percent: encodeURIComponent(credential),
      json: JSON.stringify(credential).slice(1, -1),
      hex: Buffer.from(credential).toString('hex'),
      base64: within.toString('base64'),
      base64url: within.toString('base64url'),
    }
    return forms[form] ?? ''
  })
}
