// ES2024: every supported engine has it, but not every TypeScript library does.
const wellFormed: (this: string) => boolean = Reflect.get(String.prototype, 'isWellFormed')

/** Whether a string has no lone surrogates, so that UTF-8 can hold it. */
export function isWellFormed(value: string): boolean {
  return wellFormed.call(value)
}

const encoder = new TextEncoder()
let scratch: Uint8Array | undefined

/** Counts the bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  return text.length > 256 ? countedByEngine(text) : counted(text)
}

/** Whether a text has more bytes in UTF-8 than a limit. It is counted only if its length leaves that open. */
export function isLonger(text: string, limit: number): boolean {
  const { length } = text
  return length > limit || (length * 3 > limit && utf8Length(text) > limit)
}

/** Encoding into a buffer that exists already is the engine's fastest way to count. */
function countedByEngine(text: string): number {
  scratch ??= new Uint8Array(32_768)
  let bytes = 0
  for (let at = 0; at < text.length;) {
    const { read, written } = encoder.encodeInto(at === 0 ? text : text.slice(at), scratch)
    at += read
    bytes += written
  }
  return bytes
}

function counted(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code >= 0xd800 && code <= 0xdfff) return countedByEngine(text)
    if (code >= 0x80) bytes += code >= 0x800 ? 2 : 1
  }
  return bytes
}

/** Returns the keys that a JSON Pointer names, from the root on. */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Writes a path as an expression of code: `args.items[3].when`. */
export function pathText(path: readonly (PropertyKey | undefined)[], root = 'args'): string {
  let text = root
  for (const key of path) {
    if (text.length > 160) return text + '…'
    if (typeof key === 'number') text += `[${key}]`
    else if (/^[\p{ID_Start}$_][\p{ID_Continue}$]{0,63}$/u.test(String(key))) text += `.${String(key)}`
    else text += `[${JSON.stringify(String(key).slice(0, 64))}]`
  }
  return text
}
