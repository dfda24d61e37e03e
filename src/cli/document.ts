import { createReadStream } from 'node:fs'
import { isToolError, parseJson } from '../index.ts'
import { UsageError } from './arguments.ts'
import { thrownMessage, type Host } from './host.ts'

const largestDocument = 64 * 1_024 * 1_024
// The parser's own limit, so that args that are too deep fail only their own call.
const deepestArgs = 1_000

/**
 * Reads one JSON document. Refuses duplicate keys, because parsers differ about which one counts.
 *
 * @param source A path, or `-` for stdin.
 * @throws {UsageError} if it cannot be read, or is not one unambiguous JSON value.
 */
export async function readDocument(source: string, host: Host): Promise<unknown> {
  const text = await readInput(source, host)
  const label = source === '-' ? 'stdin' : source
  if (text.trim() === '') throw new UsageError(`${label} is empty. Give one JSON document.`)
  try {
    return parseJson(text, { limit: largestDocument, depth: deepestArgs })
  } catch (error) {
    if (!isToolError(error)) throw error
    const what = error.code === 'E_INVALID_TOOL_ARGS' ? 'is not valid JSON' : 'is ambiguous'
    throw new UsageError(`${label} ${what}: ${error.issues?.[0]?.message ?? error.message}`)
  }
}

/**
 * Reads text in UTF-8.
 *
 * @param source A path, or `-` for stdin.
 * @throws {UsageError} if it cannot be read, is not UTF-8, or has more than 64 MiB.
 */
export async function readInput(source: string, { stdin, stderr }: Host): Promise<string> {
  const label = source === '-' ? 'stdin' : source
  if (source === '-' && stdin.isTTY === true) stderr.write('Reading JSON from the terminal; Ctrl-D ends it.\n')
  const bytes = await readBytes(source === '-' ? stdin : createReadStream(source), label)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UsageError(`${label} is not text in UTF-8. Save it as UTF-8, and try again.`)
  }
}

async function readBytes(stream: AsyncIterable<Uint8Array | string>, label: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of stream) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      length += bytes.byteLength
      if (length > largestDocument) break
      chunks.push(bytes)
    }
  } catch (error) {
    throw new UsageError(`${label} cannot be read: ${thrownMessage(error)}. Give a JSON file, or - for stdin.`)
  }
  if (length > largestDocument)
    throw new UsageError(`${label} has more than ${largestDocument} bytes. Give a smaller document.`)
  return Buffer.concat(chunks)
}
