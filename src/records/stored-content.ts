import { sha256 } from '#sha256'
import { limited } from '../kernel/call/limited.ts'
import type { Journaled } from '../kernel/call/record.ts'
import { ArtifactError } from '../kernel/errors.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'
import { readText } from '../kernel/json/json-text.ts'
import type { ContentBlock } from '../kernel/result/content.ts'

/** The largest content in a record, in characters. */
const largestContent = 65_536
/** How long the store may take to answer, in milliseconds. */
export const storeTimeout = 30_000

/** The content in a record: whole, or in words beside its handle in the store. */
export type RecordedContent = Required<Pick<Journaled, 'result'>> & Pick<Journaled, 'stored'>

/** Returns whether content is too large for a record. */
export function isLarge(content: readonly ContentBlock[]): boolean {
  return lengthOf(content, largestContent) > largestContent
}

/** Returns about how many characters content has. Counts no further than the first block that goes beyond `most`. */
export function lengthOf(content: readonly ContentBlock[], most: number = Infinity): number {
  let length = 0
  for (const block of content) {
    length += 16
    if (block.type === 'text') length += block.text.length
    else if (block.type === 'image' || block.type === 'audio') length += block.data.length
    else if (block.type === 'json' && block.text !== undefined) length += block.text.length * 2
    else length += JSON.stringify(block)?.length ?? 0
    if (length > most) break
  }
  return length
}

/** Writes content to the store. If that fails, the error is reported, and the record has only the words. */
export async function storeContent(
  content: readonly ContentBlock[],
  session: string,
  { spool, report }: RecordsContext,
): Promise<RecordedContent> {
  let size = ''
  const result = (): ContentBlock[] => {
    const kinds = [...new Set(content.map(({ type }) => type))].slice(0, 8).join(', ')
    return [{ type: 'text', text: `(The result is not part of the record: ${kinds}${size}.)` }]
  }
  try {
    const text = JSON.stringify(content)
    size = `, ${text.length.toLocaleString('en')} characters of JSON`
    const mediaType = 'application/json'
    const { handle } = await limited(spool.store.write(text, { session, mediaType }), storeTimeout, late)
    return { result: result(), stored: { handle, sha256: sha256(text) } }
  } catch (error) {
    report(error)
    return { result: result() }
  }
}

/** Returns the content of a record. If the store has lost or changed it, reports that and returns the record's words. */
export async function contentOf(
  { stored, result = [] }: Partial<Journaled>,
  session: string,
  { spool, report }: RecordsContext,
): Promise<readonly ContentBlock[]> {
  if (stored === undefined) return result
  try {
    const bytes = await limited(spool.store.open(stored.handle, { session }), storeTimeout, late, (reader) =>
      reader.read(0, reader.byteLength),
    )
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
    if (sha256(text) !== stored.sha256)
      throw new ArtifactError('The store has something else than the result of the call.')
    return readText(text) as ContentBlock[]
  } catch (error) {
    report(error)
    return result
  }
}

function late(): ArtifactError {
  return new ArtifactError(`The store did not answer within ${storeTimeout} ms.`, { retryable: true })
}
