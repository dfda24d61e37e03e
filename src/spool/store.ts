import { MemoryReader, type ArtifactClass, type SpooledArtifact } from '../kernel/result/artifact.ts'
import { isArtifact } from '../kernel/result/brand.ts'
import { isStream, type Stream } from '../kernel/run/stream.ts'
import { BinaryArtifact, chosenClass, classOfMediaType, JsonArtifact } from '../kernel/result/kinds.ts'
import { isOf } from './argument.ts'
import { bytes as requireBytes, content, markedMediaType, type ContentBlock } from '../kernel/result/content.ts'
import { openStream, type OpenStream } from './stream.ts'
import { ArtifactError } from '../kernel/errors.ts'
import { downstream, errorWords } from '../kernel/outcome/failure.ts'
import { stageFields, type Checked, type Received } from '../kernel/call/parcel.ts'
import type { SpoolSource, StoredArtifact } from '../kernel/result/store.ts'
import { previewLength, previewOf } from './preview.ts'
import type { ArtifactShelf } from './shelf.ts'
import {
  encodeFor,
  encodeResult,
  isShownAsMedia,
  isSmall,
  jsonBlock,
  keepSmall,
  shownLimit,
  type EncodedResult,
  type Receipt,
} from '../kernel/result/encode.ts'
import { readText } from '../kernel/json/json-text.ts'
import { joinedBytes } from './lines.ts'

const chunkSize = 65_536

/** What keeping needs of the executor. */
export interface Keeping {
  readonly shelf: ArtifactShelf
  /** The largest result that stays in the result object, in bytes. */
  readonly inlineLimit: number
  /** Returns advice for the model on how to read on in an artifact. */
  readonly guide: (artifact: SpooledArtifact) => string
}

/** Keeps an artifact, a stream or a large result in the store, unless it turns out to be small or is stored already. */
export function keep(
  output: EncodedResult | SpooledArtifact | Stream,
  checked: Checked,
  keeping: Keeping,
): Promise<Receipt> {
  if (isArtifact(output)) return keepArtifact(output, checked, keeping)
  return isStream(output) ? keepStream(output, checked, keeping) : keepLarge(output, checked, keeping)
}

function keepLarge(encoded: EncodedResult, checked: Checked, keeping: Keeping): Promise<Receipt> {
  const { source, blocks, mediaType, isApart } = encoded
  const Class = chosenClass(checked.tool.artifact, encoded.Class)
  if (isApart === true) return keepApart({ ...encoded, Class }, checked, keeping)
  const media = blocks.filter(isShownAsMedia)
  return store(source, { Class, mediaType, start: previewBytes(source), media }, checked, keeping)
}

/** Returns the beginning of a text for a preview. Bytes have none. */
function previewBytes(source: string | Uint8Array): Uint8Array | undefined {
  return typeof source === 'string' ? new TextEncoder().encode(source.slice(0, previewLength)) : undefined
}

/** Keeps a value, and what the model reads of it apart. The model is told the handle of what is too large. */
async function keepApart(encoded: EncodedResult, checked: Checked, keeping: Keeping): Promise<Receipt> {
  const { source, blocks, Class } = encoded
  const inlineLimit = shownLimit(checked, keeping.inlineLimit)
  const words = encodeResult(content(blocks))
  const start = previewBytes(words.source)
  const receipt = await store(source, { Class, start, isHidden: true }, checked, keeping)
  const isShort = isSmall({ ...encoded, blocks: [] }, inlineLimit)
  const media = blocks.filter(isShownAsMedia)
  const note = isSmall(words, inlineLimit)
    ? blocks
    : (await store(words.source, { Class: words.Class, mediaType: words.mediaType, start, media }, checked, keeping))
        .content
  return { ...receipt, content: isShort ? note : [...note, ...receipt.content] }
}

/** Keeps a stream. Its beginning stays in memory until it exceeds the inline limit. */
async function keepStream(stream: Stream, checked: Checked, keeping: Keeping): Promise<Receipt> {
  const { deadline, tool } = checked
  const inlineLimit = shownLimit(checked, keeping.inlineLimit)
  const mediaType = markedMediaType(stream)
  let open: OpenStream | undefined
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    open = openStream(stream)
    while (length <= inlineLimit) {
      const piece = await deadline.within(open.next())
      if (piece.done === true) {
        const bytes = joinedBytes(pieces, length)
        if (mediaType !== undefined) return await keepTyped(bytes, mediaType, checked, keeping)
        return keepSmall(encodeFor(checked, open.isText ? new TextDecoder().decode(bytes) : bytes), checked)
      }
      pieces.push(new Uint8Array(piece.value)) // the stream may reuse its buffer
      length += piece.value.byteLength
    }
    const { Class: usual } = encodeResult(open.isText ? '' : new Uint8Array())
    const Class = chosenClass(tool.artifact, mediaType === undefined ? usual : classOfMediaType(mediaType))
    const start = joinedBytes(pieces, length)
    const isShown = open.isText && tool.secrets.length === 0 // secrets cannot be masked in a stream
    const description = { Class, mediaType, start: isShown ? start : undefined }
    return await store(restOfStream(start, open, deadline), description, checked, keeping)
  } catch (cause) {
    open?.close()
    deadline.check()
    throw notStored(cause)
  }
}

/** Keeps few bytes of a media type. Of what is not shown, the model gets at least a handle. */
async function keepTyped(bytes: Uint8Array, mediaType: string, checked: Checked, keeping: Keeping): Promise<Receipt> {
  const { artifact, trusted } = checked.tool
  const Class = chosenClass(artifact, classOfMediaType(mediaType))
  const small = new Class({ reader: new MemoryReader(bytes), mediaType, trusted })
  if (isOf(small, BinaryArtifact)) return store(bytes, { Class, mediaType }, checked, keeping)
  return keepArtifact(small, checked, keeping)
}

/** Keeps an artifact that the handler made: unchanged if it is small or stored already. */
async function keepArtifact(artifact: SpooledArtifact, checked: Checked, keeping: Keeping): Promise<Receipt> {
  const { deadline, tool } = checked
  const inlineLimit = shownLimit(checked, keeping.inlineLimit)
  try {
    const { handle, mediaType } = artifact
    if (handle === undefined && artifact.byteLength() > inlineLimit) {
      const Class = artifact.constructor as ArtifactClass
      const isShown = !isOf(artifact, BinaryArtifact) && tool.secrets.length === 0
      const start = isShown ? await deadline.within(artifact.bytes(0, previewLength)) : undefined
      const pieces = restOfStream(undefined, openStream(artifact.chunks()), deadline)
      return await store(pieces, { Class, mediaType, start }, checked, keeping)
    }
    const isShown = !isOf(artifact, BinaryArtifact) && artifact.byteLength() <= inlineLimit
    const preview = isShown ? artifact.asString() : previewOf(artifact, keeping.guide(artifact))
    return await deadline.within(preview, (text) => {
      if (isShown && checked.program !== undefined) {
        return { content: [jsonBlock(isOf(artifact, JsonArtifact) ? readText(text) : text)], artifact, handle }
      }
      return { content: encodeResult(text).blocks, artifact, handle }
    })
  } catch (cause) {
    deadline.check()
    throw notStored(cause)
  }
}

/**
 * Keeps an artifact that a handler makes beside its result, and lists it.
 *
 * @throws `E_ARTIFACT` if the store cannot take it, or the call has settled; `E_INVALID_TOOL_RESULT` if it is none.
 */
export async function keepBeside(
  source: SpoolSource,
  described: { readonly mediaType: string },
  call: Received,
  { shelf }: Keeping,
): Promise<StoredArtifact> {
  requireBytes(source, described)
  const [{ mediaType }, { deadline }] = [described, call]
  const { trusted = false } = stageFields(call).tool ?? {}
  let open: OpenStream | undefined
  try {
    if (isStream(source)) open = openStream(source)
    deadline.check()
    const pieces = open === undefined ? source : restOfStream(undefined, open, deadline)
    return (await shelf.write(pieces, { Class: classOfMediaType(mediaType), mediaType, trusted }, call))[0]
  } catch (cause) {
    open?.close()
    if (deadline.isOver) throw new ArtifactError('The call has settled: keep artifacts before the handler returns.')
    deadline.check()
    if (cause instanceof ArtifactError) throw cause
    throw new ArtifactError(`The artifact could not be kept: ${errorWords(cause).message}`, { cause, retryable: true })
  }
}

interface ArtifactDescription {
  readonly Class: ArtifactClass
  readonly mediaType?: string | undefined
  /** The beginning of its text, for the message if the store fails. */
  readonly start?: Uint8Array | undefined
  /** Small pictures and sounds, which are shown beside the preview. */
  readonly media?: readonly ContentBlock[]
  /** Only its size and handle are told. */
  readonly isHidden?: true
}

async function store(
  source: SpoolSource,
  description: ArtifactDescription,
  checked: Checked,
  keeping: Keeping,
): Promise<Receipt> {
  const { deadline, tool } = checked
  const { Class, start, media = [], isHidden } = description
  const { mediaType = (Class as unknown as typeof SpooledArtifact).mediaType } = description
  try {
    const [stored, artifact] = await keeping.shelf.write(source, { Class, mediaType, trusted: tool.trusted }, checked)
    const preview = await deadline.within(previewOf(artifact, keeping.guide(artifact), isHidden))
    return { content: [{ type: 'text', text: preview }, ...media], artifact, handle: stored.handle }
  } catch (cause) {
    deadline.check()
    throw notStored(cause, start)
  }
}

/** @param start The beginning of the result, if it is text: the model gets at least that. */
function notStored(cause: unknown, start?: Uint8Array): ArtifactError {
  if (cause instanceof ArtifactError && start === undefined) return cause
  const beginning =
    start === undefined ? '' : `\nIt begins: ${new TextDecoder().decode(start.subarray(0, previewLength))}…`
  const words = `The tool ran, but its result could not be kept: ${errorWords(cause).message}${beginning}`
  const { category, retryable } = downstream('', cause) // as if the handler had thrown it
  return new ArtifactError(words, { cause, category, retryable })
}

/** Yields a whole stream whose start was already read, in pieces large enough for a write. The deadline ends it. */
async function* restOfStream(
  start: Uint8Array | undefined,
  open: OpenStream,
  deadline: Received['deadline'],
): AsyncGenerator<Uint8Array, void, undefined> {
  const buffer = new Uint8Array(chunkSize)
  let filled = 0
  try {
    if (start !== undefined) yield start
    for (;;) {
      const { done, value } = await deadline.within(open.next())
      if (filled > 0 && (done === true || filled + value.byteLength > chunkSize)) {
        yield buffer.slice(0, filled)
        filled = 0
      }
      if (done === true) return
      if (value.byteLength >= chunkSize) yield value
      else {
        buffer.set(value, filled)
        filled += value.byteLength
      }
    }
  } finally {
    open.close()
  }
}
