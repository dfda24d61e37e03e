import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'

/**
 * Returns one page of a list. The cursor names the last item of the page before, so other items may come and go.
 *
 * @throws {ProtocolError} If the cursor is unknown or its item is gone: the client has to list from the beginning.
 */
export function pageOf<Item>(
  items: readonly Item[],
  cursor: string | undefined,
  size: number,
  keyOf: (item: Item) => string,
): { readonly items: Item[]; readonly nextCursor?: string } {
  const start = cursor === undefined ? 0 : items.findIndex((item) => cursorOf(keyOf(item)) === cursor) + 1
  if (start === 0 && cursor !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor')
  const found = items.slice(start, start + size)
  const last = found.at(-1)
  const isLast = last === undefined || start + size >= items.length
  return isLast ? { items: found } : { items: found, nextCursor: cursorOf(keyOf(last)) }
}

function cursorOf(key: string): string {
  return `after:${encodeURIComponent(key)}`
}
