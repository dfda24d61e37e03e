import { inputRequired, type InputRequests } from '@modelcontextprotocol/server'
import { content, tool, ToolFailure, type Tool, type ToolContext, type ToolRegistry } from 'toolwright'
import { mcpClient, type McpClient } from 'toolwright/mcp/server'
import { z } from 'zod'

/** A picture of one red dot. */
export const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const sound = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

type Form = Extract<InputRequests[string], { readonly method: 'elicitation/create' }>['params'] & {
  readonly requestedSchema: unknown
}

function form(message: string, properties: object, required: readonly string[] = []): InputRequests[string] {
  const requestedSchema = { type: 'object', properties, required }
  return inputRequired.elicit({ message, requestedSchema } as Form as Parameters<typeof inputRequired.elicit>[0])
}

function sampling(text: string, maxTokens: number): InputRequests[string] {
  return inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens })
}

const titled = [
  { const: 'value1', title: 'First Choice' },
  { const: 'value2', title: 'Second Choice' },
  { const: 'value3', title: 'Third Choice' },
]

const nameForm = form('What is your name?', { name: { type: 'string' } }, ['name'])
const confirmForm = form('Please confirm', { ok: { type: 'boolean' } }, ['ok'])

function clientOf(context: ToolContext): McpClient {
  const client = mcpClient(context)
  if (client === undefined) throw new ToolFailure('There is no client to be asked.')
  return client
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** A tool without arguments that asks its client, and says what came back. */
function asking(
  name: string,
  requests: InputRequests,
  said = (answers: object): string => JSON.stringify(answers),
): Tool {
  return tool({
    name,
    description: 'Asks the client',
    handler: async (_, context) => said(await clientOf(context).ask(requests)),
  }) as Tool
}

const contents: Tool[] = [
  tool({
    name: 'test_simple_text',
    description: 'Gives text',
    handler: () => 'This is a simple text response for testing.',
  }),
  tool({
    name: 'test_image_content',
    description: 'Gives a picture',
    handler: () => content([{ type: 'image', data: picture, mimeType: 'image/png' }]),
  }),
  tool({
    name: 'test_audio_content',
    description: 'Gives a sound',
    handler: () => content([{ type: 'audio', data: sound, mimeType: 'audio/wav' }]),
  }),
  tool({
    name: 'test_embedded_resource',
    description: 'Gives a resource',
    handler: () => {
      const text = 'This is an embedded resource content.'
      return content([
        { type: 'resource', resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text } },
      ])
    },
  }),
  tool({
    name: 'test_multiple_content_types',
    description: 'Gives several things',
    handler: () => {
      const text = JSON.stringify({ test: 'data', value: 123 })
      return content([
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: picture, mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text } },
      ])
    },
  }),
  tool({
    name: 'test_error_handling',
    description: 'Fails',
    handler: () => {
      throw new Error('This tool intentionally returns an error for testing')
    },
  }),
]

const telling: Tool[] = [
  tool({
    name: 'test_tool_with_progress',
    description: 'Tells how far it is',
    handler: async function* () {
      yield { progress: 0, total: 100 }
      await pause(50)
      yield { progress: 50, total: 100 }
      await pause(50)
      yield { progress: 100, total: 100 }
      return 'done'
    },
  }),
  ...['test_tool_with_logging', 'test_logging_tool'].map((name) =>
    tool({
      name,
      description: 'Writes log messages',
      handler: async (_, { emit }) => {
        emit('log', { level: 'info', data: 'Tool execution started' })
        await pause(50)
        emit('log', { level: 'info', data: 'Tool processing data' })
        await pause(50)
        emit('log', { level: 'info', data: 'Tool execution completed' })
        return 'done'
      },
    }),
  ),
]

const asked: Tool[] = [
  tool({
    name: 'test_sampling',
    description: "Asks the client's model",
    inputSchema: z.object({ prompt: z.string() }),
    handler: async ({ prompt }, context) => {
      const answer = await clientOf(context).ask({ answer: sampling(prompt, 100) })
      return `LLM response: ${JSON.stringify(answer['answer'])}`
    },
  }) as Tool,
  tool({
    name: 'test_elicitation',
    description: "Asks the client's user",
    inputSchema: z.object({ message: z.string() }),
    handler: async ({ message }, context) => {
      const user = form(message, { username: { type: 'string' }, email: { type: 'string' } }, ['username', 'email'])
      return `User response: ${JSON.stringify((await clientOf(context).ask({ user }))['user'])}`
    },
  }) as Tool,
  asking('test_streaming_elicitation', { user: nameForm }),
  asking('test_elicitation_sep1034_defaults', {
    user: form('Please fill in', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  }),
  asking('test_elicitation_sep1330_enums', {
    user: form('Please choose', {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    }),
  }),
  asking('test_input_required_result_elicitation', { user_name: nameForm }),
  asking('test_input_required_result_sampling', { capital_question: sampling('What is the capital of France?', 100) }),
  asking('test_input_required_result_list_roots', { client_roots: inputRequired.listRoots() }),
  asking('test_input_required_result_request_state', { confirm: confirmForm }, () => 'state-ok'),
  asking('test_input_required_result_tampered_state', { confirm: confirmForm }),
  asking('test_input_required_result_multiple_inputs', {
    user_name: nameForm,
    greeting: sampling('Generate a greeting', 50),
    client_roots: inputRequired.listRoots(),
  }),
  asking('test_missing_capability', { answer: sampling('Anything', 10) }),
  tool({
    name: 'test_input_required_result_multi_round',
    description: 'Asks twice',
    handler: async (_, context) => {
      const client = clientOf(context)
      const first = await client.ask({
        step1: form('Step 1: What is your name?', { name: { type: 'string' } }, ['name']),
      })
      const second = await client.ask({
        step2: form('Step 2: What is your favorite color?', { color: { type: 'string' } }, ['color']),
      })
      return JSON.stringify({ ...first, ...second })
    },
  }) as Tool,
  tool({
    name: 'test_input_required_result_capabilities',
    description: 'Asks what the client can be asked',
    handler: async (_, context) => {
      const client = clientOf(context)
      const requests: InputRequests = {
        ...(client.capabilities['elicitation'] === undefined ? undefined : { user: nameForm }),
        ...(client.capabilities['sampling'] === undefined ? undefined : { model: sampling('Anything', 10) }),
      }
      return JSON.stringify(await client.ask(requests))
    },
  }) as Tool,
]

const schemas: Tool[] = [
  tool({
    name: 'json_schema_2020_12_tool',
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    handler: () => 'ok',
  }) as Tool,
  tool({
    name: 'test_custom_header',
    description: 'Says in a header what an argument says',
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, query: { type: 'string' } },
      required: ['region'],
    },
    handler: () => 'ok',
  }) as Tool,
]

/** The tools that the scenarios of a server call, one of which changes what there is. */
export function conformanceTools(registry: ToolRegistry): ToolRegistry {
  let count = 0
  const changing = tool({
    name: 'test_trigger_tool_change',
    description: 'Adds a tool, and takes it away',
    handler: () => {
      registry.add(tool(`test_added_${count++}`, () => 'new'))()
      return 'changed'
    },
  })
  for (const one of [...contents, ...telling, ...asked, ...schemas, changing]) registry.add(one)
  return registry
}
