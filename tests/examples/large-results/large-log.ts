/**
 * A process in which a tool returns a log of 200 MB, and a model finds the one request that failed. It prints what the
 * model read, and how much memory that took, as JSON.
 *
 *   node -C @toolwright/source tests/examples/large-results/large-log.ts <directory>
 */
import { Readable } from 'node:stream'
import { createExecutor, tool } from 'toolwright'
import { artifactTools } from 'toolwright/artifacts/tools'
import { openai } from 'toolwright/formats/openai'
import { fileStore } from 'toolwright/stores/file'

const [directory = ''] = process.argv.slice(2)
const requests = 2_000_000
const failing = 1_234_567

function line(number: number): string {
  const id = `req_${(number * 7_919).toString(36).padStart(8, '0')}`
  if (number !== failing)
    return `2026-11-22T04:05:06.789Z ${id} GET /orders/${number} status=200 bytes=${500 + (number % 7)} took=12ms user=anonymous\n`
  return (
    `2026-11-22T04:05:06.789Z ${id} POST /orders/${number} status=503 bytes=0 took=30000ms user=ada\n` +
    '    Error: connect ECONNREFUSED 10.0.0.7:5432\n' +
    '        at Pool.connect (/srv/orders/pool.js:41:11)\n'
  )
}

/** The log, as a process would write it: a little at a time. */
function* log(): Generator<string> {
  for (let number = 0; number < requests; number += 500) {
    yield Array.from({ length: 500 }, (_, index) => line(number + index)).join('')
  }
}

const readLog = tool({
  name: 'read_log',
  description: 'Reads the log of the orders service',
  traits: { readonly: true },
  timeout: 0,
  handler: () => Readable.from(log()),
})

const executor = createExecutor({
  tools: [readLog],
  use: [fileStore(directory), artifactTools({ only: 'all' })],
  timeout: 0,
})
const format = openai()
const answers: { asked: string; answer: string }[] = []

/** One turn of a model: a message that asks for one call, with its arguments as text; and the words of the reply. */
async function turn(name: string, args: object): Promise<string> {
  const id = `call_${answers.length}`
  const asked = JSON.stringify(args)
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: asked } }],
  }
  const results = await executor.executeToolCalls(format.calls(message))
  const [reply] = format.results(results, message) as { content: string }[]
  const answer = reply?.content ?? ''
  answers.push({ asked: `${name} ${asked}`, answer })
  return answer
}

let mostMemory = 0
const before = process.memoryUsage.rss()
const watch = setInterval(() => (mostMemory = Math.max(mostMemory, process.memoryUsage.rss())), 5)

// All that the model knows is what it has read.
const preview = await turn('read_log', {})
const [artifact] = /artifact_[0-9a-f]+/.exec(preview) ?? []
await turn('artifact_line_count', { artifact })
await turn('artifact_grep', { artifact, pattern: '50\\d' }) // too much matches that
let found: RegExpExecArray | null = null
for (let start = 0; found === null;) {
  const answer = await turn('artifact_grep', { artifact, pattern: 'status=5\\d\\d', start })
  found = /^(\d+): /m.exec(answer)
  const [, next] = /Go on with start: (\d+)/.exec(answer) ?? []
  if (next === undefined) break
  start = Number(next)
}
const number = Number(found?.[1])
await turn('artifact_cat', { artifact, start: number - 1, end: number + 4 })

clearInterval(watch)
await executor.close()
process.stdout.write(JSON.stringify({ answers, grown: Math.max(mostMemory, process.memoryUsage.rss()) - before }))
