import type { Frames } from '../protocol.ts'

/** A frame of a stream. */
export type StreamFrame = {
  readonly [Name in keyof Frames]: { readonly name: Name; readonly data: Frames[Name] }
}[keyof Frames] & { readonly id: string }

/**
 * Reads the frames of a stream, until it ends. Names that this version does not know are left out.
 *
 * @param onSign Called with each piece that came, also if it is only a sign of life.
 * @param signal Ends the stream.
 */
export async function readFrames(
  response: Response,
  take: (frame: StreamFrame) => void,
  onSign: () => void,
  signal: AbortSignal,
): Promise<void> {
  // A `fetch` of the same process may not pass the signal on, and then the stream would go on for ever.
  const reader = response.body!.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal }).getReader()
  const decoder = new TextDecoder()
  for (let rest = ''; ;) {
    const { done, value } = await reader.read()
    if (done) return
    onSign()
    const parts = (rest + decoder.decode(value, { stream: true })).split('\n\n')
    rest = parts.pop()!
    for (const part of parts) {
      // Not by an expression with `^` or `.`: to those, U+2028 in a text ends a line too.
      const lines = part.split('\n')
      const [id, name, data] = ['id: ', 'event: ', 'data: '].map((field) =>
        lines.find((line) => line.startsWith(field))?.slice(field.length),
      )
      if (data !== undefined) take({ id: id ?? '', name, data: JSON.parse(data) } as StreamFrame)
    }
  }
}
