import { join } from 'node:path'
import { createExecutor, tool, type ToolExecutor } from 'toolwright'
import { artifactTools } from 'toolwright/artifacts/tools'
import { aiSdkTools, type AiSdkTools } from 'toolwright/frameworks/ai-sdk'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import type { Compared, Scene } from '../_scene.ts'
import { answered, loop } from './ai-sdk.ts'

async function withTools<Value>(
  { folder, offers, timeout, isAsked }: Scene,
  use: (tools: AiSdkTools, executor: ToolExecutor) => Promise<Value>,
): Promise<Value> {
  const tools = offers.map(({ name, description, schema, run }) =>
    tool({
      name,
      description,
      inputSchema: schema,
      handler: (args, { signal }) => run(args as never, signal),
      ...(timeout !== undefined && { timeout }),
      ...(isAsked && { requiresConfirmation: true }),
    }),
  )
  const executor = createExecutor({ tools, use: [sqliteJournal(join(folder, 'calls.db')), artifactTools()] })
  try {
    return await use(aiSdkTools({ executor, session: 'chat-1' }), executor)
  } finally {
    await executor.close()
  }
}

export const compared: Compared = {
  name: 'Toolwright',
  packages: ['toolwright'],
  uses: '`aiSdkTools` in the same loop as the AI SDK, `sqliteJournal`, `artifactTools`, `timeout`, and `requiresConfirmation`',
  beside: 'seven more frameworks, journals on Postgres, policies and middleware',
  run: (scene) => withTools(scene, ({ tools, toolApproval }) => loop(scene, { tools, toolApproval })),
  ask: (scene) =>
    withTools(scene, async ({ tools, toolApproval }) => {
      const { messages, content } = await loop(scene, { tools, toolApproval })
      return answered(messages, content)
    }),
  answer: (scene, kept) =>
    withTools(scene, async ({ tools, toolApproval, answer }) => {
      await answer(kept as object[])
      return loop({ ...scene, turns: [] }, { tools, toolApproval }, kept as object[])
    }),
  goOn: (scene) =>
    withTools(scene, async ({ tools, toolApproval }, executor) => {
      // The other process is known to be dead, so there is no need to wait for its silence.
      await executor.calls.recover({ staleAfter: 0 })
      return loop(scene, { tools, toolApproval })
    }),
}
