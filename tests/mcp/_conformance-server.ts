import { completable, inputRequired, type McpServer } from '@modelcontextprotocol/server'
import { createExecutor, ToolRegistry } from 'toolwright'
import { mcpServer, type Listening, type McpResource } from 'toolwright/mcp/server'
import { z } from 'zod'
import { conformanceTools, picture } from './_conformance-tools.ts'

const resources: readonly McpResource[] = [
  {
    uri: 'test://static-text',
    name: 'static-text',
    description: 'Text that never changes',
    mimeType: 'text/plain',
    read: () => 'This is the content of the static text resource.',
  },
  {
    uri: 'test://static-binary',
    name: 'static-binary',
    description: 'Bytes that never change',
    mimeType: 'image/png',
    read: () => Buffer.from(picture, 'base64'),
  },
  {
    uri: 'test://template/{id}/data',
    name: 'template',
    description: 'Data of an id',
    mimeType: 'application/json',
    read: (_, { id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  },
]

/** Prompts are no part of a server of tools; a host adds them to the connection. */
function addPrompts(server: McpServer): void {
  const user = 'user' as const
  server.server.registerCapabilities({ prompts: { listChanged: false } })
  server.registerPrompt('test_simple_prompt', { description: 'A prompt' }, () => ({
    messages: [{ role: user, content: { type: 'text', text: 'This is a simple prompt for testing.' } }],
  }))
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with arguments',
      argsSchema: z.object({
        arg1: completable(z.string(), (start) => ['paris', 'park'].filter((word) => word.startsWith(start))),
        arg2: z.string(),
      }),
    },
    ({ arg1, arg2 }) => ({
      messages: [
        { role: user, content: { type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` } },
      ],
    }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt with a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => ({
      messages: [
        {
          role: user,
          content: { type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content.' } },
        },
        { role: user, content: { type: 'text', text: 'Please process the embedded resource above.' } },
      ],
    }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with a picture' }, () => ({
    messages: [
      { role: user, content: { type: 'image', data: picture, mimeType: 'image/png' } },
      { role: user, content: { type: 'text', text: 'Please analyze the image above.' } },
    ],
  }))
  server.registerPrompt('test_input_required_result_prompt', { description: 'A prompt that asks' }, (context) => {
    const response = context.mcpReq.inputResponses?.['user_context']
    if (response !== undefined) {
      return { messages: [{ role: user, content: { type: 'text', text: JSON.stringify(response) } }] }
    }
    const properties = { context: { type: 'string' as const } }
    return inputRequired({
      inputRequests: {
        user_context: inputRequired.elicit({
          message: 'What context should the prompt use?',
          requestedSchema: { type: 'object', properties, required: ['context'] },
        }),
      },
    })
  })
}

/** Starts a server with everything that the scenarios ask for. */
export async function startConformanceServer(): Promise<Listening> {
  const registry = conformanceTools(new ToolRegistry())
  const executor = createExecutor({ tools: registry, timeout: 5_000, report: () => {} })
  return mcpServer({ executor, name: 'conformance', resources, extend: addPrompts }).listen()
}
