import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { createExecutor, memoryStore, type ToolResult } from 'toolwright'
import { openapiTools } from 'toolwright/imports/openapi'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { openTelemetry } from 'toolwright/observers/open-telemetry'
import { expect, test } from 'vitest'
import { telemetry } from '../observers/_telemetry.ts'
import {
  canary,
  echoCharacters,
  echoMediaTypes,
  echoResponse,
  echoStatuses,
  echoWays,
  sixFormats,
  tellsToken,
} from '../portable/cases/_canary.ts'
import { documentOf } from './_server.ts'

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
  const character = fc.constantFrom(...echoCharacters)
  const made = fc.record({
    token: fc.string({ unit: character, maxLength: 40 }).map((text) => canary + text),
    way: fc.constantFrom(...echoWays),
    before: fc.string({ maxLength: 5 }),
    status: fc.constantFrom(...echoStatuses),
    mediaType: fc.constantFrom(...echoMediaTypes),
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
      answer = () => echoResponse({ token: next, echo, status, mediaType, isWhole }, cut)
      const result: ToolResult = await executor.execute({ id: 'x', name: 'run', args }, { session: 's' })
      const { cause } = (result.error ?? {}) as { cause?: Error }
      const artifact = await result.artifact?.asString()
      const messages = sixFormats.map((format) => JSON.stringify(format.results([result])))
      const all = JSON.stringify([
        result,
        result.value,
        artifact,
        messages,
        String(result.error?.stack),
        String(cause?.stack),
        String(cause?.cause),
      ])
      if (tellsToken(all)) leaked.push([token, echo, status, mediaType, result.content, artifact])
      expect(leaked).toEqual([])
    }),
    { numRuns: Number(process.env['FUZZ_RUNS'] ?? 10_000) },
  )
  await executor.close()
  const definitions = JSON.stringify(sixFormats.map((format) => format.definitions(api.tools())))
  const spans = JSON.stringify(spanning.calls().map((span) => [span.name, span.attributes, span.events, span.status]))
  const journal = readFileSync(file).toString('latin1')
  for (const [sink, text] of Object.entries({ journal, events, spans, reports: reports.join(), definitions })) {
    expect([sink, text.length > 0, tellsToken(text)]).toEqual([sink, true, false])
  }
  rmSync(folder, { recursive: true })
}, 600_000)
