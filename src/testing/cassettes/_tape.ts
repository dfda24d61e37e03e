// A tape: which line a call is, what becomes of the call, and what does not fit.
import { randomBytes } from 'node:crypto'
import { ToolError, ToolFailure } from '../../errors.ts'
import {
  Known,
  type ArtifactStore,
  type Confirmed,
  type Middleware,
  type Observer,
  type Runner,
} from '../../extension.ts'
import { memoryStore, type ContentBlock, type ToolContext, type ToolDefinition, type ToolResult } from '../../index.ts'
import {
  editedIdOf,
  endLast,
  followEvent,
  hasEnded,
  isMasked,
  newCurrentCall,
  newLine,
  type CurrentCall,
  type OpenLine,
} from './_current.ts'
import { requireNone } from '../_failure.ts'
import { TapeFiles } from './_files.ts'
import { handlerTypes, isOwnType, runOwnHandler } from '../_handlers.ts'
import { filesOfCalls, keyOfCall, noTape, tapeAt } from './_lines.ts'
import { callText, nearestWords, outcomeChanges } from './_nearest.ts'
import { openPaths, requireFreePath } from './_paths.ts'
import { CallPlaces } from './_places.ts'
import { playAttempt } from './_playing.ts'
import type { RecordedAnswer, RecordedCall, TapeHead, ToldOutcome } from './_recorded.ts'
import { recordAttempt, type OpenAttempt } from './_recording.ts'
import { saveTape } from './_saving.ts'
import type { TapeSettings } from './_settings.ts'
import { nameArtifacts } from './_store.ts'
import { contentChange, keepContent, recordedContent } from './_told.ts'
import { TapeTools } from './_tools.ts'
import { taggedValue } from './_values.ts'

export class TapeDeck {
  /** The calls of this run, in order of receipt. */
  readonly lines: OpenLine[] = []
  readonly recorded: readonly RecordedCall[]
  readonly misses: string[] = []
  readonly store: ArtifactStore
  readonly middleware: readonly Middleware[]
  readonly runners: readonly Runner[]
  readonly #settings: TapeSettings
  readonly #files: TapeFiles
  readonly #seed: string
  readonly #tools: TapeTools
  readonly #byKey: ReadonlyMap<string, RecordedCall>
  readonly #used = new Set<RecordedCall>()
  readonly #different: string[] = []
  readonly #current = new Map<string, CurrentCall>()
  readonly #places: CallPlaces
  #hasChanged = true

  constructor(settings: TapeSettings) {
    const { path, mode, store = memoryStore(), redact } = settings
    this.#settings = settings
    this.#places = new CallPlaces(settings.label)
    requireFreePath(path)
    const { head, calls } = mode === 'replay' || mode === 'append' ? tapeAt(path) : noTape
    if (this.#writes) openPaths.add(path)
    this.recorded = calls
    this.#files = new TapeFiles(`${path}.files`)
    this.#seed = head?.seed ?? randomBytes(8).toString('hex')
    this.#tools = new TapeTools(head?.tools ?? {})
    this.#byKey = new Map(calls.map((call) => [keyOfCall(call), call]))
    this.store = nameArtifacts(store, { seed: this.#seed, label: (session) => this.#places.labelOf(session), redact })
    this.middleware = mode === 'off' ? [] : [this.#pass]
    this.runners = handlerTypes.map((type) => ({ type, run: (call, context) => this.#run(call, context) }))
  }

  /** Which tools have changed, in words. */
  get drifts(): readonly string[] {
    return this.#tools.drifts
  }

  get #telling(): { readonly files: TapeFiles; readonly redact: TapeSettings['redact'] } {
    return { files: this.#files, redact: this.#settings.redact }
  }

  get #writes(): boolean {
    const { mode } = this.#settings
    return mode === 'record' || mode === 'append'
  }

  /** The recorded calls that no call of this run was. */
  unused(): readonly RecordedCall[] {
    return this.recorded.filter((call) => !this.#used.has(call))
  }

  readonly observe: Observer = (event, tool, result) => {
    const { invocationId } = event
    if (event.event === 'call:received') {
      this.#receive(event.args, event, tool)
      return
    }
    const current = this.#current.get(invocationId)
    if (current === undefined) {
      // A call that came in at another executor.
      if (event.event === 'call:resumed' || event.event === 'tool:start') this.#receive(undefined, event, tool)
      return
    }
    followEvent(current, event)
    if (event.event !== 'call:settled') return
    this.#current.delete(invocationId)
    this.#settle(current, result, event.error?.message ?? '')
  }

  #receive(
    args: unknown,
    { invocationId, callId, toolName, session }: Parameters<Observer>[0],
    tool?: ToolDefinition,
  ): void {
    const label = this.#places.labelOf(session)
    const occurrence = this.#places.next({ callId, tool: toolName, label })
    const line = newLine({ tool: toolName, callId, occurrence, label, args })
    const before = this.#byKey.get(keyOfCall(line))
    if (before !== undefined) this.#used.add(before)
    this.lines.push(line)
    this.#hasChanged = true
    this.#current.set(invocationId, newCurrentCall(line, before, tool))
    const drift = tool && this.#tools.compare(tool, this.#writes)
    if (drift !== undefined && !this.#settings.strict) this.#settings.report(drift)
  }

  readonly #pass: Middleware = async (call, context, next) => {
    const current = this.#current.get(call.invocationId)
    const reply = call.resumption?.reply
    if (reply !== undefined && current?.reason === 'client') {
      const value = taggedValue(call.redactor === undefined ? reply.value : call.redactor.result(reply.value))
      ;(current.line.answers ??= []).push({ reason: 'client', value })
    }
    const outcome = current === undefined ? undefined : this.#outcomeOnTape(current, call.tool)
    if (outcome !== undefined) throw knownAgain(outcome)
    // A type of the application's own has a runner already. The tape stands before it.
    return isOwnType(call.tool) ? this.#run(call, context, next) : next()
  }

  /** What the model was told, if a journal alone knows the call. */
  #outcomeOnTape(current: CurrentCall, tool: ToolDefinition): ToldOutcome | undefined {
    const { mode, live } = this.#settings
    const { before, line, editedId } = current
    const attempt = before?.attempts[current.played]
    if (before === undefined || attempt === undefined || !('told' in attempt.outcome)) return undefined
    if (mode === 'record' || live(tool) || (editedId !== undefined && editedId !== editedIdOf(before))) return undefined
    current.played++
    line.attempts.push(attempt)
    return attempt.outcome.told
  }

  /** @param otherwise Runs the tool for real. */
  #run(call: Confirmed, context: ToolContext, otherwise?: () => unknown): unknown {
    const { mode, live, onMiss, timing } = this.#settings
    const current = this.#current.get(call.invocationId)
    const work = otherwise ?? ((own: ToolContext) => runOwnHandler(call, own))
    if (mode === 'off' || current === undefined || live(call.tool)) return work(context)
    const { line, before, editedId } = current
    const attempt = mode === 'record' || before === undefined ? undefined : before.attempts[current.played]
    if (attempt !== undefined && before !== undefined) {
      if (editedId !== undefined && editedId !== editedIdOf(before)) {
        return this.#miss(current, 'was edited to other args than when it was recorded')
      }
      current.played++
      line.attempts.push(attempt)
      return playAttempt(attempt, call, context, { files: this.#files, isTimed: timing === 'recorded' })
    }
    if (mode === 'replay') {
      const what =
        before === undefined
          ? 'was not recorded'
          : `was tried ${current.played + 1} times, and ${before.attempts.length} are recorded`
      if (onMiss === 'fail') return this.#miss(current, what)
      this.#noteMiss(current, what)
      return work(context)
    }
    const open: OpenAttempt = { outcome: { isOpen: true } }
    line.attempts.push(open)
    const { redact } = this.#settings
    const keeping = { files: this.#files, redactor: call.redactor, redact }
    current.redactor = call.redactor
    return recordAttempt(open, context, keeping, work, {
      isSettled: () => current.isOver,
      isEnding: () => hasEnded(call),
    })
  }

  #miss(current: CurrentCall, what: string): never {
    throw new ToolFailure(this.#noteMiss(current, what))
  }

  #noteMiss(current: CurrentCall, what: string): string {
    const { line, before } = current
    const nearest = before === undefined ? nearestWords(line, this.recorded, (one) => this.#used.has(one)) : ''
    const words = `${callText(line)} ${what}.${nearest}`
    if (!current.isMissed) this.misses.push(words)
    current.isMissed = true
    return words
  }

  #settle(current: CurrentCall, result: ToolResult | undefined, message: string): void {
    const { line, before } = current
    current.isOver = true
    if (this.#writes && (before === undefined || this.#settings.mode === 'record')) {
      endLast(line, message)
      if (result !== undefined) keepContent(current, result, this.#telling)
      if (isMasked(line)) delete line.result?.byteLength
    } else if (before === undefined) {
      if (this.#settings.mode === 'replay' && !current.isMissed) this.#noteMiss(current, 'was not recorded')
    } else if (!current.isMissed && this.#settings.mode !== 'off') this.#compare(current, before, result)
  }

  #compare(current: CurrentCall, before: RecordedCall, result: ToolResult | undefined): void {
    const { line } = current
    const changes = [...outcomeChanges(before, line, current.isOwnType)]
    if (changes.length === 0 && result !== undefined) {
      const change = contentChange(before, result, this.#telling)
      if (change !== undefined) changes.push(change)
    }
    if (changes.length > 0) this.#different.push(`${callText(line)} came out differently: ${changes.join(', ')}`)
  }

  /** Counts a recorded call as made, though it was not. */
  skip(call: RecordedCall): void {
    this.#places.next(call)
    this.#used.add(call)
  }

  /** Returns what the model was told, if it is known. */
  contentOf(call: RecordedCall): readonly ContentBlock[] | undefined {
    return recordedContent(call, this.#files)
  }

  /** The answer that was recorded for a call that waits now. */
  answerFor(invocationId: string): RecordedAnswer | undefined {
    const current = this.#current.get(invocationId)
    return current?.before?.answers?.[current.line.answers?.length ?? 0]
  }

  /** Throws all that does not fit, at once. */
  verify(): void {
    const { mode, strict, path } = this.#settings
    if (mode === 'off') return
    const unfinished = [...this.#current.values()].flatMap(({ line, before }) =>
      before === undefined || before.status === line.status
        ? []
        : [`${callText(line)} is ${line.status}, and was recorded as ${before.status}.`],
    )
    const left = this.unused().map((call) => `${callText(call)} was recorded, and not called.`)
    const replayed = mode === 'replay' ? [...this.#different, ...unfinished, ...left] : this.#different
    requireNone(`The cassette ${path} does not fit:`, [...this.misses, ...replayed, ...(strict ? this.drifts : [])])
  }

  /** Writes the tape, if there is something new. */
  save(): void {
    if (!this.#writes || !this.#hasChanged) return
    const { path, mode, redact } = this.#settings
    const fresh = this.lines.filter(({ status }) => status !== 'running')
    const former = mode === 'append' ? this.recorded : []
    const calls = [...former, ...fresh.filter((line) => mode === 'record' || !this.#byKey.has(keyOfCall(line)))]
    const head: TapeHead = { cassette: 1, seed: this.#seed, tools: this.#tools.toJSON() }
    const names = filesOfCalls(calls)
    this.#files.keep(names)
    saveTape(path, head, calls, redact)
    this.#files.prune(names)
    this.#hasChanged = false
    openPaths.delete(path)
  }

  /** Leaves the file as it is. */
  discard(): void {
    if (!this.#writes) return
    this.#files.drop()
    this.#hasChanged = false
    openPaths.delete(this.#settings.path)
  }
}

function knownAgain({ error, ...outcome }: ToldOutcome): Known {
  return new Known(error === undefined ? outcome : { ...outcome, error: ToolError.restore(error) })
}
