import { content, type ContentBlock } from '../index.ts'

/** Returns parts of a framework as content, or `undefined` if there are none, or one of them has no block. */
export function contentOfParts(
  parts: readonly unknown[],
  blockOf: (part: unknown) => ContentBlock | undefined,
): ReturnType<typeof content> | undefined {
  const blocks = parts.map(blockOf)
  if (blocks.length === 0 || blocks.includes(undefined)) return undefined
  return content(blocks.filter((block) => block !== undefined))
}

/** Makes a block of a file. @param name Its name, if it has one. @param blob Its bytes as base64. */
export function fileBlock(name: unknown, mimeType: string, blob: string): ContentBlock {
  const uri = `file:///${encodeURIComponent(typeof name === 'string' ? name : 'file')}`
  return { type: 'resource', resource: { uri, mimeType, blob } }
}
