/**
 * Stores artifacts as objects in S3, or in a service with the same API. It stores and returns bytes: it knows no tools and no
 * calls, makes no bucket, follows no redirect, and puts no URL, key or credential into a message.
 *
 * @module
 */
import { createSha256, sha256 } from '#sha256'
import type { Extension } from '../index.ts'
import { ArtifactError } from '../errors.ts'
import type { ArtifactStore, SpoolReader } from '../extension.ts'
import { isHandle, newHandle, noArtifact, tooLargeSource } from './_handles.ts'
import { piecesOf } from './_source.ts'
import { dispose, isMissing, sendRequest, type S3Answer } from './s3/_client.ts'
import { settingsOf, type S3StoreOptions, type S3Settings } from './s3/_options.ts'
import { beginUpload, type Upload } from './s3/_upload.ts'

export type { S3Credentials, S3StoreOptions } from './s3/_options.ts'

/** The metadata of an object: its session as a digest, and its media type in ASCII. */
const sessionHeader = 'x-amz-meta-toolwright-session'
const mediaTypeHeader = 'x-amz-meta-toolwright-media-type'

/**
 * Makes a store in an S3 bucket, one object per artifact, for any number of machines. Artifacts outlive the process.
 *
 * A source smaller than a part takes one request. A larger one is uploaded in parts as it arrives, two of which are in memory;
 * the object exists once the upload is complete. A range is read with one request. Each request is signed with its body, and
 * retried up to three times if the server is busy or the network fails. Needs `fetch`, Web Crypto and the package `aws4fetch`.
 *
 * @param options The bucket, its credentials and its service. The credentials must be allowed to get, put and delete objects,
 * to abort uploads and to list the bucket: without the last right S3 does not say that an object is missing.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong. The store throws `E_ARTIFACT`.
 * @experimental
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { s3Store } from 'toolwright/stores/s3'
 *
 * const { S3_KEY: accessKeyId = '', S3_SECRET: secretAccessKey = '' } = process.env
 * const bucket = () => s3Store({ bucket: 'agents', region: 'eu-north-1', credentials: { accessKeyId, secretAccessKey } })
 * const start = () => createExecutor({ tools: [], use: [bucket()] })
 * ```
 */
export function s3Store(options: S3StoreOptions): Extension & { readonly store: ArtifactStore } {
  const settings = settingsOf(options)

  const store: ArtifactStore = {
    async write(source, { session, mediaType, signal }) {
      const { partLength, maximumBytes } = settings
      const handle = newHandle()
      const headers = artifactHeaders(session, mediaType)
      const hash = createSha256()
      let byteLength = 0
      let upload: Upload | undefined
      let adding: Promise<void> | undefined
      let isPut = false

      const put = (body: Uint8Array): Promise<S3Answer> => {
        isPut = true
        return sendRequest(settings, { method: 'PUT', key: handle, headers, body }, signal)
      }

      try {
        for await (const piece of piecesOf(source, partLength, signal)) {
          byteLength += piece.byteLength
          if (byteLength > maximumBytes) throw tooLargeSource(maximumBytes)
          hash.update(piece)
          if (upload === undefined && piece.byteLength < partLength) {
            await put(piece) // the only piece
            continue
          }
          upload ??= await beginUpload(settings, handle, headers, signal)
          await adding
          adding = upload.add(piece) // goes on while the next piece is fetched
          adding.catch(() => {}) // awaited above or below, unless the source fails first
        }
        await adding
        signal?.throwIfAborted()
        if (byteLength === 0) await put(new Uint8Array())
        isPut ||= upload !== undefined
        if (upload !== undefined) await completed(upload, settings, handle, byteLength)
        return { handle, sha256: hash.digest(), byteLength }
      } catch (error) {
        await adding?.catch(() => {})
        await upload?.abort()
        // A request without an answer may have succeeded.
        if (isPut) await dispose(settings, { method: 'DELETE', key: handle })
        throw error
      }
    },

    async open(handle, { session }) {
      if (!isHandle(handle)) throw noArtifact(handle)
      const { headers } = await sendForArtifact(settings, handle, { method: 'HEAD', key: handle })
      if (headers.get(sessionHeader) !== sessionDigest(session)) throw noArtifact(handle)
      return s3Reader(settings, handle, headers)
    },

    async delete(handle) {
      if (isHandle(handle)) await sendRequest(settings, { method: 'DELETE', key: handle }, undefined)
    },
  }
  return { store }
}

/** Completes an upload. If the answer of an earlier try was lost, the upload is gone: then checks the object's length. */
async function completed(upload: Upload, settings: S3Settings, handle: string, byteLength: number): Promise<void> {
  try {
    await upload.complete()
  } catch (error) {
    if (!isMissing(error)) throw error
    const { headers } = await sendRequest(settings, { method: 'HEAD', key: handle }, undefined)
    if (objectLength(headers) !== byteLength) throw error
  }
}

/** Returns the bytes of an object, or `undefined` if the answer has no length or that of a compressed form. */
function objectLength(headers: Headers): number | undefined {
  const length = headers.get('content-length')
  const isPlain = /^(?:identity)?$/i.test(headers.get('content-encoding') ?? '')
  return length !== null && isPlain ? Number(length) : undefined
}

function s3Reader(settings: S3Settings, handle: string, headers: Headers): SpoolReader {
  const byteLength = objectLength(headers)
  if (byteLength === undefined) throw new ArtifactError('The artifact store does not say how large the artifact is.')
  return {
    byteLength,
    mediaType: mediaTypeOf(headers),
    async read(start, end) {
      const length = end - start
      if (!(length > 0)) return new Uint8Array()
      const range = { range: `bytes=${start}-${end - 1}` }
      return (await sendForArtifact(settings, handle, { method: 'GET', key: handle, headers: range, length })).body
    },
  }
}

/** Sends a request for an artifact that should exist. Throws `noArtifact` if it does not. */
async function sendForArtifact(
  settings: S3Settings,
  handle: string,
  request: Parameters<typeof sendRequest>[1],
): Promise<S3Answer> {
  try {
    return await sendRequest(settings, request, undefined)
  } catch (error) {
    throw isMissing(error) ? noArtifact(handle) : error
  }
}

function artifactHeaders(session: string, mediaType: string): Record<string, string> {
  const isPlain = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mediaType)
  return {
    'content-type': isPlain ? mediaType : 'application/octet-stream',
    [sessionHeader]: sessionDigest(session),
    [mediaTypeHeader]: encodeURIComponent(JSON.stringify(mediaType)),
  }
}

/** The digest of a session, since a header cannot hold every name. JSON keeps apart lone surrogates, which UTF-8 merges. */
function sessionDigest(session: string): string {
  return sha256(JSON.stringify(session))
}

function mediaTypeOf(headers: Headers): string | undefined {
  try {
    const mediaType: unknown = JSON.parse(decodeURIComponent(headers.get(mediaTypeHeader) ?? ''))
    return typeof mediaType === 'string' ? mediaType : undefined
  } catch {
    return undefined
  }
}
