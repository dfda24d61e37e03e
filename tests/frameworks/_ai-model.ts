import { MockLanguageModelV4 } from 'ai/test'
import type { Call, Seen } from './_kit.ts'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

interface Said {
  readonly text?: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: unknown }[]
}

function contentOf({ text, calls = [] }: Said): object[] {
  const parts = calls.map(({ id, name, args }) => {
    return { type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(args) }
  })
  return text === undefined ? parts : [{ type: 'text', text }, ...parts]
}

/** A model of version 7 that says these things, one after the other. */
export function modelOf(...said: readonly Said[]): MockLanguageModelV4 {
  const finish = ({ calls }: Said): object => {
    return calls === undefined ? { unified: 'stop', raw: 'stop' } : { unified: 'tool-calls', raw: 'tool' }
  }
  const steps = said.map((each) => ({ content: contentOf(each), finishReason: finish(each), usage, warnings: [] }))
  const streams = said.map((each) => {
    const chunks = [
      { type: 'stream-start', warnings: [] },
      ...contentOf(each).flatMap((part) => {
        if (!('text' in part)) return [part]
        return [
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: part.text },
          { type: 'text-end', id: 't' },
        ]
      }),
      { type: 'finish', finishReason: finish(each), usage },
    ]
    return {
      stream: new ReadableStream({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(chunk)
          controller.close()
        },
      }),
    }
  })
  return new MockLanguageModelV4({ doGenerate: steps as never, doStream: streams as never })
}

interface Output {
  readonly type: string
  readonly value?: unknown
}

/** What a model was told as the result of a call: the last of it in a prompt. */
export function toolOutputOf(prompt: unknown, id: string): Output | undefined {
  const parts = (prompt as readonly { readonly content: unknown }[]).flatMap(({ content }) =>
    Array.isArray(content) ? (content as readonly { type: string; toolCallId?: string; output?: Output }[]) : [],
  )
  return parts.findLast(({ type, toolCallId }) => type === 'tool-result' && toolCallId === id)?.output
}

/** The words of an output. */
export function wordsOf(output: Output | undefined): string | undefined {
  if (output === undefined) return undefined
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value ?? output)
}

/** The parts of `generateText`'s result that both versions have. */
interface Generated {
  readonly content: readonly { readonly type: string; readonly approvalId?: string }[]
  readonly response: { readonly messages: readonly object[] }
}

/** Lets a model make a call, and sends the person's answer in a second request. */
export async function conversation(
  { id }: Call,
  answer: 'allow' | 'deny' | undefined,
  sdk: {
    readonly generate: (messages: never) => Promise<Generated>
    readonly passAnswers: (messages: readonly unknown[]) => Promise<unknown>
    readonly model: { readonly doGenerateCalls: readonly { readonly prompt: unknown }[] }
  },
): Promise<Seen> {
  const messages: object[] = [{ role: 'user', content: 'go' }]
  const { content, response } = await sdk.generate(messages as never)
  const asked = content.find(({ type }) => type === 'tool-approval-request')
  if (asked !== undefined && answer !== undefined) {
    const { approvalId } = asked
    const part = { type: 'tool-approval-response', approvalId, approved: answer === 'allow', reason: 'says the test' }
    messages.push(...response.messages, { role: 'tool', content: [part] })
    await sdk.passAnswers(messages)
    await sdk.generate(messages as never)
  }
  return { words: wordsOf(toolOutputOf(sdk.model.doGenerateCalls.at(-1)?.prompt, id)), isAsked: asked !== undefined }
}
