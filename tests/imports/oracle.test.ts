// Our requests and those of another client, compared as a server gets them: the same args of each operation of the documents, sent over
// loopback by both. What differs is classed, and each class says why.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ToolContext } from 'toolwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readApiDocument } from '../../src/imports/openapi/_document.ts'
import { operationsOf } from '../../src/imports/openapi/_operations.ts'
import { requestPlan, type RequestPlan } from '../../src/imports/openapi/_request-plan.ts'
import { operationRequest } from '../../src/imports/openapi/_requests.ts'
import { documents, load, missing, parsed, type Node } from './_documents.ts'

/** What a server gets of a request, but for what every client writes in its own way. */
interface Got {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type Outcome = Got | { readonly fault: string }

let server: Server
let base = ''

beforeAll(async () => {
  const ofClients =
    /^(?:connection|user-agent|accept|accept-language|accept-encoding|sec-fetch-mode|content-length|transfer-encoding|host)$/
  server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !ofClients.test(name)))
        response.end(
          JSON.stringify({ method: request.method, url: request.url, headers, body: Buffer.concat(pieces).toString() }),
        )
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

/** Makes values by a seed, so that each run sends the same requests. */
class Values {
  #seed = 20_261_126

  next(below: number): number {
    this.#seed = (Math.imul(this.#seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return (this.#seed >>> 8) % below
  }

  of<Value>(list: readonly Value[]): Value {
    return list[this.next(list.length)]!
  }

  value(root: Node, schema: unknown, depth = 0): unknown {
    const node = at(root, schema)
    if (Array.isArray(node['enum'])) return this.of(node['enum'] as unknown[])
    const [branch] = ['allOf', 'oneOf', 'anyOf'].flatMap((key) => (node[key] as unknown[] | undefined) ?? [])
    const type = Array.isArray(node['type'])
      ? (node['type'] as string[]).find((each) => each !== 'null')
      : (node['type'] ?? (node['properties'] && 'object'))
    if (type === undefined && branch !== undefined && depth < 4) return this.value(root, branch, depth + 1)
    if (type === 'integer') return this.next(1_000) - 10
    if (type === 'number') return this.of([1.5, -2, 0, 1e21])
    if (type === 'boolean') return this.next(2) === 1
    if (type === 'array')
      return Array.from({ length: 1 + this.next(3) }, () => this.value(root, depth > 3 ? {} : node['items'], depth + 1))
    if (type !== 'object' || depth > 3) return this.of(texts)
    const entries = Object.entries((node['properties'] as Node | undefined) ?? { R: {}, 'k y': {} })
    const required = Array.isArray(node['required']) ? (node['required'] as unknown[]) : []
    return Object.fromEntries(
      entries
        .filter(([name]) => required.includes(name) || this.next(3) > 0)
        .map(([name, each]) => [name, this.value(root, each, depth + 1)]),
    )
  }
}

const texts = [
  'a',
  'blue green',
  'a/b',
  'ä€',
  "it's(1)*!",
  'a&b=c',
  '100%',
  'x,y',
  '+1',
  'q?#',
  '.well',
  '~t-_',
  '[0]',
  'a;b|c',
  '😀',
]

function at(root: Node, node: unknown, depth = 0): Node {
  const reference = (node as Node | undefined)?.['$ref']
  if (typeof reference !== 'string' || depth > 20) return (node as Node | undefined) ?? {}
  const steps = reference.slice(2).split('/')
  const found = steps.reduce<unknown>(
    (each, step) => (each as Node | undefined)?.[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')],
    root,
  )
  return at(root, found, depth + 1)
}

/** The operation alone, with what it refers to written out, as the other client is given it. */
function written(root: Node, item: Node, operation: Node): Node {
  const parameters = new Map<string, Node>()
  for (const each of [
    ...((item['parameters'] as unknown[] | undefined) ?? []),
    ...((operation['parameters'] as unknown[] | undefined) ?? []),
  ]) {
    const parameter = at(root, each)
    parameters.set(`${String(parameter['in'])} ${String(parameter['name'])}`, {
      ...parameter,
      ...(parameter['schema'] !== undefined && { schema: at(root, parameter['schema']) }),
    })
  }
  const body = operation['requestBody'] === undefined ? undefined : at(root, operation['requestBody'])
  const content = Object.entries((body?.['content'] as Node | undefined) ?? {}).map(([type, media]) => [
    type,
    { ...(media as Node), schema: at(root, (media as Node)['schema']) },
  ])
  return {
    ...operation,
    operationId: 'op',
    security: [],
    servers: undefined,
    responses: {},
    parameters: [...parameters.values()],
    ...(body && { requestBody: { ...body, content: Object.fromEntries(content) as unknown } }),
  }
}

async function gotOf(request: {
  url: string
  method: string
  headers: Headers | Record<string, string>
  body?: unknown
}): Promise<Got> {
  const { url, method, headers, body } = request
  const response = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body: body as string }),
  })
  const got = (await response.json()) as Got
  // The other client leaves JSON to its sender, so of bodies of JSON the values are compared.
  return got.body !== '' && /json/.test(got.headers['content-type'] ?? '')
    ? { ...got, body: JSON.stringify(JSON.parse(got.body)) }
    : got
}

async function outcomeOf(request: () => Promise<Got>): Promise<Outcome> {
  try {
    return await request()
  } catch (error) {
    return { fault: (error as Error).message }
  }
}

/** The reasons for which two requests may differ. */
const kinds = {
  'an empty value of a path is refused': (ours: Outcome) => 'fault' in ours && ours.fault.includes('may not be empty'),
  'only the encoding of "!\'()*|" and of what need not be encoded differs': (ours: Outcome, theirs: Outcome) =>
    plain(ours) === plain(theirs),
  'a cookie: the other client sends the last one alone, or does not encode it': (ours: Outcome, theirs: Outcome) =>
    isDifferent('cookie', ours, theirs),
  'an empty object of a query: the other client sends a pair without a value': (ours: Outcome, theirs: Outcome) =>
    'url' in ours &&
    'url' in theirs &&
    decodedUrl(ours.url) === decodedUrl(theirs.url.replace(/(?<=[?&])[^&=]+=(?:&|$)/g, '')),
  'a text that is JSON: the other client parses it': (ours: Outcome, theirs: Outcome) =>
    /\[0\]|%5B0%5D/.test(JSON.stringify([ours, theirs])),
  'a "#" that may stay as it is: it ends the query of the other client': (ours: Outcome, theirs: Outcome) =>
    'url' in ours && 'url' in theirs && ours.url.includes('%23') && ours.url.startsWith(theirs.url),
  'the other client wants the media type as an argument': (_ours: Outcome, theirs: Outcome) =>
    'fault' in theirs && /content-?type/i.test(theirs.fault),
}

function byName([one = '']: readonly string[], [other = '']: readonly string[]): number {
  return one < other ? -1 : 1
}

function decodedUrl(url: string): string {
  return url.replace(/%2[1789A]|%7C/g, decodeURIComponent).replace(/[?&]$/, '')
}

function plain(outcome: Outcome): string {
  const decoded = (text: string): string => text.replace(/%2[1789A]|%7C/g, decodeURIComponent)
  if ('fault' in outcome) return outcome.fault
  const headers = Object.entries(outcome.headers)
    .map(([name, value]) => [name, decoded(value)])
    .toSorted(byName)
  return JSON.stringify({ ...outcome, url: decoded(outcome.url), body: decoded(outcome.body), headers })
}

function isDifferent(header: string, ours: Outcome, theirs: Outcome): boolean {
  if ('fault' in ours || 'fault' in theirs) return false
  const without = ({ headers, ...others }: Got): string =>
    JSON.stringify({
      ...others,
      headers: Object.entries(headers)
        .filter(([name]) => name !== header)
        .toSorted(byName),
    })
  return ours.headers[header] !== theirs.headers[header] && without(ours) === without(theirs)
}

describe.skipIf(missing !== undefined)('the requests of two clients', () => {
  test('are equal byte for byte, but for kinds that are known', async () => {
    const { default: Swagger } = (await load('swagger-client/dist/index.js').catch(() => load('swagger-client'))) as {
      default: {
        buildRequest(options: Node): { url: string; method: string; headers: Record<string, string>; body?: unknown }
      }
    }
    const values = new Values()
    const counts = new Map<string, number>([['equal', 0]])
    const unexplained: unknown[] = []
    const rounds = Number(process.env['ORACLE_ROUNDS'] ?? 1)
    for (let round = 0; round < rounds; round++)
      for (const document of documents) {
        const root = parsed(document)
        const read = await readApiDocument(root, Infinity)
        for (const found of operationsOf(read, () => {})) {
          let plan: RequestPlan
          try {
            plan = requestPlan(read, found, {
              fixed: new Map(),
              idempotency: false,
              options: {},
              taken: new Set(),
              used: new Set(),
            })
          } catch {
            continue // a body of no kind that can be sent
          }
          // Boundaries and bytes are compared part by part elsewhere.
          if (plan.body !== undefined && plan.body.kind !== 'json' && plan.body.kind !== 'form') continue
          const input: Node = {}
          const theirs: Node = {}
          const operation = written(root, found.item, found.node)
          for (const parameter of plan.parameters) {
            const { name, place } = parameter
            const declared = (operation['parameters'] as Node[]).find(
              (each) => each['in'] === place && each['name'] === name,
            )
            if (place !== 'path' && declared?.['required'] !== true && values.next(3) === 0) continue
            const [media] = Object.values((declared?.['content'] as Node | undefined) ?? {}) as Node[]
            let value = values.value(root, declared?.['schema'] ?? media?.['schema'] ?? { type: 'string' })
            if (place === 'path' && (value === '' || value === '.' || value === '..')) value = 'v'
            if (place === 'header' || place === 'cookie')
              value = JSON.parse(JSON.stringify(value).replace(/[^\x20-\x7e]/g, 'u')) as unknown
            input[parameter.arg!] = value
            theirs[`${place}.${name}`] = value
          }
          const requestBody = plan.body === undefined ? undefined : values.value(root, at(root, plan.body.schema))
          if (plan.body !== undefined) input['body'] = requestBody
          const { path, method } = plan
          const ours = await outcomeOf(async () => {
            const request = await operationRequest(plan, input, {} as ToolContext)
            const { headers } = request
            if (request.cookies.length > 0) headers.set('cookie', request.cookies.join('; '))
            if (request.body !== undefined) headers.set('content-type', request.body.contentType)
            const query =
              request.query.length === 0 ? '' : `${request.path.includes('?') ? '&' : '?'}${request.query.join('&')}`
            return gotOf({ url: `${base}${request.path}${query}`, method, headers, body: await request.body?.open() })
          })
          const other = await outcomeOf(async () => {
            const spec = {
              openapi: root['openapi'],
              info: { title: 't', version: '1' },
              servers: [{ url: base }],
              components: {},
              paths: { [path]: { [method.toLowerCase()]: operation } },
            }
            const body = plan.body?.kind === 'json' ? JSON.stringify(requestBody) : requestBody
            return gotOf(
              Swagger.buildRequest({
                spec,
                operationId: 'op',
                parameters: theirs,
                requestBody: body,
                requestContentType: plan.body?.mediaType,
                server: base,
              }),
            )
          })
          const kind =
            JSON.stringify(sorted(ours)) === JSON.stringify(sorted(other))
              ? 'equal'
              : Object.entries(kinds).find(([, holds]) => holds(ours, other))?.[0]
          if (kind === undefined) unexplained.push({ document, key: found.operation.key, ours, other })
          else counts.set(kind, (counts.get(kind) ?? 0) + 1)
        }
      }
    console.info(Object.fromEntries(counts))
    expect(unexplained).toEqual([])
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
    expect(all).toBeGreaterThan(2_900 * rounds)
    expect(counts.get('equal')! / all).toBeGreaterThan(0.96)
  }, 300_000)
})

function sorted(outcome: Outcome): Outcome {
  return 'fault' in outcome
    ? outcome
    : { ...outcome, headers: Object.fromEntries(Object.entries(outcome.headers).toSorted(byName)) }
}
