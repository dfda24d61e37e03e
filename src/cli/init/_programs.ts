/** The models of the AI SDK's gateway, by the names of our formats. */
const gatewayModels: Readonly<Record<string, string>> = {
  anthropic: 'anthropic/claude-sonnet-4.5',
  openai: 'openai/gpt-5.1',
  'openai-responses': 'openai/gpt-5.1',
  gemini: 'google/gemini-3-pro',
}

/** The file `agent.ts` of the template `ai-sdk`. */
export function aiSdkFile(provider: string): string {
  return `\
// An agent of the AI SDK whose tools go through the executor.
// With AI_GATEWAY_API_KEY it asks a model. Without, a script answers in place of the model, offline.
import { generateText, stepCountIs, type LanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { createExecutor } from 'toolwright'
import { aiSdkTools } from 'toolwright/frameworks/ai-sdk'
import tools from './tools.ts'

const executor = createExecutor({ tools })
executor.on('call:settled', ({ toolName, status }) => console.log(\`  \${toolName}: \${status}\`))

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const scripted = new MockLanguageModelV4({
  doGenerate: [
    {
      content: [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'get_forecast', input: '{"city":"Bergen"}' }],
      finishReason: { unified: 'tool-calls', raw: 'tool-calls' },
      usage,
      warnings: [],
    },
    {
      content: [{ type: 'text', text: 'Bergen: rain, 9 °C.' }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage,
      warnings: [],
    },
  ],
})

const hasKey = process.env['AI_GATEWAY_API_KEY'] !== undefined
if (!hasKey) console.log('No AI_GATEWAY_API_KEY is set: a script answers in place of the model, offline.')
const model: LanguageModel = hasKey ? (process.env['MODEL'] ?? '${gatewayModels[provider]}') : scripted

const prompt = process.argv[2] ?? 'What is the weather in Bergen?'
console.log(\`> \${prompt}\`)
const { text } = await generateText({
  model,
  prompt,
  stopWhen: stepCountIs(10),
  // The SDK asks about tools that need a person, and the executor runs what was approved.
  ...aiSdkTools({ executor, session: 'chat-1' }),
})
console.log(text)
await executor.close()
`
}

/** The file `server.ts` of the template `mcp-server`. */
export const mcpServerFile: string = `\
// A server of the Model Context Protocol: over stdin and stdout, or over HTTP with \`node server.ts --http 3000\`.
// A call that needs a person asks the client's user.
import { parseArgs } from 'node:util'
import { createExecutor } from 'toolwright'
import { mcpServer } from 'toolwright/mcp/server'
import tools from './tools.ts'

const { values } = parseArgs({ options: { http: { type: 'string' } } })
const server = mcpServer({ executor: createExecutor({ tools }), name: 'weather', version: '1.0.0' })

if (values.http === undefined) {
  await server.stdio() // stdout belongs to the protocol: print with console.error
} else {
  const { url } = await server.listen({ port: Number(values.http) })
  console.log(url)
}
`

/** The file `server.ts` of the template `browser`. */
export const browserServerFile: string = `\
// A page that a person answers calls in. The agent here is a script: put a model in its place.
import { readFile } from 'node:fs/promises'
import { createExecutor } from 'toolwright'
import { httpClients } from 'toolwright/client/http'
import { listen } from 'toolwright/client/node'
import tools from './tools.ts'

const executor = createExecutor({ tools })
// One person on this machine. For more, \`authorize\` reads who asks from the request.
const clients = httpClients({ executor, base: '/api', authorize: () => ({ session: 'chat-1', name: 'you' }) })
const library = new URL('..', import.meta.resolve('toolwright/client/browser'))

const { url } = await listen(
  async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/ask' && request.method === 'POST') {
      const args = { to: 'Ada', text: 'Take an umbrella to Bergen.' }
      await executor.execute({ name: 'send_message', args }, { session: 'chat-1' })
      return new Response(null, { status: 204 })
    }
    // The modules of the page come from the package: a bundler does this for larger pages.
    const [, name] = /^\\/toolwright\\/((?:client\\/)?[\\w-]+\\.js)$/.exec(pathname) ?? []
    if (name === undefined) return clients.fetch(request)
    return new Response(await readFile(new URL(name, library)), { headers: { 'content-type': 'text/javascript' } })
  },
  { port: Number(process.env['PORT'] ?? 0), files: \`\${import.meta.dirname}/page\` },
)
console.log(\`Open \${url}\`)
`

/** The file `page/index.html` of the template `browser`. */
export const pageFile: string = `\
<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <meta name="color-scheme" content="light dark" />
    <title>Messages</title>
    <link rel="icon" href="data:," />
    <style>
      body {
        font: 1rem/1.6 system-ui, sans-serif;
        max-width: 34rem;
        margin: 3rem auto;
        padding: 0 1rem;
      }
      li {
        margin: 0.5rem 0;
      }
    </style>
    <script type="importmap">
      { "imports": { "toolwright/client/browser": "/toolwright/client/browser.js" } }
    </script>
  </head>
  <body>
    <main>
      <h1>Messages</h1>
      <button id="ask">Let the agent send a message</button>
      <ul id="calls" aria-live="polite"></ul>
    </main>
    <script type="module">
      import { connect } from 'toolwright/client/browser'

      const client = connect('/api')
      const list = document.querySelector('#calls')
      document.querySelector('#ask').onclick = () => fetch('/ask', { method: 'POST' })

      function button(label, action) {
        const element = document.createElement('button')
        element.textContent = label
        element.onclick = action
        return element
      }

      client.subscribe(() => {
        const items = client.calls().map(({ invocationId, toolName, waiting, status, content, error }) => {
          const item = document.createElement('li')
          item.textContent = waiting?.prompt ?? content?.[0]?.text ?? error?.message ?? \`\${toolName} \${status ?? 'runs'}\`
          if (waiting?.reason === 'approval') {
            item.append(
              ' ',
              button('Yes', () => client.decide(invocationId, 'allow')),
              ' ',
              button('No', () => client.decide(invocationId, 'deny')),
            )
          }
          return item
        })
        list.replaceChildren(...items)
      })
    </script>
  </body>
</html>
`
