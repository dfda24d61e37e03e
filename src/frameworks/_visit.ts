import {
  computeCallId,
  type CallOptions,
  type ToolCall,
  type ToolDefinition,
  type ToolEventOf,
  type ToolExecutor,
  type ToolResult,
  type ToolValues,
  type WaitingCall,
} from '../index.ts'
import { ApprovalInvalidError, ToolDeniedError, isToolError } from '../errors.ts'
import { policiesOf, reporterOf, type JsonSchemaObject, type RespondOptions } from '../extension.ts'
import { aiSdk, type AiSdkFormat } from '../formats/ai-sdk.ts'
import type { PersonAnswer, ApprovalQuestion, FrameworkOptions, FrameworkRun, AnswerOfCall } from './_options.ts'
import { callIdFor, deniedWords, failedCall, notAsked } from './_results.ts'

export type {
  PersonAnswer,
  ApprovalQuestion,
  DialectName,
  FrameworkOptions,
  FrameworkResult,
  FrameworkRun,
  AnswerOfCall,
} from './_options.ts'
export { resultJson } from './_results.ts'

/** Above this, an id is hashed: an identity has at most 1,024 characters. */
const longestPlainId = 256

/** How many events of progress wait for a slow framework before others are left out. */
const mostUnreadProgress = 1_000

/** One conversation of a framework. */
export class Visit {
  readonly executor: ToolExecutor
  readonly session: string
  readonly report: (error: unknown) => void
  /** The tools of the session, as they are now. */
  readonly tools: readonly ToolDefinition[]
  readonly #options: FrameworkOptions
  readonly #decidedBy: string
  readonly #format: AiSdkFormat | undefined

  /** @param framework Its name, for the record. */
  constructor(options: FrameworkOptions, framework: string) {
    const { executor, session, caller = 'model', dialect, decidedBy = framework } = options
    this.executor = executor
    this.session = session
    this.report = reporterOf(options.report)
    this.tools = executor.tools(caller, session)
    this.#options = options
    this.#decidedBy = decidedBy
    this.#format = dialect && aiSdk({ dialect })
  }

  /** Returns the schema of a tool as the model is shown it. */
  schemaOf(tool: ToolDefinition): JsonSchemaObject {
    const [definition] = this.#format?.definitions([tool]) ?? []
    return definition?.inputSchema ?? tool.describe().inputSchema
  }

  /**
   * Makes a call. Args that the model wrote for a lowered schema become those that the tool takes.
   *
   * @param args A value, or JSON text. Default: no args.
   */
  callOf(id: string | undefined, name: string, args: unknown): ToolCall {
    const call = { id, name, args: args ?? {} }
    if (this.#format === undefined) return call
    const part = { type: 'tool-call', toolCallId: id ?? '', toolName: name, input: call.args }
    const [lifted = call] = this.#format.calls([part], this.tools)
    return { ...call, args: lifted.args }
  }

  /** Returns the identity of a call. `undefined` if the framework gives it no id. */
  invocationOf(id: ToolCall['id'], name: string): string | undefined {
    if (id === undefined || id === '') return undefined
    const idText = String(id)
    if (this.#options.invocationId !== undefined) return this.#options.invocationId(idText, name)
    const isPlain = idText.length <= longestPlainId && !idText.includes('/') // else "a" and "b/c" would be "a/b" and "c"
    return `${this.session}/${isPlain ? idText : computeCallId('id', idText)}`
  }

  /** Whether a person could have to be asked about some call of a tool. What a bridge leads to is not known before it is called. */
  mayAsk({ type, hooks, requiresConfirmation }: ToolDefinition): boolean {
    const isAskedFor = requiresConfirmation !== false || hooks?.preToolUse !== undefined
    return isAskedFor || type === 'bridge' || policiesOf(this.executor).length > 0
  }

  /**
   * Returns what a person has to be asked before a call runs, or `undefined`. The call then waits, in the journal if there is
   * one, until it is run with an answer. A call that the executor's own approver answers is not asked about here.
   */
  async asks(call: ToolCall, context?: unknown): Promise<ApprovalQuestion | undefined> {
    try {
      const options = this.#optionsFor(call, context)
      const { decision, hasApprover, prompt = '', why, meta } = await this.executor.evaluate(call, options)
      if (decision !== 'ask' || hasApprover === true) return undefined
      const waiting = await this.#waiting(call, options.invocationId)
      if (waiting?.reason === 'approval') return { prompt: waiting.prompt, why: waiting.why, meta: waiting.meta }
      const { status } = await this.executor.execute(call, { ...options, requireApproval: true })
      return status === 'waiting' ? { prompt, why, meta } : undefined
    } catch (error) {
      this.report(error) // the journal is down: the call itself will say so, and runs only if it need not be asked about
      return undefined
    }
  }

  /**
   * Runs a call, or goes on with it if it waited and the framework has the answer. Never rejects.
   *
   * An answer to what no person was asked runs nothing, and makes no question that the same answer could be given to.
   */
  async run(call: ToolCall, running: FrameworkRun = {}): Promise<ToolResult> {
    const { context, signal, tell, answer } = running
    let options: CallOptions = {}
    let undo = (): void => {}
    try {
      options = this.#optionsFor(call, context, signal)
      if (tell !== undefined) {
        undo = this.executor.on('tool:progress', (event) => {
          if (event.invocationId === options.invocationId) tell(event)
        })
      }
      return answer === undefined
        ? await this.executor.execute(call, options)
        : await this.#answered(call, answer, running.isVouched === true, options)
    } catch (error) {
      return this.#failed(call, options.invocationId, error)
    } finally {
      undo()
    }
  }

  /**
   * Runs a call as `run` does, and yields its progress, except what a slow framework does not read in time. Returns its result.
   * Leaving early cancels the call.
   */
  async *stream(
    call: ToolCall,
    running: Omit<FrameworkRun, 'tell'> = {},
  ): AsyncGenerator<ToolEventOf<'tool:progress'>, ToolResult, undefined> {
    const leaving = new AbortController()
    const leave = (): void => leaving.abort(running.signal?.reason)
    if (running.signal?.aborted === true) leave()
    running.signal?.addEventListener('abort', leave, leaving) // some platforms have no `AbortSignal.any`
    const events: ToolEventOf<'tool:progress'>[] = []
    let [wake, omitted] = [(): void => {}, 0]
    const tell = (event: ToolEventOf<'tool:progress'>): void => {
      if (events.length >= mostUnreadProgress) return void omitted++
      events.push(omitted === 0 ? event : { ...event, omitted })
      omitted = 0
      wake()
    }
    const run: { result?: ToolResult } = {}
    const over = this.run(call, { ...running, signal: leaving.signal, tell }).then((result) => {
      run.result = result
      wake()
    })
    try {
      for (;;) {
        if (events.length > 0) yield* events.splice(0)
        else if (run.result !== undefined) return run.result
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      leaving.abort()
      await over
    }
  }

  /** Passes on denials, and clients' answers, to the calls that wait for them. Other answers are left alone. */
  async answer(answers: readonly AnswerOfCall[], context?: unknown): Promise<ToolResult[]> {
    const results: ToolResult[] = []
    if (answers.length === 0) return results
    const all = await this.executor.calls.waiting({ session: this.session })
    const open = new Map(all.map((waiting) => [waiting.invocationId, waiting]))
    for (const { id, name, answer } of open.size === 0 ? [] : answers) {
      const call = { id, name }
      try {
        const options = this.#optionsFor(call, context)
        const waiting = open.get(options.invocationId ?? '')
        if (waiting === undefined) continue
        open.delete(waiting.invocationId)
        const isDenial = waiting.reason === 'approval' && 'decision' in answer && answer.decision === 'deny'
        if (isDenial) results.push(await this.#decide(waiting, answer, options))
        if (waiting.reason !== 'client' || !('value' in answer)) continue
        results.push(await this.executor.calls.respond(waiting, answer.value, this.#answeringFor(options)))
      } catch (error) {
        results.push(this.#failed(call, undefined, error))
      }
    }
    return results
  }

  async #answered(call: ToolCall, answer: PersonAnswer, isVouched: boolean, options: CallOptions): Promise<ToolResult> {
    const { invocationId } = options
    const waiting = await this.#waiting(call, invocationId)
    if (waiting?.reason === 'approval') return this.#decide(waiting, answer, options)
    if (waiting === undefined && !(await this.#isKnown(invocationId))) {
      const { decision, hasApprover } = await this.executor.evaluate(call, options)
      if (answer.decision === 'deny' && !isVouched) throw new ToolDeniedError(deniedWords(answer))
      if ((decision === 'ask' && hasApprover !== true) || answer.decision === 'deny') {
        if (!isVouched) throw notAsked(call)
        const held = await this.executor.execute(call, { ...options, requireApproval: true })
        return held.token === undefined ? held : await this.#decide(held.token, answer, options)
      }
    }
    return this.executor.execute(call, options)
  }

  async #decide(
    token: string | WaitingCall,
    { decision, note }: PersonAnswer,
    options: CallOptions,
  ): Promise<ToolResult> {
    const answerOptions = {
      ...this.#answeringFor(options),
      decidedBy: this.#decidedBy,
      ...(note !== undefined && { note }),
    }
    try {
      return await this.executor.calls.decide(token, decision, answerOptions)
    } catch (error) {
      const { invocationId = '', signal } = options
      // The same answer came twice at once: both get the one result.
      const isTaken = error instanceof ApprovalInvalidError && (await this.#isKnown(invocationId))
      if (!isTaken || (await this.#list(invocationId)).length > 0) throw error
      return this.executor.calls.settled(invocationId, signal && { signal })
    }
  }

  /** Returns the waiting call of an invocation, if it is the same call. */
  async #waiting(call: ToolCall, invocationId: string | undefined): Promise<WaitingCall | undefined> {
    const [waiting] = await this.#list(invocationId)
    return waiting !== undefined && (await this.isOf(waiting, call)) ? waiting : undefined
  }

  /** Whether something was told of this very call. The tool that a bridge named has another name, and its own identity. */
  async isOf(
    { toolName, callId }: Pick<WaitingCall, 'toolName' | 'callId'>,
    call: Pick<ToolCall, 'id' | 'name' | 'args'>,
  ): Promise<boolean> {
    if (toolName === call.name) return callId === callIdFor(call.name, call.args)
    const { callId: own } = await this.executor.evaluate(call, this.#optionsFor(call, undefined))
    return callId !== null && callId === own
  }

  async #list(invocationId: string | undefined): Promise<WaitingCall[]> {
    return invocationId === undefined ? [] : this.executor.calls.waiting({ session: this.session, invocationId })
  }

  #isKnown(invocationId: string | undefined): Promise<boolean> {
    if (invocationId === undefined) return Promise.resolve(false)
    return this.executor.calls.get(invocationId).then(
      () => true,
      () => false,
    )
  }

  #optionsFor({ id, name }: ToolCall, context: unknown, signal?: AbortSignal): CallOptions {
    const { caller, principal } = this.#options
    const invocationId = this.invocationOf(id, name)
    return { session: this.session, caller, principal, invocationId, values: this.#valuesFor(context), signal }
  }

  #answeringFor({ values, signal }: CallOptions): RespondOptions {
    return { session: this.session, signal, ...(values !== undefined && { values }) }
  }

  #valuesFor(context: unknown): ToolValues | undefined {
    const { values } = this.#options
    if (typeof values === 'function') return values(context)
    if (typeof context !== 'object' || context === null) return values
    return values === undefined ? context : { ...context, ...values } // a client may have sent the context
  }

  #failed(call: ToolCall, invocationId: string | undefined, thrown: unknown): ToolResult {
    if (!isToolError(thrown)) this.report(thrown)
    return failedCall(call, invocationId, thrown)
  }
}
