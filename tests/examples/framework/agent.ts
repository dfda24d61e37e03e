// An agent of the AI SDK. Its tools are those of an executor, so each call is validated, decided on and recorded there.
import { generateText, stepCountIs, type LanguageModel } from 'ai'
import type { ToolExecutor } from 'toolwright'
import { aiSdkTools } from 'toolwright/frameworks/ai-sdk'

/** Asks a model, which may call the tools of the executor. Returns its answer, and what it asked a person about. */
export async function ask(
  model: LanguageModel,
  executor: ToolExecutor,
  prompt: string,
): Promise<{ readonly text: string; readonly questions: readonly string[] }> {
  const { text, content } = await generateText({
    model,
    prompt,
    stopWhen: stepCountIs(10),
    ...aiSdkTools({ executor, session: 'chat-1' }),
  })
  const questions = content.flatMap((part) => (part.type === 'tool-approval-request' ? [part.toolCall.toolName] : []))
  return { text, questions }
}
