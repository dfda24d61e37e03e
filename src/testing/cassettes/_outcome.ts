// What a handler gave: kept on a tape, and given again.
import { ToolCancelledError, ToolFailure, ToolTimeoutError } from '../../errors.ts'
import type { ArtifactSource, Confirmed, SpoolSource } from '../../extension.ts'
import {
  BinaryArtifact,
  bytes,
  content,
  json,
  JsonArtifact,
  shown,
  SpooledArtifact,
  TextArtifact,
  type ArtifactClass,
  type ContentBlock,
} from '../../index.ts'
import { isArrayBuffer } from '../../kernel/json/copy.ts'
import { readText } from '../../kernel/json/json-text.ts'
import { isArtifact } from '../../kernel/result/brand.ts'
import { isMarkedJson, markedBlocks, markedMediaType, markedValue } from '../../kernel/result/content.ts'
import { chosenClass } from '../../kernel/result/kinds.ts'
import { isStream, type Stream } from '../../kernel/run/stream.ts'
import { recordedError, thrownAgain } from './_errors.ts'
import type { TapeFiles } from './_files.ts'
import { collecting, hiddenWords, putMasked, type OutcomeKeeping } from './_hiding.ts'
import { comesInPieces, isReadableStream, playedStream, recordedStream } from './_pieces.ts'
import type { RecordedEnd, RecordedOutcome } from './_recorded.ts'
import { taggedValue, untagged } from './_values.ts'

/** Texts and JSON above it lie in files, in characters. */
const longestInline = 16_384

/**
 * Keeps what a handler gave.
 *
 * @param done Called once what it gave is known: at once, or when a stream or an artifact was read.
 * @returns What to pass on in its place: the value itself, but for a stream.
 */
export function keepOutcome(
  value: unknown,
  keeping: OutcomeKeeping,
  done: (outcome: RecordedOutcome) => void,
): unknown {
  if (typeof value === 'object' && value !== null) {
    if (isArtifact(value)) {
      return artifactOutcome(value, keeping).then((outcome) => {
        done(outcome)
        return value
      })
    }
    if (isStream(value)) return keepStreamOutcome(value, keeping, done)
  }
  done(valueOutcome(value, keeping))
  return value
}

/** Keeps what was thrown. */
export function thrownOutcome(thrown: unknown, keeping: OutcomeKeeping): RecordedOutcome {
  return { thrown: recordedError(thrown, (text) => hiddenWords(text, keeping)) }
}

function valueOutcome(value: unknown, keeping: OutcomeKeeping): RecordedOutcome {
  const { redactor } = keeping
  try {
    if (typeof value === 'object' && value !== null && (ArrayBuffer.isView(value) || isArrayBuffer(value))) {
      const pieces = ArrayBuffer.isView(value)
        ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
        : new Uint8Array(value)
      const { name, isMasked } = putMasked(pieces, keeping)
      return { file: name, as: ArrayBuffer.isView(value) ? 'bytes' : 'buffer', ...(isMasked && { isMasked }) }
    }
    return plainOutcome(redactor === undefined ? value : redactor.result(value), keeping)
  } catch {
    return { json: { $: 'unreadable' } } // the kernel cannot read it either
  }
}

function plainOutcome(value: unknown, { files, redact }: OutcomeKeeping): RecordedOutcome {
  if (typeof value === 'string' && value.length > longestInline && value.isWellFormed()) {
    const hidden = redact === undefined ? value : redact(value)
    return { file: files.putText(hidden), as: 'text', ...(hidden !== value && { isMasked: true }) }
  }
  const marked = typeof value === 'object' && value !== null ? marksOf(value) : undefined
  const plain = marked ?? taggedValue(value)
  const text = JSON.stringify(plain)
  if (text.length <= longestInline) return marked === undefined ? { json: plain } : { marked }
  const hiddenText = redact === undefined ? text : redact(text)
  if (hiddenText !== text && !isJsonText(hiddenText)) return { lost: '`redact` of the cassette made no JSON of it.' }
  const as = marked === undefined ? 'json' : 'marked'
  return { file: files.putText(hiddenText), as, ...(hiddenText !== text && { isMasked: true }) }
}

function isJsonText(text: string): boolean {
  try {
    return readText(text) !== undefined
  } catch {
    return false
  }
}

/** What a result is marked with. */
function marksOf(value: object): { readonly blocks?: unknown; readonly value?: unknown } | undefined {
  const blocks = markedBlocks(value)
  const isJson = isMarkedJson(value)
  if (blocks === undefined && !isJson) return undefined
  return {
    ...(blocks !== undefined && { blocks: taggedValue(blocks) }),
    ...(isJson && { value: taggedValue(markedValue(value)) }),
  }
}

const tooLargeToMask: RecordedOutcome = {
  lost: 'It is larger than 64 MiB, and its secrets have to be masked, so it was not recorded.',
}

function keepStreamOutcome(stream: Stream, keeping: OutcomeKeeping, done: (outcome: RecordedOutcome) => void): Stream {
  const writer = collecting(keeping)
  const mediaType = markedMediaType(stream)
  const recorded = recordedStream(stream, writer, ({ as, failure }) => {
    const file = writer.end()
    if (file === undefined) return done(tooLargeToMask)
    const { name, isMasked } = file
    const thrown = failure && recordedError(failure.error, (text) => hiddenWords(text, keeping))
    done({
      stream: name,
      as,
      ...(isReadableStream(stream) && { isReadable: true }),
      ...(mediaType !== undefined && { mediaType }),
      ...(isMasked && { isMasked }),
      ...(thrown && { thrown }),
    })
  })
  return mediaType === undefined ? recorded : bytes(recorded as SpoolSource, { mediaType })
}

/**
 * Keeps what a handler keeps beside its result.
 *
 * @param done Called with the name of its file, once it was read. `undefined` if it was not recorded.
 * @returns What to keep in its place.
 */
export function keepSource(
  source: SpoolSource,
  keeping: OutcomeKeeping,
  done: (name: string | undefined) => void,
): SpoolSource {
  const writer = collecting(keeping)
  if (comesInPieces(source)) {
    return recordedStream(source, writer, () => done(writer.end()?.name)) as AsyncIterable<Uint8Array>
  }
  writer.write(typeof source === 'string' ? new TextEncoder().encode(source) : source)
  done(writer.end()?.name)
  return source
}

async function artifactOutcome(artifact: SpooledArtifact, keeping: OutcomeKeeping): Promise<RecordedOutcome> {
  try {
    const { kind, mediaType, handle, trusted } = artifact
    const writer = collecting(keeping)
    for await (const piece of artifact.chunks()) writer.write(piece)
    const file = writer.end()
    if (file === undefined) return tooLargeToMask
    const { name, isMasked } = file
    return {
      artifact: name,
      kind,
      mediaType,
      ...(trusted && { isTrusted: true }),
      ...(handle && { handle }),
      ...(isMasked && { isMasked }),
    }
  } catch {
    return { lost: 'It is an artifact that could not be read, so it was not recorded.' }
  }
}

/** Gives what was recorded, as the handler did: returns it, throws it, or ends the call. */
export function playOutcome(outcome: RecordedOutcome, call: Confirmed, files: TapeFiles): unknown {
  if ('json' in outcome) return untagged(outcome.json)
  if ('thrown' in outcome && !('stream' in outcome)) throw thrownAgain(outcome.thrown)
  if ('marked' in outcome) return markedAgain(outcome.marked)
  if ('file' in outcome) return valueOfFile(outcome, files)
  if ('stream' in outcome) return streamAgain(outcome, call, files)
  if ('artifact' in outcome) return artifactAgain(outcome, call, files)
  if ('ended' in outcome) return endAgain(outcome.ended, call)
  if ('told' in outcome) return content(outcome.told.content) // a middleware has given it before
  if ('lost' in outcome) throw new ToolFailure(`The cassette lacks what ${call.tool.name} gave. ${outcome.lost}`)
  return new Promise(() => {})
}

/** Returns the value that a call was given, if it is neither a stream nor an artifact. Else `undefined`. */
export function recordedValue(outcome: RecordedOutcome, files: TapeFiles): { readonly value: unknown } | undefined {
  if ('json' in outcome) return { value: untagged(outcome.json) }
  if ('marked' in outcome) return { value: markedAgain(outcome.marked) }
  return 'file' in outcome ? { value: valueOfFile(outcome, files) } : undefined
}

function markedAgain(marked: { readonly blocks?: unknown; readonly value?: unknown }): unknown {
  if (!('blocks' in marked)) return json(untagged(marked.value))
  const blocks = untagged(marked.blocks) as readonly ContentBlock[]
  return 'value' in marked ? shown(blocks, untagged(marked.value)) : content(blocks)
}

function valueOfFile(outcome: Extract<RecordedOutcome, { readonly file: string }>, files: TapeFiles): unknown {
  const { file, as } = outcome
  switch (as) {
    case 'text':
      return files.readText(file)
    case 'json':
      return untagged(readText(files.readText(file)))
    case 'marked':
      return markedAgain(readText(files.readText(file)) as object)
    case 'bytes':
      return new Uint8Array(files.read(file))
    case 'buffer':
      return new Uint8Array(files.read(file)).buffer
  }
}

function streamAgain(
  outcome: Extract<RecordedOutcome, { readonly stream: string }>,
  call: Confirmed,
  files: TapeFiles,
): Stream {
  const { stream, as, isReadable = false, mediaType, thrown, ended } = outcome
  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* files.pieces(stream)
    if (thrown !== undefined) throw thrownAgain(thrown)
    if (ended !== undefined) await endAgain(ended, call)
  }
  const played = playedStream(pieces(), as, isReadable)
  return mediaType === undefined ? played : bytes(played as SpoolSource, { mediaType })
}

async function artifactAgain(
  outcome: Extract<RecordedOutcome, { readonly artifact: string }>,
  { tool }: Confirmed,
  files: TapeFiles,
): Promise<SpooledArtifact> {
  const { artifact, kind, mediaType, isTrusted = false, handle } = outcome
  const own = tool.artifact === undefined ? [] : [chosenClass(tool.artifact, SpooledArtifact)]
  const classes: readonly ArtifactClass[] = [...own, TextArtifact, JsonArtifact, BinaryArtifact, SpooledArtifact]
  const Class = classes.find((one) => (one as unknown as typeof SpooledArtifact).kind === kind) ?? namedClass(kind)
  const source: ArtifactSource = {
    reader: await files.reader(artifact, mediaType),
    mediaType,
    handle,
    trusted: isTrusted,
  }
  return new Class(source)
}

/** Stands in for a class that the tool does not name. */
function namedClass(kind: string): ArtifactClass {
  return class extends SpooledArtifact {
    static override readonly kind = kind
  }
}

/** Ends the call at once, as it ended when it was recorded. */
function endAgain({ status, message }: RecordedEnd, { deadline }: Confirmed): Promise<never> {
  deadline.cancel(status === 'timed_out' ? new ToolTimeoutError(message) : new ToolCancelledError(message))
  return new Promise(() => {})
}
