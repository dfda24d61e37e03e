// How the lines of a tape are told apart, and how strictly they are read.
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { InvalidConfigurationError } from '../../errors.ts'
import { readText } from '../../kernel/json/json-text.ts'
import { isFileName } from './_files.ts'
import type { RecordedCall, TapeHead } from './_recorded.ts'

/** The first line of a tape that is made of a journal, whose tools are not known. */
export const journalHead: TapeHead = { cassette: 1, seed: 'journal', tools: {} }

/** Returns what identifies a call on a tape. Without a `callId` the tool's name stands for it. */
export function keyOfCall(call: Pick<RecordedCall, 'label' | 'callId' | 'tool' | 'occurrence'>): string {
  const { label, callId, tool, occurrence } = call
  return `${occurrence} ${callId ?? `?${tool}`} ${label}`
}

const longestLine = 67_108_864
const readLength = 1_048_576

/** Yields the lines of a file with their ends. @throws `E_INVALID_CONFIGURATION` if one is above 64 MiB. */
function* fileLines(path: string): Generator<Buffer> {
  const file = openSync(path, 'r')
  const buffer = Buffer.alloc(readLength)
  let pieces: Buffer[] = []
  let length = 0
  try {
    for (;;) {
      const count = readSync(file, buffer)
      if (count === 0) break
      let start = 0
      for (let end = buffer.indexOf(10); end >= 0 && end < count; end = buffer.indexOf(10, start)) {
        yield Buffer.concat([...pieces, buffer.subarray(start, end + 1)])
        pieces = []
        length = 0
        start = end + 1
      }
      if (start < count) pieces.push(Buffer.from(buffer.subarray(start, count)))
      if ((length += count - start) > longestLine) throw tapeFault(path, 'has a line of more than 64 MiB')
    }
    if (pieces.length > 0) yield Buffer.concat(pieces)
  } finally {
    closeSync(file)
  }
}

/** What a tape file holds. */
export interface TapeText {
  readonly head: TapeHead | undefined
  readonly calls: readonly RecordedCall[]
}

/** What no file holds. */
export const noTape: TapeText = { head: undefined, calls: [] }

/** Reads the tape of a path, if there is a file. @throws `E_INVALID_CONFIGURATION` as `readTape`. */
export function tapeAt(path: string): TapeText {
  return existsSync(path) ? readTape(path) : noTape
}

/**
 * Reads a tape. A torn last line, which a process left that was killed, is dropped.
 *
 * @throws `E_INVALID_CONFIGURATION` if the file is no tape, or a line of it is wrong.
 */
function readTape(path: string): TapeText {
  let head: TapeHead | undefined
  const calls: RecordedCall[] = []
  const keys = new Set<string>()
  let number = 0
  for (const bytes of fileLines(path)) {
    number++
    const line = jsonOfLine(bytes, path, number)
    if (line === undefined) continue
    if (head === undefined) {
      head = headOfLine(line, path)
      continue
    }
    const fault = faultOfCall(line)
    if (fault !== undefined) throw tapeFault(path, `is wrong in line ${number}: ${fault}`)
    const call = line as RecordedCall
    const key = keyOfCall(call)
    if (keys.has(key)) throw tapeFault(path, `is wrong in line ${number}: the same call stands in a line before it`)
    keys.add(key)
    calls.push(call)
  }
  if (head === undefined) throw tapeFault(path, 'is empty')
  return { head, calls }
}

/** Returns the JSON of a line; `undefined` for an empty or a torn one. */
function jsonOfLine(bytes: Buffer, path: string, number: number): unknown {
  const text = bytes.toString('utf8').trim()
  if (text === '') return undefined
  let json: unknown
  try {
    json = readText(text)
  } catch {
    if (bytes.at(-1) !== 10) return undefined
    throw tapeFault(path, `is wrong in line ${number}: it is no JSON`)
  }
  if (/__proto__|\\u00[567]/i.test(text) && hasPrototypeKey(json)) {
    throw tapeFault(path, `is wrong in line ${number}: it has a member __proto__`)
  }
  return json
}

function hasPrototypeKey(json: unknown): boolean {
  const open = [json]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '__proto__')) return true
    for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) open.push(member)
  }
  return false
}

function headOfLine(line: unknown, path: string): TapeHead {
  const { cassette, seed, tools } = membersOfLine(line)
  if (typeof cassette !== 'number') throw tapeFault(path, 'is none: its first line has no `cassette`')
  if (cassette !== 1) throw tapeFault(path, `has version ${cassette}, and this release reads version 1`)
  if (typeof seed !== 'string' || typeof tools !== 'object' || tools === null || Array.isArray(tools)) {
    throw tapeFault(path, 'is wrong in line 1: `seed` is a text, and `tools` an object')
  }
  for (const tool of Object.values(tools)) {
    if (typeof membersOfLine(tool)['fingerprint'] !== 'string') {
      throw tapeFault(path, 'is wrong in line 1: each of its `tools` has a `fingerprint`')
    }
  }
  return line as TapeHead
}

const settledStatuses: readonly unknown[] = ['ok', 'error', 'denied', 'timed_out', 'cancelled']
const lineStatuses: readonly unknown[] = [...settledStatuses, 'waiting', 'running']
const lineEffects: readonly unknown[] = ['none', 'completed', 'unknown']

/** Returns what is wrong with a line, in words. */
function faultOfCall(line: unknown): string | undefined {
  const call = membersOfLine(line)
  const { tool, callId, occurrence, label, attempts, answers, status, effect, content, digest, code, result } = call
  if (typeof tool !== 'string' || typeof label !== 'string') return '`tool` and `label` are texts'
  if (callId !== null && typeof callId !== 'string') return '`callId` is a text or null'
  if (!Number.isSafeInteger(occurrence) || (occurrence as number) < 0) return '`occurrence` is a whole number'
  if (!lineStatuses.includes(status)) return '`status` is none of a call'
  if (!lineEffects.includes(effect)) return '`effect` is none of a call'
  if (!isTextOrNone(code) || !isTextOrNone(digest)) return '`code` and `digest` are texts'
  if (content !== undefined && !Array.isArray(content)) return '`content` is an array'
  if (result !== undefined && typeof membersOfLine(result)['mediaType'] !== 'string')
    return '`result` has a `mediaType`'
  if (!Array.isArray(attempts) || !attempts.every(isAttempt)) return 'one of its `attempts` has no known form'
  if (answers !== undefined && !(Array.isArray(answers) && answers.every(isRecordedAnswer))) {
    return 'one of its `answers` has no known form'
  }
  return undefined
}

function isAttempt(attempt: unknown): boolean {
  const { steps, outcome, ms } = membersOfLine(attempt)
  if (ms !== undefined && !(typeof ms === 'number' && ms >= 0)) return false
  if (steps !== undefined && !(Array.isArray(steps) && steps.every(isStep))) return false
  return isOutcome(membersOfLine(outcome))
}

function isStep(value: unknown): boolean {
  const step = membersOfLine(value)
  if ('keep' in step) return isFileName(step['keep']) && typeof step['mediaType'] === 'string'
  return typeof step['emit'] === 'string' || 'yielded' in step
}

function isOutcome(outcome: Readonly<Record<string, unknown>>): boolean {
  const { file, stream, artifact, thrown, ended, lost, isOpen, marked, told, as } = outcome
  if (file !== undefined)
    return isFileName(file) && ['text', 'json', 'marked', 'bytes', 'buffer'].includes(as as string)
  if (stream !== undefined) {
    const isEnd = (ended === undefined || isEnded(ended)) && (thrown === undefined || isMembers(thrown))
    return isFileName(stream) && ['text', 'bytes', 'mixed'].includes(as as string) && isEnd
  }
  if (artifact !== undefined) {
    const { kind, mediaType, handle } = outcome
    return isFileName(artifact) && typeof kind === 'string' && typeof mediaType === 'string' && isTextOrNone(handle)
  }
  if (thrown !== undefined) return isMembers(thrown)
  if (ended !== undefined) return isEnded(ended)
  if (marked !== undefined) return isMembers(marked)
  if (told !== undefined) return isToldOutcome(told)
  return 'json' in outcome || isOpen === true || typeof lost === 'string'
}

function isToldOutcome(value: unknown): boolean {
  const { status, effect, content, error } = membersOfLine(value)
  const isError = status === 'ok' ? error === undefined : isMembers(error)
  return settledStatuses.includes(status) && lineEffects.includes(effect) && Array.isArray(content) && isError
}

function isEnded(value: unknown): boolean {
  const { status, message } = membersOfLine(value)
  return (status === 'timed_out' || status === 'cancelled') && typeof message === 'string'
}

function isRecordedAnswer(value: unknown): boolean {
  const { reason, decision } = membersOfLine(value)
  return reason === 'client' || (reason === 'approval' && (decision === 'allow' || decision === 'deny'))
}

function isMembers(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function membersOfLine(value: unknown): Readonly<Record<string, unknown>> {
  return isMembers(value) ? (value as Record<string, unknown>) : {}
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function tapeFault(path: string, words: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`The cassette ${path} ${words}. Restore it, or record it anew.`)
}

/** Returns the names of the files that calls name. */
export function filesOfCalls(calls: readonly RecordedCall[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { steps = [], outcome } of calls.flatMap(({ attempts }) => attempts)) {
    for (const step of steps) if ('keep' in step) names.add(step.keep)
    if ('file' in outcome) names.add(outcome.file)
    if ('stream' in outcome) names.add(outcome.stream)
    if ('artifact' in outcome) names.add(outcome.artifact)
  }
  return names
}
