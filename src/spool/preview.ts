import { type SpooledArtifact } from '../kernel/result/artifact.ts'
import { BinaryArtifact, isOf, JsonArtifact } from '../kernel/result/kinds.ts'
import { plainText } from '../kernel/outcome/failure.ts'

/** Bytes of a result that are shown where it is too large to be shown whole. */
export const previewLength = 2_048

/**
 * The beginning of an artifact, and what there is to know of the rest.
 *
 * @param guide How to go on with it, in words.
 */
export async function previewOf(artifact: SpooledArtifact, guide = ''): Promise<string> {
  const { handle, mediaType } = artifact
  const size = artifact.byteLength().toLocaleString('en')
  const where = handle === undefined ? '' : ` All of it is kept as ${handle}.${guide === '' ? '' : ` ${guide}`}`
  if (isOf(artifact, BinaryArtifact)) return `(${size} bytes of ${mediaType}, not shown.${where})`
  const text = new TextDecoder().decode(await artifact.bytes(0, previewLength), { stream: true })
  const end = text.lastIndexOf('\n')
  const start = end > 0 ? text.slice(0, end).replace(/\r$/, '') : isOf(artifact, JsonArtifact) ? atBoundary(text) : text
  return `${plainText(start)}\n…\n(This is the beginning of ${size} bytes of ${mediaType}.${where})`
}

/** JSON text up to the last place where a value ends, so that no value is shown in part. */
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
