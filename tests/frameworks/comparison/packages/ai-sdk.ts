import { stepCountIs, streamText, tool, type ModelMessage } from 'ai'
import { modelOf, toolOutputOf, wordsOf } from '../../_ai-model.ts'
import type { Compared, Heard, Scene } from '../_scene.ts'

/** The loop of the SDK: what the model reads, and the messages that the application keeps. */
export async function loop(
  { turns, signal }: Scene,
  options: object,
  messages: readonly object[] = [{ role: 'user', content: 'go' }],
): Promise<Heard & { readonly messages: readonly object[]; readonly content: readonly { readonly type: string }[] }> {
  const model = modelOf(...turns.map((calls) => ({ calls })), { text: 'done' })
  const stream = streamText({
    model,
    stopWhen: stepCountIs(5),
    messages: messages as ModelMessage[],
    onError: () => {}, // it comes as a part too
    ...(signal && { abortSignal: signal }),
    ...options,
  })
  for await (const part of stream.fullStream) {
    if (part.type === 'abort' || part.type === 'error') {
      throw Object.assign(new Error(JSON.stringify(part)), { name: 'A part' })
    }
  }
  const prompts = model.doStreamCalls
  return {
    messages: [...messages, ...(await stream.response).messages],
    content: await stream.content,
    resultOf: (id) => wordsOf(toolOutputOf(prompts.at(-1)?.prompt, id)),
    offered: prompts[0]?.tools?.map(({ name }) => name) ?? [],
  }
}

/** The messages of the application, with the answer to what was asked. */
export function answered(messages: readonly object[], content: readonly object[]): object[] {
  const asked = content.find((part) => 'approvalId' in part) as { readonly approvalId: string }
  const part = { type: 'tool-approval-response', approvalId: asked.approvalId, approved: true }
  return [...messages, { role: 'tool', content: [part] }]
}

function optionsOf({ offers, timeout, isAsked }: Scene): object {
  const tools = offers.map(({ name, description, schema, run }) => [
    name,
    tool({
      description,
      inputSchema: schema,
      execute: (input: unknown, { abortSignal }: { readonly abortSignal?: AbortSignal | undefined }) =>
        run(input as never, abortSignal),
    } as never),
  ])
  return {
    tools: Object.fromEntries(tools),
    ...(timeout !== undefined && { timeout: { toolMs: timeout } }),
    ...(isAsked && { toolApproval: { pay: 'user-approval' } }),
  }
}

export const compared: Compared = {
  name: 'AI SDK',
  packages: ['ai'],
  uses: '`streamText` with `tool`, `timeout: { toolMs }`, `abortSignal`, and `toolApproval`; the application keeps the messages',
  beside:
    '`generateText`, `repairToolCall`, `toModelOutput` with which you shorten a result yourself, and signed approvals (experimental)',
  noStorage: { modules: ['ai'], but: [] },
  run: (scene) => loop(scene, optionsOf(scene)),
  async ask(scene) {
    const { messages, content } = await loop(scene, optionsOf(scene))
    return answered(messages, content)
  },
  answer: (scene, kept) => loop({ ...scene, turns: [] }, optionsOf(scene), kept as object[]),
}
