import { Agent, Runner, setTracingDisabled, tool, Usage, type AgentInputItem, type Model } from '@openai/agents'
import { openaiAgentsTools, type OpenAiAgentsTools } from 'toolwright/frameworks/openai-agents'
import type { ToolExecutor } from 'toolwright'
import type { Call, Driver } from '../_kit.ts'

setTracingDisabled(true)

interface FakeModel extends Model {
  readonly asked: { readonly input: string | AgentInputItem[] }[]
}

/** A model that makes the calls of each turn, and then says that it is done. */
export function modelOf(
  ...turns: readonly (readonly (Call | { readonly id: string; name: string; text: string })[])[]
): FakeModel {
  const asked: FakeModel['asked'] = []
  const done = {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'done' }],
  }
  return {
    asked,
    getResponse: async (request) => {
      asked.push({ input: JSON.parse(JSON.stringify(request.input)) as AgentInputItem[] })
      const calls = turns[asked.length - 1]?.map((call) => {
        const text = 'text' in call ? call.text : JSON.stringify(call.args)
        return { type: 'function_call', callId: call.id, name: call.name, status: 'completed', arguments: text }
      })
      return { usage: new Usage(), output: (calls ?? [done]) as never, responseId: 'r' }
    },
    getStreamedResponse: () => {
      throw new Error('the tests do not stream')
    },
  }
}

/** An agent with an executor's tools. */
export function agentOf(
  executor: ToolExecutor,
  model: Model,
  session = 'run-1',
): { readonly agent: Agent; readonly passAnswers: OpenAiAgentsTools<object>['answer'] } {
  const { tools, answer: passAnswers } = openaiAgentsTools({ executor, session, tool })
  return { agent: new Agent({ name: 'payer', instructions: 'Pay.', model, tools }), passAnswers }
}

/** What the model read as the result of a call. */
export function toolOutputOf({ asked }: FakeModel, id: string): string | undefined {
  const items = asked.flatMap(({ input }) => (typeof input === 'string' ? [] : input))
  const item = items.findLast((each) => each.type === 'function_call_result' && each.callId === id)
  if (item?.type !== 'function_call_result') return undefined
  const { output } = item
  if (typeof output === 'string') return output
  return Array.isArray(output) || output.type !== 'text' ? JSON.stringify(output) : output.text
}

export const driver: Driver = {
  name: 'OpenAI Agents',
  async run({ executor }, call, { answer, signal, session } = {}) {
    const model = modelOf([call])
    const { agent, passAnswers } = agentOf(executor, model, session)
    const runner = new Runner()
    let result = await runner.run(agent, 'go', { ...(signal && { signal }) })
    const [asked] = result.interruptions
    if (asked !== undefined && answer !== undefined) {
      if (answer === 'allow') result.state.approve(asked)
      else result.state.reject(asked, { message: 'says the test' })
      await passAnswers(result.state)
      result = await runner.run(agent, result.state)
    }
    return { words: toolOutputOf(model, call.id), isAsked: asked !== undefined }
  },
}
