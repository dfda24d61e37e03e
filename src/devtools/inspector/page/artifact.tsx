import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ArtifactView } from '../../../client/protocol.ts'
import { client } from './client.ts'
import { onOneLine, Text, visibleMarks } from './text.tsx'

/** The most bytes that are shown at once. */
const pageSize = 8_192
/** The largest artifact that is put together in this page, to be saved. */
const mostSaved = 67_108_864

/** The bytes of an artifact from a place on, up to the end of a line if there is one. */
interface ArtifactPart {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Shows an artifact in pages. */
export function Artifact({ about, handle }: { readonly about: ArtifactView; readonly handle: string }): VNode {
  const { byteLength, mediaType, kind } = about
  const [starts, setStarts] = useState<readonly number[]>([0])
  const [page, setPage] = useState<ArtifactPart>()
  const [fault, setFault] = useState('')
  const start = starts.at(-1) ?? 0

  useEffect(() => {
    let isHere = true
    setFault('')
    readPage(handle, start, byteLength, isTextType(mediaType)).then(
      (nextPart) => isHere && setPage(nextPart),
      (error: Error) => isHere && setFault(error.message),
    )
    return () => {
      isHere = false
    }
  }, [handle, start])

  const end = page?.end ?? 0
  return (
    <section class="part">
      <h3>Artifact</h3>
      <p class="facts">
        {kind} · {onOneLine(mediaType, 80)} · {byteLength.toLocaleString('en')} bytes
      </p>
      {fault === '' ? (
        <pre class="whole" tabIndex={0} aria-label="Part of the artifact">
          {page === undefined ? '…' : <Text of={page.text} />}
        </pre>
      ) : (
        <p class="fault" role="alert">
          {visibleMarks(fault)}
        </p>
      )}
      <div class="buttons">
        <button disabled={starts.length < 2} onClick={() => setStarts(starts.slice(0, -1))}>
          ← Previous
        </button>
        <button disabled={end === 0 || end >= byteLength} onClick={() => setStarts([...starts, end])}>
          Next →
        </button>
        {byteLength <= mostSaved && (
          <button onClick={() => void save(handle, mediaType).catch((error: Error) => setFault(error.message))}>
            Save…
          </button>
        )}
        {page !== undefined && (
          <span class="facts" role="status">
            bytes {(page.start + 1).toLocaleString('en')}–{page.end.toLocaleString('en')} of{' '}
            {byteLength.toLocaleString('en')}
          </span>
        )}
      </div>
    </section>
  )
}

function isTextType(mediaType: string): boolean {
  return /^(text\/|application\/([\w.+-]*\+)?(json|xml|yaml)\b)/i.test(mediaType)
}

async function readPage(handle: string, start: number, length: number, asText: boolean): Promise<ArtifactPart> {
  const end = Math.min(length, start + pageSize)
  if (end === start) return { start, end, text: '' }
  const response = await client.artifact(handle, { start, end })
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (!asText) return { start, end: start + bytes.length, text: dump(bytes, start) }
  const size = start + bytes.length < length ? cutPoint(bytes) : bytes.length
  return { start, end: start + size, text: new TextDecoder().decode(bytes.subarray(0, size)) }
}

/** Returns where to cut bytes of UTF-8: after the last line, else between two characters. */
function cutPoint(bytes: Uint8Array): number {
  const lines = bytes.lastIndexOf(10) + 1
  if (lines > 0) return lines
  let size = bytes.length - 1
  while (size > 1 && ((bytes[size] ?? 0) & 0xc0) === 0x80) size--
  return size
}

/** Returns bytes in rows of 16, as numbers and letters. */
function dump(bytes: Uint8Array, start: number): string {
  const rows: string[] = []
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)]
    const numbers = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const letters = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '·')).join('')
    rows.push(`${(start + at).toString(16).padStart(8, '0')}  ${numbers.padEnd(47)}  ${letters}`)
  }
  return rows.join('\n')
}

/** Saves an artifact as a file. */
async function save(handle: string, mediaType: string): Promise<void> {
  const response = await client.artifact(handle)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([await response.arrayBuffer()], { type: 'application/octet-stream' }))
  link.download = `artifact.${/^[\w]+\/(?:[\w.-]+\+)?([a-z\d]+)/i.exec(mediaType)?.[1]?.replace('plain', 'txt') ?? 'bin'}`
  link.click()
  URL.revokeObjectURL(link.href)
}
