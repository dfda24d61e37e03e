import { createHash, createHmac } from 'node:crypto'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { program } from '../servers/installed.ts'

/** The only credentials that the server knows. */
export const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
export const bucket = 'artifacts'

/** What was asked, as the server sees it. */
export interface Asked {
  readonly method: string
  readonly host: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly length: number
}

/** What is done to a request instead of answering it, or with its answer. */
export type Intervention =
  { readonly status: number; readonly body?: string } | 'drop' | 'drop the answer' | 'stall' | undefined

export interface S3Server {
  readonly port: number
  readonly asked: Asked[]
  /** Is asked before each request. */
  intervene: (asked: Asked) => Intervention
  /** How many files lie under a prefix, and in uploads that are not complete. */
  count(prefix: string): number
  stop(): Promise<void>
}

/**
 * `s3rver` in a process of its own, and before it what it lacks: it checks no signature, cannot abort an upload, and cannot
 * give the first byte alone. What stands before it computes each signature a second time, and can be told to be in the way.
 */
export async function startS3(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'toolwright-s3-'))
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=DEP0169',
      program('s3rver'),
      `--directory=${directory}`,
      '--address=127.0.0.1',
      '--port=0',
      '--silent',
      '--service-endpoint=localhost',
      '--configure-bucket',
      bucket,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const port = await new Promise<number>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (data) => {
      output += String(data)
      const found = /listening on \S+:(\d+)/.exec(output)
      if (found) resolve(Number(found[1]))
    })
    child.on('exit', () => reject(new Error(`s3rver ended: ${output}`)))
  })
  const uploads = join(directory, bucket, '._S3rver_uploads')

  const server: S3Server = {
    port: 0,
    asked: [],
    intervene: () => undefined,
    count(prefix) {
      const objects = readdirSync(join(directory, bucket), { recursive: true }).map(String)
      const parts = existsSync(uploads) ? readdirSync(uploads).length : 0
      return objects.filter((name) => name.startsWith(prefix) && name.endsWith('_object')).length + parts
    },
    async stop() {
      front.closeAllConnections()
      await new Promise((closed) => front.close(closed))
      const ended = new Promise((exit) => child.once('exit', exit))
      if (child.exitCode === null && child.kill('SIGKILL')) await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const { method = '', url = '', headers } = request
    const { pathname: path, searchParams: query } = new URL(url, 'http://s3')
    const asked: Asked = { method, host: headers.host ?? '', path, query, headers, length: body.length }
    server.asked.push(asked)
    const intervention = server.intervene(asked)
    if (intervention === 'drop') return void request.socket.destroy()
    if (intervention === 'stall') return
    if (typeof intervention === 'object') {
      response.writeHead(intervention.status, { 'content-type': 'application/xml' })
      return void response.end(intervention.body)
    }
    const refusal = wrongSignature(asked, url, body)
    if (refusal !== undefined) {
      response.writeHead(403, { 'content-type': 'application/xml' })
      return void response.end(`<Error><Code>SignatureDoesNotMatch</Code><Message>${refusal}</Message></Error>`)
    }
    const upload = query.get('uploadId')
    if (method === 'DELETE' && upload !== null && /^[0-9a-f-]+$/i.test(upload)) {
      rmSync(join(uploads, upload), { recursive: true, force: true })
      return void response.writeHead(204).end()
    }
    const isFirstByte = headers.range === 'bytes=0-0' // which s3rver takes for everything
    const passedHeaders = isFirstByte ? { ...headers, range: 'bytes=0-1' } : headers
    const passed = send({ host: '127.0.0.1', port, method, path: url, headers: passedHeaders }, (answered) => {
      if (isFirstByte && answered.statusCode === 206) {
        response.writeHead(206, { 'content-length': 1 })
        answered.on('data', (data: Buffer) => response.end(data.subarray(0, 1)))
        return
      }
      if (intervention === 'drop the answer') {
        answered.resume().on('end', () => request.socket.destroy())
        return
      }
      response.writeHead(answered.statusCode ?? 500, answered.headers)
      answered.pipe(response)
    })
    passed.on('error', () => request.socket.destroy())
    passed.end(body)
  }

  const front = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((listening) => front.listen(0, '127.0.0.1', listening))
  return Object.assign(server, { port: (front.address() as AddressInfo).port })
}

/** What is wrong with a request's signature; nothing where it is the one that its secret gives. */
function wrongSignature({ method, path, headers }: Asked, url: string, body: Buffer): string | undefined {
  const hash = createHash('sha256').update(body).digest('hex')
  if (headers['x-amz-content-sha256'] !== hash) return 'the body is another'
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=S3RVER\/(\d{8})\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w+)$/
  const [, day = '', region = '', names = '', signature] = pattern.exec(headers.authorization ?? '') ?? []
  const time = String(headers['x-amz-date'])
  if (!time.startsWith(day) || Math.abs(Date.now() - readTime(time)) > 900_000) return 'the time is another'
  for (const name of [
    'host',
    ...Object.keys(headers).filter((header) => /^x-amz-|^range$|^content-type$/.test(header)),
  ]) {
    if (!names.split(';').includes(name)) return `${name} is not signed`
  }
  const query = (url.split('?')[1] ?? '').split('&').filter((pair) => pair !== '')
  const request = [
    method,
    path,
    query.toSorted().join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name])}`),
    '',
    names,
    hash,
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(request).digest('hex')].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${credentials.secretAccessKey}`,
  )
  return createHmac('sha256', key).update(text).digest('hex') === signature ? undefined : 'the signature is another'
}

function readTime(time: string): number {
  return Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
}
