// One tool call through each of the packages that people would take instead, behind one interface. Each does what its own agent
// loop does for one call, through what it exports. Of their types only what is used here is written down, so that the
// project can be checked without having them installed.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load as loadFrom } from './rivals/load.ts'

const folder = join(import.meta.dirname, 'rivals')

/** What a package does for a call beside running the handler. */
export type Duty = 'validates' | 'identifies' | 'records' | 'emits' | 'spools'

/** The tool of a bench: of any schema that the package may take or not. */
export interface Subject {
  readonly name: string
  readonly schema: unknown
  readonly handler: (input: never) => unknown
}

/** The args of a call, in both of the forms in which packages take them. */
export interface Args {
  readonly value: unknown
  readonly text: string
}

export interface Rival {
  readonly name: string
  readonly package: string
  readonly duties: readonly Duty[]
  /** Makes the tool, and gives what calls it. May throw where the package does not take the schema. */
  readonly prepare: (subject: Subject) => Promise<(args: Args) => Promise<unknown>>
}

/** Installs the packages where they are not: exactly those of the lock. */
export function install(): void {
  if (existsSync(join(folder, 'node_modules', '.package-lock.json'))) return
  process.stdout.write('Installing the rivals: npm ci --prefix bench/rivals\n')
  // They are libraries: none of them needs a script of its own to be loaded.
  const parameters = ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', parameters, { stdio: 'inherit' })
  if (status !== 0) throw new Error('The rivals cannot be installed.')
}

/** The pinned version of a package. */
export function versionOf(name: string): string {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return dependencies[name] ?? ''
}

/** Loads a package of the rivals, as far as it is described where it is used. */
export async function load<Shape>(name: string): Promise<Shape> {
  return (await loadFrom(name)) as Shape
}

const description = 'Does what it is asked to'
const isStandard = (schema: unknown): boolean => Object(schema) === schema && '~standard' in (schema as object)

const langchain: Rival = {
  name: 'LangChain',
  package: '@langchain/core',
  duties: ['validates', 'emits'],
  async prepare({ name, schema, handler }) {
    interface Tools {
      readonly tool: (handler: unknown, fields: object) => { invoke(call: object): Promise<unknown> }
    }
    const { tool } = await load<Tools>('@langchain/core/tools')
    const made = tool(handler, { name, description, schema })
    return ({ value }) => made.invoke({ id: 'call_1', name, args: value, type: 'tool_call' })
  },
}

const openai: Rival = {
  name: 'OpenAI Agents',
  package: '@openai/agents',
  duties: ['validates'],
  async prepare({ name, schema, handler }) {
    interface Agents {
      readonly tool: (options: object) => object
      readonly invokeFunctionTool: (options: object) => Promise<unknown>
      readonly RunContext: new (context: object) => object
    }
    const { tool, invokeFunctionTool, RunContext } = await load<Agents>('@openai/agents')
    const strictness = isStandard(schema) ? {} : { strict: false }
    const made = tool({ name, description, parameters: schema, execute: handler, ...strictness })
    const runContext = new RunContext({})
    return ({ text }) => invokeFunctionTool({ tool: made, runContext, input: text })
  },
}

const mastra: Rival = {
  name: 'Mastra',
  package: '@mastra/core',
  duties: ['validates'],
  async prepare({ name, schema, handler }) {
    interface Tools {
      readonly createTool: (options: object) => { execute(input: unknown, context: object): Promise<unknown> }
    }
    const { createTool } = await load<Tools>('@mastra/core/tools')
    const made = createTool({ id: name, description, inputSchema: schema, execute: handler })
    return ({ value }) => made.execute(value, {})
  },
}

const strands: Rival = {
  name: 'Strands',
  package: '@strands-agents/sdk',
  duties: ['validates'],
  async prepare({ name, schema, handler }) {
    interface Sdk {
      readonly tool: (options: object) => { invoke(input: unknown): Promise<unknown> }
    }
    const { tool } = await load<Sdk>('@strands-agents/sdk')
    const made = tool({ name, description, inputSchema: schema, callback: handler })
    return ({ value }) => made.invoke(value)
  },
}

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }

const aiSdk: Rival = {
  name: 'AI SDK, one generateText',
  package: 'ai',
  duties: ['validates', 'emits'],
  async prepare({ name, schema, handler }) {
    interface Sdk {
      readonly generateText: (options: object) => Promise<unknown>
      readonly jsonSchema: (schema: unknown) => unknown
      readonly tool: (options: object) => unknown
    }
    interface Doubles {
      readonly MockLanguageModelV4: new (options: object) => object
    }
    const { generateText, jsonSchema, tool } = await load<Sdk>('ai')
    const { MockLanguageModelV4 } = await load<Doubles>('ai/test')
    const inputSchema = isStandard(schema) ? schema : jsonSchema(schema)
    const tools = { [name]: tool({ description, inputSchema, execute: handler }) }
    let input = ''
    const model = new MockLanguageModelV4({
      doGenerate: () => ({
        content: [{ type: 'tool-call', toolCallId: 'call_1', toolName: name, input }],
        finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
        usage,
        warnings: [],
      }),
    })
    return ({ text }) => {
      input = text
      return generateText({ model, prompt: 'Go on.', tools })
    }
  },
}

const aiSdkAlone: Rival = {
  name: 'AI SDK, executeTool',
  package: 'ai',
  duties: [],
  async prepare({ handler }) {
    interface Parts {
      readonly executeTool: (options: object) => AsyncIterable<unknown>
    }
    const { executeTool } = await load<Parts>('@ai-sdk/provider-utils')
    const tool = { execute: handler }
    const options = { toolCallId: 'call_1', messages: [] }
    return async ({ value }) => {
      let last: unknown
      for await (const part of executeTool({ tool, input: value, options })) last = part
      return last
    }
  },
}

const mcp: Rival = {
  name: 'MCP 2, client and server in memory',
  package: '@modelcontextprotocol/server',
  duties: ['validates'],
  async prepare({ name, schema, handler }) {
    interface Server {
      readonly McpServer: new (info: object) => {
        registerTool(name: string, options: object, handler: (input: never) => unknown): void
        connect(transport: unknown): Promise<void>
      }
      readonly fromJsonSchema: (schema: unknown) => unknown
    }
    interface Client {
      readonly Client: new (info: object) => {
        connect(transport: unknown): Promise<void>
        listTools(): Promise<unknown>
        callTool(call: object): Promise<unknown>
      }
      readonly InMemoryTransport: { createLinkedPair(): [unknown, unknown] }
    }
    const { McpServer, fromJsonSchema } = await load<Server>('@modelcontextprotocol/server')
    const { Client, InMemoryTransport } = await load<Client>('@modelcontextprotocol/client')
    const server = new McpServer({ name: 'server', version: '1.0.0' })
    const inputSchema = isStandard(schema) ? schema : fromJsonSchema(schema)
    server.registerTool(name, { description, inputSchema }, async (input) => {
      const result = await handler(input)
      return { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }] }
    })
    const client = new Client({ name: 'client', version: '1.0.0' })
    const [near, far] = InMemoryTransport.createLinkedPair()
    await Promise.all([server.connect(far), client.connect(near)])
    await client.listTools() // a model is shown a tool before it calls it
    return ({ value }) => client.callTool({ name, arguments: value })
  },
}

/** Those whose calls are timed. */
export const rivals: readonly Rival[] = [aiSdkAlone, strands, mastra, openai, langchain, mcp, aiSdk]
