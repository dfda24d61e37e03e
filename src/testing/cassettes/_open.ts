import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { InvalidConfigurationError } from '../../errors.ts'
import { booleanOption, checkOptions, functionOption, oneOf, reporterOf, type ArtifactStore } from '../../extension.ts'
import type { Extension, ToolDefinition, ToolExecutor } from '../../index.ts'
import { withCallLog, type CallLog } from '../_log.ts'
import type { RecordedCall } from './_recorded.ts'
import type { CassetteMode } from './_settings.ts'
import { TapeDeck } from './_tape.ts'
import { untagged } from './_values.ts'

/** The options of `cassette`: when it records, and what it keeps. */
export interface CassetteOptions {
  /**
   * `'record'`: handlers run, and the tape is written anew. `'replay'`: no handler runs, and calls come out as they did.
   * `'append'`: what is on the tape is replayed, the rest is recorded. `'off'`: handlers run, and nothing is written.
   * Default: what `TOOLWRIGHT_CASSETTES` says, else `'replay'` if the file is there or `CI` is set, else `'record'`.
   */
  readonly mode?: CassetteMode
  /** Whether a call that is not on the tape fails or runs, if the mode is `'replay'`. Where `CI` is set it fails. Default: `'fail'`. */
  readonly onMiss?: 'fail' | 'run'
  /** Whether `verify` throws for tools that have changed since. Else they are reported, each once. Default: `false`. */
  readonly strict?: boolean
  /** Returns whether a tool runs for real in every mode. It is not recorded. Default: none does. */
  readonly live?: (tool: ToolDefinition) => boolean
  /** Returns a name for a session that is the same each time. Default: `s0`, `s1` … in the order in which sessions first call. */
  readonly label?: (session: string) => string
  /** Changes each line and each text file before it is written, such as to remove personal data. A line has to stay JSON. */
  readonly redact?: (text: string) => string
  /** Whether a handler's outcome comes at once, or after as long as it took. Default: `'instant'`. */
  readonly timing?: 'instant' | 'recorded'
  /** Keeps the artifacts. Default: a store in memory. */
  readonly store?: ArtifactStore
  /** Takes what has changed of a tool, in words. Default: `console.error`. */
  readonly report?: (words: string) => void
}

/** The recorded calls of one file, as an extension and as a log that the matchers take. */
export interface Tape extends Extension, CallLog {
  /** The calls of this run, in order of receipt. */
  readonly lines: readonly RecordedCall[]
  /** The calls of the file, as it was opened. */
  readonly recorded: readonly RecordedCall[]
  /** What was called and is not on the tape, in words. */
  readonly misses: readonly string[]
  /** Which tools have changed since they were recorded, in words. */
  readonly drifts: readonly string[]
  /** Returns the calls of the file that were not made in this run. */
  readonly unused: () => readonly RecordedCall[]
  /**
   * Gives the recorded answers of people and clients to the calls of an executor that wait. Returns a function that ends it.
   */
  readonly answer: (executor: ToolExecutor) => () => void
  /**
   * Throws an `AssertionError` with all that does not fit: calls that were not recorded, with the nearest one; calls that were
   * recorded and not made; calls that came out differently; and if `strict`, tools that have changed.
   */
  readonly verify: () => void
  /** Writes the file, if the mode is `'record'` or `'append'`. The executor does so too when it closes. */
  readonly save: () => Promise<void>
}

/** A tape whose test decides whether it is saved. */
export interface HeldTape extends Tape {
  /** Leaves the file as it was. */
  readonly discard: () => void
}

const modes = ['record', 'replay', 'append', 'off'] as const

/** An open tape, and what moves it. */
export interface OpenTape {
  readonly deck: TapeDeck
  readonly tape: HeldTape
}

/** Opens a tape. @param isSavedOnClose Whether an executor saves it when it closes. */
export function openTape(file: string, options: CassetteOptions, isSavedOnClose = true): OpenTape {
  if (typeof file !== 'string' || file === '' || file.includes('\0')) {
    throw new InvalidConfigurationError('`cassette` takes the path of a file: cassette("__cassettes__/refund.jsonl").')
  }
  const path = resolve(file)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new InvalidConfigurationError(`\`cassette\` takes the path of a file, and ${path} is a directory.`)
  }
  checkOptions('cassette', options, {
    mode: oneOf(...modes),
    onMiss: oneOf('fail', 'run'),
    strict: booleanOption,
    live: functionOption,
    label: functionOption,
    redact: functionOption,
    timing: oneOf('instant', 'recorded'),
    store: { expected: 'an artifact store', accepts: (value) => typeof value === 'object' && value !== null },
    report: functionOption,
  })
  const mode = options.mode ?? modeFor(path)
  const { onMiss = 'fail', strict = false, timing = 'instant', live = () => false, label, redact, store } = options
  if (onMiss === 'run' && isCi()) {
    throw new InvalidConfigurationError(
      'A cassette with `onMiss: "run"` would call real tools where CI is set. Leave it out there.',
    )
  }
  const report = reporterOf(options.report)
  const deck = new TapeDeck({ path, mode, onMiss, strict, timing, live, label, redact, store, report })
  const save = async (): Promise<void> => deck.save()
  const tape = withCallLog<Omit<HeldTape, keyof CallLog>>({
    middleware: deck.middleware,
    runners: deck.runners,
    store: deck.store,
    observers: [deck.observe],
    close: isSavedOnClose ? save : () => {},
    lines: deck.lines,
    recorded: deck.recorded,
    misses: deck.misses,
    drifts: deck.drifts,
    unused: () => deck.unused(),
    answer: (executor) => answersOf(deck, executor),
    verify: () => deck.verify(),
    save,
    discard: () => deck.discard(),
  })
  return { deck, tape }
}

function isCi(): boolean {
  return (process.env['CI'] ?? '') !== ''
}

function modeFor(path: string): CassetteMode {
  const wanted = process.env['TOOLWRIGHT_CASSETTES'] ?? ''
  const mode = modes.find((one) => one === wanted)
  if (mode !== undefined) return mode
  if (wanted !== '') {
    throw new InvalidConfigurationError(
      `TOOLWRIGHT_CASSETTES is ${JSON.stringify(wanted)}. Set it to one of ${modes.join(', ')}.`,
    )
  }
  return existsSync(path) || isCi() ? 'replay' : 'record'
}

function answersOf(deck: TapeDeck, executor: ToolExecutor): () => void {
  const { calls } = executor
  return executor.on('call:waiting', ({ invocationId, token, inProcess }) => {
    if (token === undefined || inProcess === true) return
    const answer = deck.answerFor(invocationId)
    if (answer === undefined) return
    const answered =
      answer.reason === 'client'
        ? calls.respond(token, untagged(answer.value))
        : calls.decide(token, answer.decision, {
            ...('args' in answer && { editedArgs: answer.args }),
            ...(answer.decidedBy !== undefined && { decidedBy: answer.decidedBy }),
            ...(answer.note !== undefined && { note: answer.note }),
            ...(answer.always !== undefined && { always: answer.always }),
          })
    answered.catch((error: unknown) => deck.misses.push(`The recorded answer was refused: ${(error as Error).message}`))
  })
}
