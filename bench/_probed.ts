// Packages whose whole loop has to run for one tool call: asked what they do with bad args, and not timed, since most of
// their time is the message before and after.
import { load, type Rival } from './_rivals.ts'

const description = 'Does what it is asked to'
const prompt = { role: 'user', content: 'Go on.' }

/** Answers requests with a model's messages: first the tool call, then a last word. */
function answering(...bodies: readonly (() => unknown)[]): () => Promise<Response> {
  let turn = 0
  return async () => {
    const body = bodies[Math.min(turn++, bodies.length - 1)]?.()
    return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } })
  }
}

const anthropic: Rival = {
  name: 'Anthropic SDK',
  package: '@anthropic-ai/sdk',
  duties: ['validates'],
  async prepare({ name, schema, handler }) {
    interface Sdk {
      readonly default: new (options: object) => {
        readonly beta: { readonly messages: { toolRunner(options: object): PromiseLike<unknown> } }
      }
    }
    interface Standard {
      readonly betaStandardSchemaTool: (options: object) => unknown
    }
    interface Raw {
      readonly betaTool: (options: object) => unknown
    }
    const { default: Anthropic } = await load<Sdk>('@anthropic-ai/sdk')
    const { betaStandardSchemaTool } = await load<Standard>('@anthropic-ai/sdk/helpers/beta/standard-schema')
    const { betaTool } = await load<Raw>('@anthropic-ai/sdk/helpers/beta/json-schema')
    const options = {
      name,
      description,
      inputSchema: schema,
      run: async (input: never) => String(await handler(input)),
    }
    const isStandard = '~standard' in (schema as object)
    const tool = isStandard ? betaStandardSchemaTool(options) : betaTool(options)
    return async ({ value }) => {
      const message = { id: 'message', type: 'message', role: 'assistant', model: 'model', usage: {} }
      const use = { type: 'tool_use', id: 'call_1', name, input: value }
      const fetch = answering(
        () => ({ ...message, content: [use], stop_reason: 'tool_use' }),
        () => ({ ...message, content: [{ type: 'text', text: 'Done.' }], stop_reason: 'end_turn' }),
      )
      const client = new Anthropic({ apiKey: 'none', fetch, maxRetries: 0 })
      return client.beta.messages.toolRunner({ model: 'model', max_tokens: 9, messages: [prompt], tools: [tool] })
    }
  },
}

const tanstack: Rival = {
  name: 'TanStack AI',
  package: '@tanstack/ai',
  duties: ['validates'],
  async prepare({ name, schema, handler }) {
    interface Ai {
      readonly chat: (options: object) => AsyncIterable<unknown>
      readonly toolDefinition: (options: object) => { server(handler: unknown): unknown }
    }
    const { chat, toolDefinition } = await load<Ai>('@tanstack/ai')
    const tool = toolDefinition({ name, description, inputSchema: schema }).server(handler)
    return async ({ text }) => {
      const common = { runId: 'run', threadId: 'thread', model: 'model', timestamp: 0 }
      const call = { ...common, toolCallId: 'call_1', toolCallName: name, toolName: name }
      let turn = 0
      const adapter = {
        kind: 'text',
        name: 'double',
        model: 'model',
        async *chatStream() {
          yield { ...common, type: 'RUN_STARTED' }
          if (turn++ === 0) {
            yield { ...call, type: 'TOOL_CALL_START', index: 0 }
            yield { ...call, type: 'TOOL_CALL_ARGS', delta: text }
            yield { ...call, type: 'TOOL_CALL_END' }
            yield { ...common, type: 'RUN_FINISHED', finishReason: 'tool_calls' }
          } else yield { ...common, type: 'RUN_FINISHED', finishReason: 'stop' }
        },
      }
      const chunks = []
      for await (const chunk of chat({ adapter, messages: [prompt], tools: [tool] })) chunks.push(chunk)
      return chunks
    }
  },
}

const xsai: Rival = {
  name: 'xsAI',
  package: 'xsai',
  duties: [],
  async prepare({ name, schema, handler }) {
    interface Xsai {
      readonly generateText: (options: object) => Promise<unknown>
      readonly tool: (options: object) => unknown
      readonly rawTool: (options: object) => unknown
    }
    const { generateText, tool, rawTool } = await load<Xsai>('xsai')
    const make = '~standard' in (schema as object) ? tool : rawTool
    const made = await make({ name, description, parameters: schema, execute: handler })
    return ({ text }) => {
      const use = { id: 'call_1', type: 'function', function: { name, arguments: text } }
      const say = (message: object, reason: string): unknown => ({
        choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }],
        usage: {},
      })
      const fetch = answering(
        () => say({ content: null, tool_calls: [use] }, 'tool_calls'),
        () => say({ content: 'Done.' }, 'stop'),
      )
      const request = { apiKey: 'none', baseURL: 'http://localhost/v1/', model: 'model', messages: [prompt] }
      return generateText({ ...request, tools: [made], fetch, maxSteps: 2 })
    }
  },
}

/** Those that are asked about bad args, beside the ones that are timed. */
export const probed: readonly Rival[] = [tanstack, anthropic, xsai]
