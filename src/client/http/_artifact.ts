import type { SpooledArtifact } from '../../index.ts'
import { commonHeaders, faultAnswer } from './_reply.ts'

/** The most bytes of one answer to a range. */
const mostRangeBytes = 4_194_304

/**
 * Answers with the bytes of an artifact, or with a range of them. No browser runs them, whatever they are: they are told as
 * text or bytes, to be saved, and their own type stands in a header of its own.
 */
export async function artifactReply(artifact: SpooledArtifact, range: string | null): Promise<Response> {
  const size = artifact.byteLength()
  const isText = /^(text\/|application\/([\w.+-]*\+)?(json|xml|yaml)\b)/i.test(artifact.mediaType)
  const headers = {
    ...commonHeaders,
    'content-type': isText ? 'text/plain; charset=utf-8' : 'application/octet-stream',
    'x-media-type': artifact.mediaType.replaceAll(/[^\x20-\x7e]/g, '?'),
    'content-disposition': 'attachment',
    'content-security-policy': "sandbox; default-src 'none'",
    'accept-ranges': 'bytes',
  }
  const wanted = byteRange(range, size)
  if (wanted === null) {
    return faultAnswer(416, 'E_RANGE', `The artifact has ${size.toLocaleString('en')} bytes.`, {
      'content-range': `bytes */${size}`,
    })
  }
  if (wanted !== undefined) {
    const [start, end] = wanted
    const bytes = await artifact.bytes(start, end)
    return new Response(bytes as Uint8Array<ArrayBuffer>, {
      status: 206,
      headers: {
        ...headers,
        'content-range': `bytes ${start}-${end - 1}/${size}`,
        'content-length': String(bytes.byteLength),
      },
    })
  }
  const chunks = artifact.chunks()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const step = await chunks.next()
        if (step.done === true) controller.close()
        else controller.enqueue(step.value)
      },
      cancel: () => void chunks.return().catch(() => {}),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { ...headers, 'content-length': String(size) } })
}

/** Returns the first and the last byte but one of a range. `undefined` for no range, `null` for one that cannot be had. */
function byteRange(range: string | null, size: number): readonly [number, number] | null | undefined {
  if (range === null || !/^bytes=/i.test(range)) return undefined
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(range) ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return null
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (start >= size || last < start) return null
  return [start, Math.min(last + 1, start + mostRangeBytes)]
}
