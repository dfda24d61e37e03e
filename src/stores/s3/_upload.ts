import { ArtifactError } from '../../errors.ts'
import { dispose, elementOf, sendRequest } from './_client.ts'
import type { S3Settings } from './_options.ts'

/** A multipart upload. The object does not exist before `complete`. */
export interface Upload {
  add(part: Uint8Array): Promise<void>
  complete(): Promise<void>
  /** Deletes the parts. Never throws. */
  abort(): Promise<void>
}

export async function beginUpload(
  settings: S3Settings,
  key: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<Upload> {
  const begun = await sendRequest(settings, { method: 'POST', key, query: '?uploads=', headers }, signal)
  const id = elementOf(begun.body, 'UploadId')
  if (id === undefined || id === '')
    throw new ArtifactError('The artifact store did not start the upload: its answer has no upload ID.')
  const upload = `uploadId=${encodeURIComponent(id)}`
  const tags: string[] = []
  return {
    async add(body) {
      const number = tags.length + 1
      const { headers: answered } = await sendRequest(
        settings,
        { method: 'PUT', key, query: `?partNumber=${number}&${upload}`, body },
        signal,
      )
      tags.push(answered.get('etag') ?? '')
    },
    async complete() {
      const parts = tags.map(
        (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`,
      )
      const text = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`
      const body = new TextEncoder().encode(text)
      const type = { 'content-type': 'application/xml' }
      await sendRequest(settings, { method: 'POST', key, query: `?${upload}`, headers: type, body }, signal)
    },
    async abort() {
      await dispose(settings, { method: 'DELETE', key, query: `?${upload}` })
    },
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
