import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { createExecutor, memoryStore, type ToolResult } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { openapiTools } from 'toolwright/imports/openapi'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { openTelemetry } from 'toolwright/observers/open-telemetry'
import { expect, test } from 'vitest'
import { telemetry } from '../observers/_telemetry.ts'
import { documentOf } from './_server.ts'

const formats = [anthropic(), gemini(), mcp(), openai(), openaiResponses(), aiSdk()]

/** Writes a text as a page of HTML has it. */
function page(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** The ways in which a server repeats a token, each within other text. */
const ways: readonly ((token: string, before: string) => string)[] = [
  (token) => token,
  (token) => encodeURIComponent(token),
  (token) => encodeURI(token),
  page,
  (token) => JSON.stringify(token),
  (token) => JSON.stringify(JSON.stringify({ token })),
  (token) => JSON.stringify(token).replaceAll('/', '\\/'),
  (token) => Buffer.from(token).toString('hex'),
  (token, before) => Buffer.from(before + token + before).toString('base64'),
  (token, before) => Buffer.from(`${before}Bearer ${token}`).toString('base64url'),
  (token, before) => `data:${Buffer.from(`ada:${token}${before}`).toString('base64')}`,
]

/** What every token begins with: it has no form that an answer has by chance. */
const canary = 'cANaRy0+/=9?&"<7>xQ4'

/** Pieces of the forms of a token that depend on the canary alone. */
const traces = [
  canary,
  encodeURIComponent(canary),
  encodeURI(canary),
  page(canary),
  JSON.stringify(canary).slice(1, -1),
  Buffer.from(canary).toString('hex'),
  ...[0, 1, 2].flatMap((shift) => {
    const text = Buffer.from('x'.repeat(shift) + canary)
    return [text.toString('base64'), text.toString('base64url')]
  }),
].map((form) => form.slice(4, 18))

function isTold(text: string): boolean {
  return traces.some((trace) => text.includes(trace))
}

test('no token is in anything that a call leaves behind, whatever the server makes of it', async () => {
  // A file in memory, where there is such a place: what is written counts, and not that it survives the machine.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'toolwright-canary-'))
  const file = join(folder, 'calls.db')
  const scheme = {
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'query', name: 'key' }, basic: { type: 'http', scheme: 'basic' } },
    },
    security: [{ key: [], basic: [] }],
  }
  const parameters = [
    { name: 'q', in: 'query', schema: {} },
    { name: 'X-H', in: 'header', schema: {} },
  ]
  const document = documentOf(
    {
      'POST /a/{id}': {
        operationId: 'run',
        parameters,
        responses: {
          200: {
            headers: { 'X-Told': {} },
            content: { 'application/json': { schema: { type: 'object', required: ['none'] } } },
          },
        },
      },
    },
    scheme,
  )
  let token = ''
  let answer: () => Response = () => new Response()
  const reports: string[] = []
  const api = await openapiTools(document, {
    baseUrl: 'https://api.example.com',
    auth: { key: () => token, basic: () => ({ value: token, username: 'ada' }) },
    fetch: async () => answer(),
    report: (error) => reports.push(String(error)),
  })
  const store = memoryStore({ maximumBytes: 1e9 })
  const spanning = telemetry()
  const observer = openTelemetry({ ...spanning.providers, recordArgs: true, recordResult: true })
  const executor = createExecutor({ use: [api, { store }, sqliteJournal(file), observer] })
  let events = ''
  executor.on('*', (event) => (events += JSON.stringify(event)))
  const leaked: unknown[] = []
  const character = fc.constantFrom(...'abcXYZ019-_.~+/=&?"<>%\\ ä€'.split(''))
  const made = fc.record({
    token: fc.string({ unit: character, maxLength: 40 }).map((text) => canary + text),
    way: fc.constantFrom(...ways),
    before: fc.string({ maxLength: 5 }),
    status: fc.constantFrom(200, 201, 302, 400, 401, 422, 500),
    mediaType: fc.constantFrom(
      'application/json',
      'text/plain',
      'application/problem+json',
      'application/pdf',
      'text/event-stream',
      '',
    ),
    cut: fc.nat({ max: 80 }),
    isWhole: fc.boolean(),
    args: fc.record(
      { id: fc.string({ minLength: 1 }), q: fc.jsonValue({ maxDepth: 1 }), 'X-H': fc.string() },
      { requiredKeys: ['id'] },
    ),
  })
  await fc.assert(
    fc.asyncProperty(made, async ({ token: next, way, before, status, mediaType, cut, isWhole, args }) => {
      token = next
      const echo = way(token, before)
      const body =
        mediaType.endsWith('json') && isWhole ? JSON.stringify({ title: echo, detail: [echo], [echo]: 1 }) : echo
      answer = () => {
        const bytes = new TextEncoder().encode(body)
        const pieces = new ReadableStream({
          start(controller) {
            controller.enqueue(bytes.slice(0, cut))
            controller.enqueue(bytes.slice(cut))
            controller.close()
          },
        })
        const told = Buffer.from(echo).toString('latin1')
        const headers = {
          ...(mediaType !== '' && { 'content-type': mediaType }),
          'x-told': told,
          location: `https://evil.example/${encodeURIComponent(token)}`,
          link: told,
        }
        return new Response(pieces, { status, statusText: told, headers })
      }
      const result: ToolResult = await executor.execute({ id: 'x', name: 'run', args }, { session: 's' })
      const { cause } = (result.error ?? {}) as { cause?: Error }
      const artifact = await result.artifact?.asString()
      const messages = formats.map((format) => JSON.stringify(format.results([result])))
      const all = JSON.stringify([
        result,
        result.value,
        artifact,
        messages,
        String(result.error?.stack),
        String(cause?.stack),
        String(cause?.cause),
      ])
      if (isTold(all)) leaked.push([token, echo, status, mediaType, result.content, artifact])
      expect(leaked).toEqual([])
    }),
    { numRuns: Number(process.env['FUZZ_RUNS'] ?? 10_000) },
  )
  await executor.close()
  const definitions = JSON.stringify(formats.map((format) => format.definitions(api.tools())))
  const spans = JSON.stringify(spanning.calls().map((span) => [span.name, span.attributes, span.events, span.status]))
  const journal = readFileSync(file).toString('latin1')
  for (const [sink, text] of Object.entries({ journal, events, spans, reports: reports.join(), definitions })) {
    expect([sink, text.length > 0, isTold(text)]).toEqual([sink, true, false])
  }
  rmSync(folder, { recursive: true })
}, 600_000)
