import { chat, EventType, toolDefinition, type StreamChunk } from '@tanstack/ai'
import { adapterOf, answered } from '../../drivers/tanstack.ts'
import { pay, type Compared, type Heard, type Scene } from '../_scene.ts'

async function request({ offers, turns, isAsked, signal }: Scene, messages?: readonly object[]): Promise<Heard> {
  const tools = offers.map(({ name, description, schema, run }) =>
    toolDefinition({ name, description, inputSchema: schema, needsApproval: isAsked === true }).server(
      (args: unknown, context?: { readonly abortSignal?: AbortSignal }) =>
        run(args as never, context?.abortSignal) as never,
    ),
  )
  const { adapter, asked } = adapterOf(...turns)
  const abortController = new AbortController()
  signal?.addEventListener('abort', () => abortController.abort(signal.reason))
  const run = chat({
    adapter,
    messages: (messages ?? [{ role: 'user', content: 'go' }]) as never,
    tools,
    abortController,
  })
  for await (const chunk of run as AsyncIterable<StreamChunk>) {
    if (chunk.type === EventType.RUN_ERROR) throw new Error(chunk.message)
  }
  const resultOf = (id: string): string | undefined => {
    const found = asked.at(-1)?.findLast((message) => message.role === 'tool' && message.toolCallId === id)
    if (found === undefined) return undefined
    return typeof found.content === 'string' ? found.content : JSON.stringify(found.content)
  }
  return { resultOf, offered: tools.map(({ name }) => name) }
}

export const compared: Compared = {
  name: 'TanStack AI',
  packages: ['@tanstack/ai'],
  uses: '`chat` with `toolDefinition`, `abortController`, and `needsApproval`; the application keeps the messages',
  beside:
    'middleware, a cache of tool results by their args, streams that a client can read again, and the interface of a ' +
    '`RunStore`, which a package of its own writes',
  noTimeout: { files: '@tanstack/ai/dist/esm/activities/chat/tools/*.d.ts' },
  noStorage: { modules: ['@tanstack/ai'], but: ['InMemoryRunStore', 'defineRunStore'] },
  run: (scene) => request(scene),
  async ask(scene) {
    await request(scene)
    return answered(pay, true)
  },
  answer: (scene, kept) => request({ ...scene, turns: [] }, kept as object[]),
}
