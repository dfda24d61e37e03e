import { content, type SpooledArtifact } from '../index.ts'
import { withNote, AnswerPage } from './_output.ts'
import { integerField, objectSchema } from './_query.ts'
import type { OwnQuery, QueryOptions } from './_text-queries.ts'

/** The most bytes of a picture; the same limit as for pictures that tools return. */
const largestShownImage = 5_242_880
const bytesInLine = 32

/** The queries for every artifact. */
export function byteQueries({ limits }: QueryOptions): Readonly<Record<string, OwnQuery>> {
  return {
    bytes: {
      isShown: true,
      description: 'Shows the stored bytes of an artifact from `start` up to and without `end`.',
      inputSchema: objectSchema({
        start: integerField(0, 'The first byte, counted from 0. Default: 0'),
        end: integerField(0, 'The byte before which to stop. Default: 256 more than start'),
        encoding: { enum: ['hex', 'base64'], description: 'How to write them. Default: hex' },
      }),
      answer: (artifact, input: BytesInput) =>
        storedByteRange(artifact, input, new AnswerPage(limits).left, limits.lines),
    },
  }
}

/** The queries for artifacts that are not text. */
export const imageQueries: Readonly<Record<string, OwnQuery>> = {
  image: {
    isShown: true,
    description: 'Shows an artifact that is a picture.',
    async answer(artifact) {
      const { mediaType } = artifact
      const size = artifact.byteLength()
      if (!mediaType.startsWith('image/'))
        return withNote(
          '',
          `This artifact is not a picture: its media type is ${mediaType}. Ask artifact_bytes about it.`,
        )
      if (size > largestShownImage)
        return withNote('', `This picture has ${size} bytes; the limit is ${largestShownImage}.`)
      return content([{ type: 'image', data: base64(await artifact.bytes()), mimeType: mediaType }])
    },
  },
}

interface BytesInput {
  readonly start?: number
  readonly end?: number
  readonly encoding?: string
}

async function storedByteRange(
  artifact: SpooledArtifact,
  input: BytesInput,
  room: number,
  lines: number,
): Promise<string> {
  const { start = 0, end = start + 256, encoding = 'hex' } = input
  const size = artifact.byteLength()
  const wanted = Math.max(0, Math.min(end, size) - start)
  if (wanted === 0) {
    return withNote('', `There are no bytes from ${start} up to and without ${end}: the artifact has ${size}.`)
  }
  const isHex = encoding === 'hex'
  const most = isHex
    ? Math.min(lines, Math.floor(room / (2 * bytesInLine + 20))) * bytesInLine
    : Math.floor(room / 4) * 3
  const last = start + Math.min(most, wanted)
  const found = await artifact.bytes(start, last)
  const words = `Truncated: bytes ${start} to ${last - 1} are shown. Go on with start: ${last}.`
  return withNote(isHex ? hexDump(found, start) : base64(found), last < start + wanted ? words : '')
}

function hexDump(found: Uint8Array, start: number): string {
  const lines: string[] = []
  for (let offset = 0; offset < found.byteLength; offset += bytesInLine) {
    const line = Array.from(found.subarray(offset, offset + bytesInLine), (byte) => byte.toString(16).padStart(2, '0'))
    lines.push(`${start + offset}: ${line.join('')}`)
  }
  return lines.join('\n')
}

function base64(found: Uint8Array): string {
  let text = ''
  for (let offset = 0; offset < found.byteLength; offset += 8_192) {
    text += String.fromCharCode(...found.subarray(offset, offset + 8_192))
  }
  return btoa(text)
}
