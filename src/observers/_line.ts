import { escapeDeceptive } from '../extension.ts'

/** Returns the beginning of a text, without splitting a surrogate pair. */
export function headOf(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

const deepestField = 8

/** A value as one piece of text. */
export interface Preview {
  /** JSON; only its beginning if `isWhole` is `false`. */
  readonly text: string
  readonly isWhole: boolean
}

/** Returns the beginning of a value's JSON. Stops at the limit, so that a large value costs no more than a small one. */
export function preview(value: unknown, longest: number): Preview {
  let text = ''
  let isWhole = true

  function add(piece: string): void {
    if (!isWhole) return
    isWhole = text.length + piece.length <= longest
    text = headOf(text + piece, longest)
  }

  function addString(string: string): void {
    add(escapeDeceptive(JSON.stringify(string.slice(0, longest))))
  }

  function write(item: unknown, depth: number): void {
    if (!isWhole) return
    if (typeof item === 'string') addString(item)
    else if (typeof item === 'number' || typeof item === 'boolean' || item === null) add(JSON.stringify(item))
    else if (typeof item !== 'object') addString(`[${typeof item}]`)
    else if (depth >= deepestField) addString(Array.isArray(item) ? '[array]' : '[object]')
    else if (Array.isArray(item)) writeMembers('[', item, item.length, depth)
    else if (ArrayBuffer.isView(item)) addString(`[${item.byteLength} bytes]`)
    else if (item instanceof Error) addString(`${item.name}: ${item.message}`)
    else if (item instanceof Date) addString(Number.isNaN(item.getTime()) ? '[date]' : item.toISOString())
    else writeMembers('{', item, Infinity, depth)
  }

  function writeMembers(open: '[' | '{', item: object, length: number, depth: number): void {
    add(open)
    let count = 0
    if (open === '[') {
      for (; count < length && isWhole; count++) {
        if (count > 0) add(',')
        write((item as readonly unknown[])[count], depth + 1)
      }
    } else {
      for (const key in item) {
        if (!isWhole) break
        if (!Object.hasOwn(item, key)) continue
        if (count++ > 0) add(',')
        addString(key)
        add(':')
        write((item as Record<string, unknown>)[key], depth + 1)
      }
    }
    add(open === '[' ? ']' : '}')
  }

  try {
    write(value, 0)
  } catch {
    return { text: '"[unreadable]"', isWhole: true } // reading the value throws
  }
  return { text, isWhole }
}
