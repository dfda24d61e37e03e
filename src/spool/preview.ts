import type { SpooledArtifact } from '../kernel/result/artifact.ts'
import { BinaryArtifact, JsonArtifact } from '../kernel/result/kinds.ts'
import { isOf } from './argument.ts'
import { escapeDeceptive } from '../kernel/json/deceptive.ts'

/** Bytes that are shown of a result that is too large to be shown whole. */
export const previewLength = 2_048

/**
 * Returns the beginning of an artifact, with the size, media type and handle of the whole.
 *
 * @param guide Tells the model how to read the rest.
 * @param isHidden Whether to leave the beginning out. Default: if it is binary.
 */
export async function previewOf(
  artifact: SpooledArtifact,
  guide = '',
  isHidden: boolean = isOf(artifact, BinaryArtifact),
): Promise<string> {
  const { handle } = artifact
  const mediaType = /^[\w.+-]{1,64}\/[\w.+-]{1,64}(?:; ?charset=[\w-]{1,20})?/.exec(artifact.mediaType)?.[0] ?? 'data' // it may hold any words
  const size = artifact.byteLength().toLocaleString('en')
  const where = handle === undefined ? '' : ` All of it is kept as ${handle}.${guide === '' ? '' : ` ${guide}`}`
  if (isHidden) return `(${size} bytes of ${mediaType}, not shown.${where})`
  const text = new TextDecoder().decode(await artifact.bytes(0, previewLength), { stream: true })
  const end = text.lastIndexOf('\n')
  const start = end > 0 ? text.slice(0, end).replace(/\r$/, '') : isOf(artifact, JsonArtifact) ? atBoundary(text) : text
  return `${escapeDeceptive(start.replaceAll('\r\n', '\n'), '\n\t')}\n…\n(This is the beginning of ${size} bytes of ${mediaType}.${where})`
}

/** Returns JSON text up to the end of its last complete value. */
function atBoundary(text: string): string {
  let inString = false
  let end = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (inString && character === '\\') index++
    else if (character === '"') inString = !inString
    else if (!inString && (character === ',' || character === '}' || character === ']')) {
      end = character === ',' ? index : index + 1
    }
  }
  return end > 0 ? text.slice(0, end) : text
}
