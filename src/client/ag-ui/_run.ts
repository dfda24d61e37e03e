import type { ToolCall, ToolExecutor, ToolResult, ToolValues, WaitingCall } from '../../index.ts'
import { ApprovalInvalidError, InvalidConfigurationError, isToolError } from '../../errors.ts'
import { catalogueOf } from '../../extension.ts'
import { plainJson } from '../http/_reply.ts'
import type { Right } from '../protocol.ts'
import type { DeclaredTools } from './_declared-tools.ts'
import { isFieldsObject, requireInput } from './_input.ts'
import { MaskedCalls } from './_masked-calls.ts'
import { announced, event, resultEvent, resultMessage, ModelReply } from './_model-reply.ts'
import type { AgUiEvent, AgUiInput, AgUiMessage, AgUiModel } from './_types.ts'

/** What a run is made of. */
export interface RunParts {
  readonly executor: ToolExecutor
  readonly declaredTools: DeclaredTools | undefined
  readonly model: AgUiModel | undefined
  readonly mostTurns: number
  readonly report: (error: unknown) => void
  readonly input: AgUiInput
  readonly calls: readonly ToolCall[] | undefined
  readonly session: string
  readonly values: ToolValues | undefined
  readonly decidedBy: string | undefined
  readonly may: readonly Right[] | undefined
  readonly signal: AbortSignal
}

/** The last millisecond of the year 9999: consumers read four digits. */
const endOfYears = 253_402_300_799_999

const approvalSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, note: { type: 'string' }, editedArgs: { type: 'object' } },
  required: ['approved'],
} as const

/** Makes all events of a run, in order. Never rejects: what goes wrong is an event too. */
export class Run {
  readonly #parts: RunParts
  readonly #emit: (event: AgUiEvent) => void | Promise<void>
  /** The calls of this run, by the ids that the page knows. */
  readonly #ids = new Set<string>()
  /** What settled since the model was asked last. */
  #results: ToolResult[] = []
  #messages: readonly AgUiMessage[] = []

  constructor(parts: RunParts, emit: (event: AgUiEvent) => void | Promise<void>) {
    this.#parts = parts
    this.#emit = emit
  }

  async perform(): Promise<void> {
    const { executor, declaredTools, input, session, signal, report } = this.#parts
    let end: (() => Promise<void>) | undefined
    const undo = executor.on('tool:progress', (progress) => {
      const toolCallId = pageCallId(progress)
      if (progress.session !== session || !this.#ids.has(toolCallId)) return
      const { type, data = null } = progress
      void this.#emit(
        event('CUSTOM', { name: 'toolwright.progress', value: { toolCallId, type, data: plainJson(data) } }),
      )
    })
    try {
      requireInput(input)
      const { threadId, runId, messages } = input
      this.#messages = messages
      void this.#emit(event('RUN_STARTED', { threadId, runId, protocolVersion: '1.0' }))
      if (this.#isAllowed('answer')) end = declaredTools?.begin(session, input)
      await this.#answer()
      await this.#goOn()
      this.#finish(signal.aborted ? { type: 'cancelled' } : await this.#outcome())
    } catch (error) {
      if (signal.aborted) return this.#finish({ type: 'cancelled' })
      const isOurs = isToolError(error)
      if (!isOurs) report(error)
      // What the model's client throws may have keys in it.
      const message = isOurs ? error.message : 'The run failed. The server knows why.'
      void this.#emit(event('RUN_ERROR', { message, code: isOurs ? error.code : 'E_INTERNAL' }))
    } finally {
      undo()
      await end?.()
    }
  }

  #finish(outcome: object): void {
    const { threadId, runId } = this.#parts.input
    void this.#emit(event('RUN_FINISHED', { threadId, runId, outcome }))
  }

  /** Answers what waits: by the entries of `resume`, and by the messages of tools. */
  async #answer(): Promise<void> {
    const { executor, input, session, values, decidedBy } = this.#parts
    const waiting = new Map((await executor.calls.waiting({ session })).map((call) => [call.invocationId, call]))
    const resumed = (input.resume ?? []).map((entry) => {
      const call = waiting.get(entry.interruptId)
      waiting.delete(entry.interruptId)
      if (call !== undefined && this.#isAllowed(call.reason === 'client' ? 'answer' : 'decide')) return { entry, call }
      throw new ApprovalInvalidError(`No call waits under ${JSON.stringify(entry.interruptId)}. Nothing was run.`)
    })
    for (const { call } of resumed) this.#ids.add(pageCallId(call))
    const deciding = resumed.map(async ({ entry: { status, payload }, call }) => {
      const answer = status === 'resolved' ? payload : undefined
      const options = { session, ...(values && { values }) }
      if (call.reason === 'client') {
        return executor.calls.respond(call, answer ?? { ok: false, error: 'The user gave no answer.' }, options)
      }
      const { approved, note, always, editedArgs } = isFieldsObject(answer) ? answer : {}
      return executor.calls.decide(call, approved === true ? 'allow' : 'deny', {
        ...options,
        ...(decidedBy !== undefined && { decidedBy }),
        ...(typeof note === 'string' && { note }),
        ...(always === true && { always }),
        ...(editedArgs !== undefined && { editedArgs }),
      })
    })
    const settled = await Promise.allSettled(deciding)
    for (const one of settled) if (one.status === 'fulfilled') this.#tell(one.value)
    for (const one of settled) if (one.status === 'rejected') throw one.reason
    await this.#answerByMessages([...waiting.values()])
  }

  async #answerByMessages(waiting: readonly WaitingCall[]): Promise<void> {
    const { executor, input, session, values } = this.#parts
    if (!this.#isAllowed('answer')) return
    const byId = new Map(waiting.filter(({ reason }) => reason === 'client').map((call) => [pageCallId(call), call]))
    for (const { role, toolCallId = '', content, error } of input.messages) {
      const call = role === 'tool' ? byId.get(toolCallId) : undefined
      if (call === undefined) continue
      byId.delete(toolCallId) // the first answer counts
      const value = typeof error === 'string' && error !== '' ? { ok: false, error } : answerValue(content)
      this.#results.push(await executor.calls.respond(call, value, { session, ...(values && { values }) }))
    }
  }

  /** Runs the calls of the application, or asks the model until it calls nothing more or something waits. */
  async #goOn(): Promise<void> {
    const { calls, model, mostTurns, signal } = this.#parts
    if (calls !== undefined) return void (await this.#execute(calls, true))
    if (model === undefined) return
    for (let count = 0; !signal.aborted; count++) {
      if (count === mostTurns) {
        throw new InvalidConfigurationError(
          `The model called tools in ${mostTurns} turns. Raise \`mostTurns\` if it may.`,
        )
      }
      if (!(await this.#ask(model))) return
    }
  }

  /** Asks the model once, and runs what it calls. Returns whether it is to be asked again. */
  async #ask(model: AgUiModel): Promise<boolean> {
    const { executor, input, session, signal } = this.#parts
    const results = this.#results
    this.#results = []
    const tools = executor.tools('model', session)
    const stream = model({ ...input, messages: this.#messages }, { tools, results, session, signal })
    const modelEvents = await unlessAborted(Promise.resolve(stream), signal)
    const reply = new ModelReply()
    if (Symbol.asyncIterator in modelEvents) {
      const calls = this.#maskedCalls()
      for await (const one of itemsUntilAborted(modelEvents, signal)) {
        if (one.type === 'RUN_ERROR')
          throw new Error(`The model's stream ended with an error: ${String(one['message'])}`)
        if (one.type === 'RUN_STARTED' || one.type === 'RUN_FINISHED') continue // they are those of this run
        reply.take(one)
        for (const maskedEvent of calls.masked(one)) await this.#emit(maskedEvent)
      }
      for (const maskedEvent of calls.rest()) await this.#emit(maskedEvent)
      this.#messages = [...this.#messages, reply.message()]
      return this.#execute(reply.calls, false)
    }
    return this.#execute(modelEvents, true)
  }

  /** Runs calls. Returns whether there were any, and none of them waits. */
  async #execute(toolCalls: readonly ToolCall[], isNew: boolean): Promise<boolean> {
    const { executor, session, values, signal } = this.#parts
    if (toolCalls.length === 0) return false
    const calls = toolCalls.map((call) => ({ ...call, id: call.id ?? crypto.randomUUID() }))
    for (const { id } of calls) this.#ids.add(String(id))
    if (isNew) {
      const reply = new ModelReply()
      const maskedCalls = this.#maskedCalls()
      for (const one of announced(calls)) {
        reply.take(one)
        for (const maskedEvent of maskedCalls.masked(one)) void this.#emit(maskedEvent)
      }
      this.#messages = [...this.#messages, reply.message()]
    }
    const results = await executor.executeToolCalls(calls, { session, signal, ...(values && { values }) })
    for (const result of results) this.#tell(result)
    return results.every(({ status }) => status !== 'waiting')
  }

  #maskedCalls(): MaskedCalls {
    const { executor, session } = this.#parts
    return new MaskedCalls(() => catalogueOf(executor, undefined, session))
  }

  #tell(result: ToolResult): void {
    if (result.status === 'waiting') return
    void this.#emit(resultEvent(result))
    this.#results.push(result)
    this.#messages = [...this.#messages, resultMessage(result)]
  }

  /** Returns how the run ends: with what waits, if something does. */
  async #outcome(): Promise<object> {
    const waiting = await this.#parts.executor.calls.waiting({ session: this.#parts.session })
    const own = waiting.filter((call) => call.reason === 'client' && this.#ids.has(pageCallId(call))).toReversed()
    const approvals = waiting.filter(({ reason }) => reason === 'approval')
    if (approvals.length > 0) return { type: 'interrupt', interrupts: [...approvals, ...own].map(interruptOf) }
    return { type: 'success', ...(own.length > 0 && { pendingToolCallIds: own.map(pageCallId) }) }
  }

  #isAllowed(right: Right): boolean {
    return this.#parts.may?.includes(right) ?? true
  }
}

/** Rejects as soon as the signal aborts, whatever the model does. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted()
  let stop = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

async function* itemsUntilAborted<Item>(items: AsyncIterable<Item>, signal: AbortSignal): AsyncGenerator<Item> {
  const iterator = items[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await unlessAborted(iterator.next(), signal)
      if (done === true) return
      yield value
    }
  } finally {
    void Promise.resolve(iterator.return?.()).catch(() => {})
  }
}

/** Returns the id by which the page knows a call. */
function pageCallId({ id, invocationId }: Pick<WaitingCall, 'id' | 'invocationId'>): string {
  return String(id ?? invocationId)
}

function interruptOf(call: WaitingCall): object {
  const { invocationId, callId, toolName, reason, prompt, why, meta, expiresAt } = call
  const toolwright = { callId, toolName, ...(why !== undefined && { why }), ...(meta && { meta: plainJson(meta) }) }
  return {
    id: invocationId,
    reason: reason === 'approval' ? 'tool_approval' : 'client_tool',
    message: prompt,
    toolCallId: pageCallId(call),
    ...(reason === 'approval' && { responseSchema: approvalSchema }),
    expiresAt: new Date(Math.min(expiresAt, endOfYears)).toISOString(),
    metadata: { toolwright },
  }
}

/** Returns the answer of a page: JSON if it is JSON, else text. */
function answerValue(content: unknown): unknown {
  const parts = Array.isArray(content)
    ? content.map((part: unknown) => (isFieldsObject(part) ? part['text'] : ''))
    : [content]
  const text = parts.filter((part) => typeof part === 'string').join('')
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
