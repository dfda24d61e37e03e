import { anthropic } from 'toolwright/formats/anthropic'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { openapiTools } from 'toolwright/imports/openapi'
import { describe, expect, test } from 'vitest'
import { longestTurn, processorTime } from '../_processor-time.ts'
import { authOf, documents, missing, parsed, textOf } from './_documents.ts'

const baseUrl = 'https://api.example.com'
/** The application says where operations are that another server has. */
const tools = (): { baseUrl: string } => ({ baseUrl })

describe.skipIf(missing !== undefined)('the documents of APIs', () => {
  test('give a tool for at least 99 of 100 operations, and none throws', async () => {
    const why = new Map<string, number>()
    let [made, left] = [0, 0]
    for (const document of documents) {
      const read = parsed(document)
      const api = await openapiTools(read, { baseUrl, tools, auth: authOf(read), fetch, report: () => {} })
      made += api.tools().length
      left += api.omitted.length
      for (const { why: reason } of api.omitted) {
        const kind = reason.replace(/"[^"]*"/g, '…')
        why.set(kind, (why.get(kind) ?? 0) + 1)
      }
    }
    expect(documents.length).toBeGreaterThan(50)
    expect(made + left).toBeGreaterThan(3_000)
    expect(made / (made + left)).toBeGreaterThan(0.99)
    expect([...why.keys()].toSorted()).toEqual(
      [
        'a schema is of the dialect …',
        'its body is of no kind that can be sent: …',
        'its schemas are of a dialect that is not known here',
        'it needs the security scheme …, which the document does not define',
      ].toSorted(),
    )
  })

  test('of GitHub is ready without being described: 1,223 tools, whose memory is small', async () => {
    const read = JSON.parse(textOf(documents[0]!)) as object
    const made = async (): Promise<void> => {
      const api = await openapiTools(read, { baseUrl, tools, report: () => {} })
      expect(api.tools()).toHaveLength(1_223)
    }
    const time = await processorTime(made)
    // Others get a chance to run meanwhile.
    expect(await longestTurn(made())).toBeLessThan(100)
    const parsing = await processorTime(() => JSON.parse(textOf(documents[0]!)) as object)
    expect(time / parsing).toBeLessThan(15)
  })

  test('can be described to every provider, and no name is refused', async () => {
    const read = parsed(documents[0]!)
    const api = await openapiTools(read, {
      baseUrl,
      tools,
      report: () => {},
      only: ({ tags }) => tags.includes('repos') || tags.includes('issues'),
    })
    expect(api.tools().length).toBeGreaterThan(200)
    for (const format of [anthropic(), gemini(), mcp(), openai(), openaiResponses(), aiSdk()]) {
      expect([format.name, format.definitions(api.tools()).length]).toEqual([format.name, expect.any(Number)])
    }
    const names = api.tools().map(({ name }) => name)
    expect(names.filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
    expect(names).toContain('issues_create')
  })

  test('of YAML gives the same tools as of JSON', async () => {
    const pair = documents.find((document) => document.endsWith('postcodes/openapi/dist/openapi.json'))!
    const read = parsed(pair)
    const options = { baseUrl, auth: authOf(read), report: () => {} }
    const [json, yaml] = await Promise.all([
      openapiTools(textOf(pair), options),
      openapiTools(textOf(pair.replace(/json$/, 'yaml')), options),
    ])
    expect(yaml.tools().map((tool) => tool.describe())).toEqual(json.tools().map((tool) => tool.describe()))
  })
})
