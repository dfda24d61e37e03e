/** What differs between the loops of providers. */
interface ProviderLoop {
  readonly factory: string
  readonly model: string
  /** The variables of the environment that the provider's own library reads too. */
  readonly key: string
  readonly base: string
  readonly defaultBase: string
  readonly types: string
  readonly question: string
  readonly path: string
  readonly headers: string
  readonly request: string
  /** The reply in the body of a response. */
  readonly reply: string
  readonly text: string
  /** What of a reply belongs to the conversation. */
  readonly said: string
  readonly results: string
  /** What the script says in place of the model. */
  readonly script: readonly string[]
}

const answer = 'Bergen: rain, 9 °C. I asked to send that to Ada.'
const city = { city: 'Bergen' }
const sampleMessage = { to: 'Ada', text: 'Take an umbrella to Bergen.' }

function source(value: unknown): string {
  return JSON.stringify(value)
}

/** The providers by the names of their formats. */
export const providers: Readonly<Record<string, ProviderLoop>> = {
  anthropic: {
    factory: 'anthropic',
    model: 'claude-sonnet-4-5',
    key: 'ANTHROPIC_API_KEY',
    base: 'ANTHROPIC_BASE_URL',
    defaultBase: 'https://api.anthropic.com',
    types: `interface Reply {
  readonly role: string
  readonly content: readonly { readonly type: string; readonly text?: string; readonly [field: string]: unknown }[]
}`,
    question: "{ role: 'user', content: question }",
    path: '`${base}/v1/messages`',
    headers: "'x-api-key': apiKey, 'anthropic-version': '2023-06-01'",
    request: 'model, max_tokens: 1024, tools: format.definitions(executor.tools()), messages',
    reply: '(await response.json()) as Reply',
    text: "reply.content.map(({ text = '' }) => text).join('')",
    said: '{ role: reply.role, content: reply.content }',
    results: 'format.results(results, reply)',
    script: [
      source({ role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_forecast', input: city }] }),
      source({
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_2', name: 'send_message', input: sampleMessage }],
      }),
      source({ role: 'assistant', content: [{ type: 'text', text: answer }] }),
    ],
  },
  openai: {
    factory: 'openai',
    model: 'gpt-5.1',
    key: 'OPENAI_API_KEY',
    base: 'OPENAI_BASE_URL',
    defaultBase: 'https://api.openai.com/v1',
    types: `interface Reply {
  readonly role: string
  readonly content: string | null
  readonly tool_calls?: readonly object[]
}`,
    question: "{ role: 'user', content: question }",
    path: '`${base}/chat/completions`',
    headers: 'authorization: `Bearer ${apiKey}`',
    request: 'model, tools: format.definitions(executor.tools()), messages',
    reply: '((await response.json()) as { choices: [{ message: Reply }] }).choices[0].message',
    text: "reply.content ?? ''",
    said: 'reply',
    results: '...format.results(results, reply)',
    script: [chatCall('call_1', 'get_forecast', city), chatCall('call_2', 'send_message', sampleMessage)].concat(
      source({ role: 'assistant', content: answer }),
    ),
  },
  'openai-responses': {
    factory: 'openaiResponses',
    model: 'gpt-5.1',
    key: 'OPENAI_API_KEY',
    base: 'OPENAI_BASE_URL',
    defaultBase: 'https://api.openai.com/v1',
    types: `interface Reply {
  readonly output: readonly {
    readonly type: string
    readonly content?: readonly { readonly type: string; readonly text?: string }[]
    readonly [field: string]: unknown
  }[]
}`,
    question: "{ role: 'user', content: question }",
    path: '`${base}/responses`',
    headers: 'authorization: `Bearer ${apiKey}`',
    request: 'model, tools: format.definitions(executor.tools()), input: messages',
    reply: '(await response.json()) as Reply',
    text: "reply.output.flatMap(({ content = [] }) => content.map(({ text = '' }) => text)).join('')",
    said: '...reply.output',
    results: '...format.results(results, reply)',
    script: [
      source({ output: [functionCall('call_1', 'get_forecast', city)] }),
      source({ output: [functionCall('call_2', 'send_message', sampleMessage)] }),
      source({ output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: answer }] }] }),
    ],
  },
  gemini: {
    factory: 'gemini',
    model: 'gemini-3-pro',
    key: 'GEMINI_API_KEY',
    base: 'GOOGLE_GEMINI_BASE_URL',
    defaultBase: 'https://generativelanguage.googleapis.com',
    types: `interface Reply {
  readonly candidates: readonly [{ readonly content: { readonly role: string; readonly parts: readonly Part[] } }]
}
interface Part {
  readonly text?: string
  readonly [field: string]: unknown
}`,
    question: "{ role: 'user', parts: [{ text: question }] }",
    path: '`${base}/v1beta/models/${model}:generateContent`',
    headers: "'x-goog-api-key': apiKey",
    request: 'tools: format.definitions(executor.tools()), contents: messages',
    reply: '(await response.json()) as Reply',
    text: "reply.candidates[0].content.parts.map(({ text = '' }) => text).join('')",
    said: 'reply.candidates[0].content',
    results: 'format.results(results, reply)',
    script: [
      modelSays({ functionCall: { name: 'get_forecast', args: city } }),
      modelSays({ functionCall: { name: 'send_message', args: sampleMessage } }),
      modelSays({ text: answer }),
    ],
  },
}

function chatCall(id: string, name: string, args: object): string {
  const call = { id, type: 'function', function: { name, arguments: JSON.stringify(args) } }
  return source({ role: 'assistant', content: null, tool_calls: [call] })
}

function functionCall(call_id: string, name: string, args: object): object {
  return { type: 'function_call', call_id, name, arguments: JSON.stringify(args) }
}

function modelSays(part: object): string {
  return source({ candidates: [{ content: { role: 'model', parts: [part] } }] })
}

/** The file `agent.ts` of the template `loop`. */
export function loopFile(name: string, provider: ProviderLoop): string {
  const { factory, key, base, defaultBase, model } = provider
  return `\
// An agent: it asks a model, runs the tools that the model calls, and tells the results, until the model calls none.
// With ${key} it asks the provider. Without, a script answers in place of the model, offline.
import { createInterface } from 'node:readline/promises'
import { createExecutor, type Extension } from 'toolwright'
import { ${factory} } from 'toolwright/formats/${name}'
import tools from './tools.ts'

/** What the model replies, as far as this loop reads it. */
${provider.types}

/** Asks the person at the terminal. Without a terminal, the call waits for \`executor.calls.decide\`. */
const atTerminal: Extension = {
  approver: {
    async ask({ prompt }, signal) {
      const lines = createInterface({ input: process.stdin, output: process.stdout })
      const reply = await lines.question(\`\${prompt} [y/N] \`, { signal }).finally(() => lines.close())
      return { decision: /^y/i.test(reply) ? 'allow' : 'deny' }
    },
  },
}

const format = ${factory}()
const executor = createExecutor({ tools, use: process.stdin.isTTY ? [atTerminal] : [] })
executor.on('call:waiting', ({ toolName, prompt }) => console.log(\`  \${toolName} waits: \${prompt}\`))
executor.on('call:settled', ({ toolName, status }) => console.log(\`  \${toolName}: \${status}\`))

const apiKey = process.env['${key}']
const base = process.env['${base}'] ?? '${defaultBase}'
const model = process.env['MODEL'] ?? '${model}'
if (apiKey === undefined) console.log('No ${key} is set: a script answers in place of the model, offline.')

const script: Reply[] = [
${provider.script.map((part) => `  ${part},\n`).join('')}]

async function ask(messages: readonly unknown[]): Promise<Reply> {
  if (apiKey === undefined) return script.shift()!
  const response = await fetch(${provider.path}, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ${provider.headers} },
    body: JSON.stringify({ ${provider.request} }),
  })
  if (!response.ok) throw new Error(\`The provider answered \${response.status}: \${await response.text()}\`)
  return ${provider.reply}
}

const question = process.argv[2] ?? 'What is the weather in Bergen? Tell Ada.'
console.log(\`> \${question}\`)
const messages: unknown[] = [${provider.question}]
for (let round = 0; round < 10; round++) {
  const reply = await ask(messages)
  const text = ${provider.text}
  if (text !== '') console.log(text)
  messages.push(${provider.said})
  const calls = format.calls(reply, executor.tools())
  if (calls.length === 0) break
  const results = await executor.executeToolCalls(calls)
  messages.push(${provider.results})
}
// What still waits is cancelled here. With a journal, another process can answer it: toolwright/journals/sqlite.
await executor.close()
`
}
