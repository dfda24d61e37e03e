import { createExecutor, type ContentBlock, type ToolCall, type ToolEvent } from 'toolwright'
import { artifactTools } from 'toolwright/artifacts/tools'
import { sent } from './messages.ts'
import { runs, tools } from './tools.ts'

/** What happened, and nothing else: the screen and the JSON say the same. */
export interface Facts {
  /** One call, as each provider sends it. */
  readonly oneCall: readonly {
    readonly format: string
    /** Where the args stand in the provider's message. */
    readonly path: string
    /** The args as they were sent: text, or an object. */
    readonly args: unknown
    readonly callId: string
    readonly status: string
  }[]
  readonly badArgs: {
    readonly args: unknown
    readonly code: string
    readonly reads: string
    readonly handlerRuns: number
  }
  readonly approval: {
    readonly args: unknown
    readonly status: string
    readonly prompt: string
    readonly runsBefore: number
    readonly answer: string
    readonly decidedBy: string
    readonly final: string
    readonly reads: string
    readonly runsAfter: number
  }
  readonly largeResult: {
    readonly bytes: number
    readonly shownBytes: number
    readonly handle: string
    readonly pattern: string
    readonly found: string
  }
  readonly calls: readonly {
    readonly callId: string
    readonly toolName: string
    /** How many starts of runs, and how many ends that belong to one of them. */
    readonly starts: number
    readonly ends: number
    /** What the runs took together. */
    readonly milliseconds: number
    readonly statuses: readonly string[]
  }[]
}

/** Makes every call of the story, and gives what came of them. */
export async function facts(): Promise<Facts> {
  const executor = createExecutor({ tools, use: [artifactTools()] })
  const events: ToolEvent[] = []
  executor.on('*', (event) => void events.push(event))

  const oneCall: Facts['oneCall'][number][] = []
  for (const { format, message, path } of sent) {
    const [result] = await executor.executeToolCalls(format.calls(message, executor.tools()))
    const { callId, status } = required(result)
    oneCall.push({
      format: format.name,
      path: path.join('.'),
      args: path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], message),
      callId: callId ?? '',
      status,
    })
  }

  const wrong: ToolCall = { name: 'transfer', args: { to: 'Ada', amount: 'five hundred' } }
  const refused = await executor.execute(wrong)
  const badArgs = {
    args: wrong.args,
    code: refused.error?.code ?? '',
    reads: textOf(refused.content),
    handlerRuns: runs.transfer,
  }

  const right: ToolCall = { name: 'transfer', args: { to: 'Ada', amount: 500 } }
  const { status } = await executor.execute(right)
  const runsBefore = runs.transfer
  const waiting = required((await executor.calls.waiting())[0])
  const [answer, decidedBy] = ['allow', 'grace'] as const
  const allowed = await executor.calls.decide(waiting, answer, { decidedBy })
  const approval = {
    args: right.args,
    status,
    prompt: waiting.prompt ?? '',
    runsBefore,
    answer,
    decidedBy,
    final: allowed.status,
    reads: textOf(allowed.content),
    runsAfter: runs.transfer,
  }

  const log = await executor.execute({ name: 'read_log' })
  const pattern = ' 503 '
  const matches = await executor.execute({ name: 'artifact_grep', args: { artifact: log.handle, pattern } })
  const stored = events.find((event) => event.event === 'call:settled' && event.result?.handle === log.handle)
  const largeResult = {
    bytes: stored?.event === 'call:settled' ? (stored.result?.byteLength ?? 0) : 0,
    shownBytes: Buffer.byteLength(textOf(log.content)),
    handle: log.handle ?? '',
    pattern,
    found: textOf(matches.content),
  }

  await executor.close()
  return { oneCall, badArgs, approval, largeResult, calls: callsOf(events) }
}

/** Groups the events by `callId`, and pairs each start with its end by `invocationId`. */
function callsOf(events: readonly ToolEvent[]): Facts['calls'] {
  const groups = Map.groupBy(events, ({ callId }) => callId)
  return [...groups].map(([callId, group]) => {
    const starts = group.filter(({ event }) => event === 'tool:start').map(({ invocationId }) => invocationId)
    const ends = group.filter((event) => event.event === 'tool:end' && starts.includes(event.invocationId))
    return {
      callId: callId ?? '',
      toolName: group[0]?.toolName ?? '',
      starts: starts.length,
      ends: ends.length,
      milliseconds: ends.reduce((sum, end) => sum + (end.event === 'tool:end' ? end.durationMs : 0), 0),
      statuses: group.flatMap((event) => (event.event === 'call:settled' ? [event.status] : [])),
    }
  })
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join('\n')
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('The kernel gave no value.')
  return value
}
