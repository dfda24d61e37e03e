// The built command serves an API, and the protocol's own Inspector, which knows nothing of us, lists its tools and calls them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { ended, place, start } from '../cli/_command.ts'
import { unbuilt } from '../portable/_packed.ts'
import { missing, program } from '../servers/installed.ts'
import { bearer, documentOf, reply, serve } from './_server.ts'

const token = 'p455word-of-the-inspected-api'
const command = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'bin.js')

const lacking = unbuilt ?? missing
if (lacking !== undefined) console.warn(`The Inspector looks at no API: ${lacking}`)

test.skipIf(lacking !== undefined)(
  'the Inspector lists the operations of an API and calls them with a credential that it never sees',
  async () => {
    const { url, requests } = await serve(({ url: path, headers, body }, response) => {
      if (path === '/orders/none') reply(response, 422, { why: `not for ${String(headers.authorization)}` })
      else reply(response, 200, { path, body: body.toString(), token: headers.authorization })
    })
    const file = place('inspected.json')
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
    const item = { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] }
    const operations = {
      'GET /orders/{id}': { operationId: 'getOrder', parameters: [id] },
      'POST /orders': {
        operationId: 'addOrder',
        requestBody: { required: true, content: { 'application/json': { schema: item } } },
      },
    }
    writeFileSync(file, JSON.stringify(documentOf(operations, bearer)))
    const served = [process.execPath, command, 'mcp', '--openapi', file, '--base-url', url, '--auth', 'token=API_TOKEN']
    let output = ''
    const inspected = async (...method: string[]): Promise<unknown> => {
      const words = [
        process.execPath,
        program('mcp-inspector'),
        '--cli',
        '-e',
        `API_TOKEN=${token}`,
        '--format',
        'json',
      ]
      const { stdout, stderr } = await ended(start([...words, ...method, '--', ...served]))
      output += stdout + stderr
      try {
        return JSON.parse(stdout)
      } catch {
        throw new Error(`The Inspector said: ${stdout}${stderr}`)
      }
    }
    const [listed, got, added, refused] = await Promise.all([
      inspected('--method', 'tools/list'),
      inspected('--method', 'tools/call', '--tool-name', 'getOrder', '--tool-args-json', '{"id":"7"}'),
      inspected('--method', 'tools/call', '--tool-name', 'addOrder', '--tool-args-json', '{"body":{"item":"tea"}}'),
      inspected('--method', 'tools/call', '--tool-name', 'getOrder', '--tool-args-json', '{"id":"none"}'),
    ])
    expect(listed).toMatchObject({
      result: { tools: [{ name: 'getOrder', annotations: { readOnlyHint: true } }, { name: 'addOrder' }] },
    })
    expect(got).toMatchObject({ result: { structuredContent: { path: '/orders/7', token: 'Bearer [credential]' } } })
    expect(added).toMatchObject({ result: { structuredContent: { path: '/orders', body: '{"item":"tea"}' } } })
    expect(refused).toMatchObject({ result: { isError: true } })
    expect(output).toContain('422 Unprocessable Entity')
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill(`Bearer ${token}`))
    expect(output).not.toContain(token)
  },
  60_000,
)
