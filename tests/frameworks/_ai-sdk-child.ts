// Goes on with a conversation of the AI SDK in a process of its own: prints what the model was told.
import process from 'node:process'
import { generateText, type ModelMessage } from 'ai'
import { aiSdkTools } from 'toolwright/frameworks/ai-sdk'
import { modelOf, toolOutputOf, wordsOf } from './_ai-model.ts'
import { executorOn } from './_tools.ts'

const { file, session, messages, id } = JSON.parse(process.argv[2] ?? '') as {
  readonly file: string
  readonly session: string
  readonly messages: ModelMessage[]
  readonly id: string
}
const executor = executorOn(file)
const { tools, toolApproval, answer: passAnswers } = aiSdkTools({ executor, session, values: { user: 'bob' } })
const model = modelOf({ text: 'done' })
const heard = await passAnswers(messages)
await generateText({ model, tools, toolApproval, messages })
const output = toolOutputOf(model.doGenerateCalls[0]?.prompt, id)
await executor.close()
process.stdout.write(
  JSON.stringify({ words: wordsOf(output), type: output?.type, heard: heard.map(({ status }) => status) }),
)
