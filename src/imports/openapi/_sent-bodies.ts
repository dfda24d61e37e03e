import type { SpooledArtifact } from '../../index.ts'
import { isJsonType, type BodyPlan } from './_bodies.ts'
import { isNode } from './_document.ts'
import { encoded, invalidArgument, queryPairs, textOfValue, withoutNull } from './_parameters.ts'

/** A body that is sent. It is made anew for each attempt. */
export interface SentBody {
  readonly contentType: string
  readonly open: () => RequestBody | Promise<RequestBody>
  /** Whether `open` returns a stream. */
  readonly isStreamed: boolean
}

/** What `fetch` takes as a body. */
export type RequestBody = NonNullable<RequestInit['body']>

/**
 * Up to this size a body is sent as a whole, with its length. In a browser, which alone has `indexedDB`, each is: a stream needs
 * HTTP/2 there, or is not known at all.
 */
const largestWholeBody = 'indexedDB' in globalThis ? Infinity : 1_048_576

/** Writes a body. */
export function sentBody({ kind, mediaType, encoding, files }: BodyPlan, value: unknown): SentBody {
  const wholeBody = (text: RequestBody): SentBody => ({
    contentType: mediaType,
    open: () => text,
    isStreamed: false,
  })
  if (kind === 'json') return wholeBody(JSON.stringify(value))
  if (kind === 'text') return wholeBody(textOfValue(value))
  if (kind === 'form') return wholeBody(formText(value, encoding))
  if (kind === 'multipart') return multipart(value, encoding, files)
  const source = artifactOf(value, 'body')
  if (source.byteLength() > largestWholeBody) {
    return { contentType: mediaType, open: () => streamOf(source.chunks()), isStreamed: true }
  }
  return { contentType: mediaType, open: async () => wholeBytes(await source.bytes()), isStreamed: false }
}

function artifactOf(value: unknown, name: string): SpooledArtifact {
  if (isArtifactLike(value)) return value
  throw invalidArgument(`\`${name}\` is not the handle of an artifact`)
}

function isArtifactLike(value: unknown): value is SpooledArtifact {
  return typeof value === 'object' && value !== null && typeof (value as SpooledArtifact).chunks === 'function'
}

/** Returns bytes in a buffer of their own, as `fetch` takes them. */
function wholeBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}

function formText(value: unknown, encoding: BodyPlan['encoding']): string {
  const form = withoutNull(value)
  if (!isNode(form)) return textOfValue(form ?? '')
  const pairs = Object.entries(form).flatMap(([name, each]) => {
    const { style, explode, allowReserved } = encoding.get(name) ?? {}
    const isJson = isNode(each) && style === undefined && explode === undefined
    return isJson
      ? [`${encoded(name)}=${encoded(JSON.stringify(each))}`]
      : queryPairs(
          { name, style, explode, allowReserved },
          withoutNull(each),
          (key) => key !== name && Object.hasOwn(form, key),
        )
  })
  return pairs.join('&')
}

/** A part of a multipart body: its head, and its bytes or the artifact that has them. */
type FormPart = readonly [head: string, bytes: Uint8Array | SpooledArtifact]

function multipart(value: unknown, encoding: BodyPlan['encoding'], files: ReadonlySet<string>): SentBody {
  const boundary = `----toolwright${crypto.randomUUID().replaceAll('-', '')}`
  const text = new TextEncoder()
  const form = withoutNull(value)
  const parts = isNode(form) ? Object.entries(form).flatMap(([name, each]) => partsOf(name, each)) : []
  const size = parts.reduce(
    (sum, [, bytes]) => sum + (isArtifactLike(bytes) ? bytes.byteLength() : bytes.byteLength),
    0,
  )
  const isStreamed = size > largestWholeBody
  const pieces = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for (const [head, bytes] of parts) {
      yield text.encode(`--${boundary}\r\n${head}\r\n\r\n`)
      if (isArtifactLike(bytes)) yield* bytes.chunks()
      else yield bytes
      yield text.encode('\r\n')
    }
    yield text.encode(`--${boundary}--\r\n`)
  }
  const open = async (): Promise<RequestBody> => (isStreamed ? streamOf(pieces()) : new Blob(await collected(pieces())))
  return { contentType: `multipart/form-data; boundary=${boundary}`, open, isStreamed }

  function partsOf(name: string, each: unknown): FormPart[] {
    const isList = Array.isArray(each) && (files.has(name) || encoding.get(name)?.contentType === undefined)
    const items = isList ? each.filter((item) => item !== null) : [each]
    return items.map((item) => partOf(name, item))
  }

  function partOf(name: string, item: unknown): FormPart {
    const disposition = `Content-Disposition: form-data; name="${quotedInHeader(name)}"`
    const { contentType } = encoding.get(name) ?? {}
    // Beside a file, a schema may allow an object that says where the file is.
    if (isArtifactLike(item) || (files.has(name) && !isNode(item))) {
      const file = artifactOf(item, name)
      const type = contentType !== undefined && /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : file.mediaType
      return [`${disposition}; filename="${quotedInHeader(name)}${extensionOf(type)}"${typeLine(type)}`, file]
    }
    const isObject = typeof item === 'object' && item !== null
    const type = contentType?.split(',')[0]?.trim() ?? (isObject ? 'application/json' : undefined)
    const words = isObject || (type !== undefined && isJsonType(type)) ? JSON.stringify(item) : textOfValue(item)
    return [disposition + typeLine(type), text.encode(words)]
  }
}

/** Returns the extension of a file's name: many servers believe it rather than the media type. */
function extensionOf(mediaType: string): string {
  const subtype = /^\w+\/([a-z0-9]{2,8})(?=$|;)/.exec(mediaType)?.[1]
  if (subtype === undefined) return ''
  const usual: Readonly<Record<string, string>> = { plain: 'txt', markdown: 'md', mpeg: 'mp3', jpeg: 'jpg' }
  return `.${Object.hasOwn(usual, subtype) ? usual[subtype] : subtype}`
}

function typeLine(type: string | undefined): string {
  const isType = type !== undefined && /^[\w.+*-]+\/[\w.+*-]+/.test(type)
  return isType ? `\r\nContent-Type: ${type.replace(/[^\x20-\x7e]/g, '')}` : ''
}

function quotedInHeader(name: string): string {
  return name.replace(/["\r\n]/g, (character) => encoded(character))
}

async function collected(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>[]> {
  const list: Uint8Array<ArrayBuffer>[] = []
  for await (const piece of pieces) list.push(wholeBytes(piece))
  return list
}

function streamOf(pieces: AsyncGenerator<Uint8Array, void, undefined>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await pieces.return()
    },
  })
}
