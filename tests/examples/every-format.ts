/**
 * One message of each of the six formats, answered as the command does it: what the message asks for, and the reply.
 *
 *   npx node -C @toolwright/source tests/examples/every-format.ts
 */
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { parseJson, type Format } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { main } from '../../src/cli/main.ts'

/** Keeps what is written: it is no terminal, and so nobody is asked there. */
class Collected extends Writable {
  text = ''
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

const formats: readonly Format[] = [anthropic(), openai(), openaiResponses(), gemini(), aiSdk(), mcp()]
const tools = path('tools.ts')

for (const format of formats) {
  const message = path(`messages/${format.name}.json`)
  print(`\n━━ ${format.name} ${'━'.repeat(60 - format.name.length)}\n`)
  for (const { name, args } of format.calls(parseJson(readFileSync(message, 'utf8')))) {
    print(`   asks   ${name} ${typeof args === 'string' ? args : JSON.stringify(args)}`)
  }
  const reply = await outputOf(['run', tools, message])
  print(`\n   reply  ${JSON.stringify(parseJson(reply), null, 2).replaceAll('\n', '\n          ')}`)
}

/** What the command prints: all of them in this process, since starting one takes longer than answering. */
async function outputOf(words: readonly string[]): Promise<string> {
  const [stdout, stderr] = [new Collected(), new Collected()]
  const { signal } = new AbortController()
  const status = await main(words, { stdin: Readable.from([]), stdout, stderr, signal })
  if (status !== 0) throw new Error(`toolwright run ended with ${status}: ${stderr.text}`)
  return stdout.text
}

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
