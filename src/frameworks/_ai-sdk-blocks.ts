import { content, shown, ToolFailure, type ContentBlock } from '../index.ts'
import { isObject } from '../formats/_read.ts'
import { objectsOf } from './_ai-sdk-messages.ts'
import { fileBlock } from './_content.ts'

/**
 * Returns the result of a tool whose `toModelOutput` shows the model something else than its output. The AI SDK and Mastra have the
 * same forms of it.
 *
 * @throws `ToolFailure` if the model is shown an error.
 */
export function modelResult(modelOutput: unknown, output: unknown): unknown {
  const { type, value } = isObject(modelOutput) ? modelOutput : {}
  if (type === 'error-text' || type === 'error-json') {
    throw new ToolFailure(typeof value === 'string' ? value : JSON.stringify(value))
  }
  const blocks = modelBlocks(type, value) ?? [{ type: 'json' as const, data: modelOutput ?? null }]
  return isJsonValue(output) ? shown(blocks, output) : content(blocks)
}

function modelBlocks(type: unknown, value: unknown): ContentBlock[] | undefined {
  if (type === 'content') return objectsOf(value).map(modelBlock)
  if (type === 'text') return [textBlock(value)]
  return type === 'json' ? [{ type, data: value ?? null }] : undefined
}

function isJsonValue(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint'
}

function textBlock(value: unknown): ContentBlock {
  return { type: 'text', text: String(value) }
}

/** Returns a block of a part, in the forms of versions 5 to 7. */
function modelBlock(part: Readonly<Record<string, unknown>>): ContentBlock {
  const { type, mediaType, filename } = part
  if (type === 'text') return textBlock(part['text'])
  const bytes = isObject(part['data']) ? part['data']['data'] : part['data']
  if (typeof bytes !== 'string' || typeof mediaType !== 'string') return { type: 'json', data: part }
  if (mediaType.startsWith('image/')) return { type: 'image', data: bytes, mimeType: mediaType }
  if (mediaType.startsWith('audio/')) return { type: 'audio', data: bytes, mimeType: mediaType }
  return fileBlock(filename, mediaType, bytes)
}
