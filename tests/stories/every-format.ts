/**
 * One message of each of the six formats, answered by the command itself: what the message asks for, and the reply.
 *
 *   npm start
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseJson, type Format } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'

const formats: readonly Format[] = [anthropic(), openai(), openaiResponses(), gemini(), aiSdk(), mcp()]
const command = path('../../src/cli/bin.ts')
const tools = path('tools.ts')

for (const format of formats) {
  const message = path(`messages/${format.name}.json`)
  print(`\n━━ ${format.name} ${'━'.repeat(60 - format.name.length)}\n`)
  for (const { name, args } of format.calls(parseJson(readFileSync(message, 'utf8')))) {
    print(`   asks   ${name} ${typeof args === 'string' ? args : JSON.stringify(args)}`)
  }
  // The same flags of Node that this story was started with, so that both run from source.
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...process.execArgv, command, 'run', tools, message],
    {
      encoding: 'utf8',
    },
  )
  if (status !== 0) throw new Error(`toolwright run ended with ${status}: ${stderr}`)
  print(`\n   reply  ${JSON.stringify(parseJson(stdout), null, 2).replaceAll('\n', '\n          ')}`)
}

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
