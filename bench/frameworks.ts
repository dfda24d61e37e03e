// The same tool in a framework as its own, and through an executor of ours. Both validate the args and give the same result.
import { createExecutor, tool } from 'toolwright'
import { aiSdkTools } from 'toolwright/frameworks/ai-sdk'
import { anthropicTools } from 'toolwright/frameworks/anthropic'
import { openaiAgentsTools } from 'toolwright/frameworks/openai-agents'
import { printTable } from './_results.ts'
import { install, load, rivals } from './_rivals.ts'
import { compare } from './_runner.ts'
import { args, searchSchema } from './_search.ts'

install()
const schema = searchSchema(await load<Parameters<typeof searchSchema>[0]>('zod'))
const handler = async (): Promise<string> => 'done'
const text = JSON.stringify(args)
const search = tool({ name: 'search', description: 'Does what it is asked to', inputSchema: schema, handler })
const executor = createExecutor({ tools: [search] })
let calls = 0
/** Ids that are all different, as those of models. */
const nextId = (): string => `call_${calls++}`

/** Returns what calls a framework's own tool, as the other benches do. */
async function itself(name: string): Promise<() => Promise<unknown>> {
  const rival = rivals.find((each) => each.name === name)
  if (rival === undefined) throw new Error(`There is no rival ${name}.`)
  const call = await rival.prepare({ name: 'search', schema, handler })
  return () => call({ value: args, text })
}

interface Sdk {
  readonly generateText: (options: object) => Promise<unknown>
}
interface Doubles {
  readonly MockLanguageModelV4: new (options: object) => object
}
const { generateText } = await load<Sdk>('ai')
const { MockLanguageModelV4 } = await load<Doubles>('ai/test')
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const model = new MockLanguageModelV4({
  doGenerate: () => ({
    content: [{ type: 'tool-call', toolCallId: nextId(), toolName: 'search', input: text }],
    finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
    usage,
    warnings: [],
  }),
})
const { tools, toolApproval } = aiSdkTools({ executor, session: 'bench' })

interface Agents {
  readonly tool: (options: object) => object
  readonly invokeFunctionTool: (options: object) => Promise<unknown>
  readonly RunContext: new (context: object) => object
}
const { tool: agentsTool, invokeFunctionTool, RunContext } = await load<Agents>('@openai/agents')
const [agents] = openaiAgentsTools({ executor, session: 'bench', tool: agentsTool }).tools
const runContext = new RunContext({})

interface Helpers {
  readonly betaZodTool: (options: object) => {
    parse(input: unknown): unknown
    run(input: unknown, context: object): unknown
  }
}
const { betaZodTool } = await load<Helpers>('@anthropic-ai/sdk/helpers/beta/zod')
const own = betaZodTool({ name: 'search', description: 'Does what it is asked to', inputSchema: schema, run: handler })
const [anthropic] = anthropicTools({ executor, session: 'bench', ToolError: Error })

const clock = 'processor'
const runs: Record<string, Record<string, () => Promise<unknown>>> = {
  'AI SDK, one generateText': {
    'its own tool': await itself('AI SDK, one generateText'),
    'through an executor': () => generateText({ model, prompt: 'Go on.', tools, toolApproval }),
  },
  'OpenAI Agents, one call': {
    'its own tool': await itself('OpenAI Agents'),
    'through an executor': () => {
      const details = { toolCall: { type: 'function_call', callId: nextId(), name: 'search', arguments: text } }
      return invokeFunctionTool({ tool: agents, runContext, input: text, details })
    },
  },
  'Anthropic’s tool runner, one call': {
    'its own tool': async () => own.run(own.parse(args), {}),
    'through an executor': async () =>
      anthropic?.run(args, { toolUse: { type: 'tool_use', id: nextId(), name: 'search', input: args } }),
  },
}
for (const [title, variants] of Object.entries(runs)) printTable(await compare(title, variants, { clock }))
