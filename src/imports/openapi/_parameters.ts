import { ToolFailure } from '../../index.ts'
import { isNode } from './_document.ts'

/** How a value is written into a request. */
export interface Serialization {
  readonly name: string
  readonly style?: string | undefined
  readonly explode?: boolean | undefined
  readonly allowReserved?: boolean | undefined
}

/** Percent-encodes all but the unreserved characters of RFC 3986. */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  })
}

/** Returns one character for each byte of UTF-8. */
export function byteString(text: string): string {
  if (/^[ -~]*$/.test(text)) return text
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('')
}

let areHeadersText: boolean | undefined

/**
 * Returns what `Headers` take for a text so that its UTF-8 is sent: by the standard one character for each byte. workerd takes any text,
 * and writes its UTF-8 by itself.
 */
export function headerValue(text: string): string {
  if (/^[\t -~]*$/.test(text)) return text
  areHeadersText ??= takesText()
  return areHeadersText ? text.toWellFormed() : byteString(text)
}

function takesText(): boolean {
  try {
    return new Headers({ a: '\u20ac' }).get('a') === '\u20ac'
  } catch {
    return false
  }
}

/** Percent-encodes what may stand nowhere in a URL. What has a meaning in one stays, but for what ends a value or a query. */
function encodedButReserved(text: string): string {
  return encodeURI(text.toWellFormed())
    .replace(/%5[BD]/gi, decodeURIComponent)
    .replace(/[#&+]/g, encodeURIComponent)
}

/** Returns the text of a value: of a text the text itself, of an object its JSON. */
export function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Returns a value without what is null in it. A URL, a header and a form cannot say null: it is left out, as RFC 6570 does. */
export function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((each) => each !== null)
  if (!isNode(value)) return value ?? undefined
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
}

/** Returns the texts of a value: of a list its items, of an object its keys, each with its value. */
function flatTexts(value: unknown): string[] {
  if (isNode(value)) return Object.entries(value).flatMap(([key, each]) => [key, textOfValue(each)])
  return Array.isArray(value) ? value.map(textOfValue) : [textOfValue(value)]
}

/** Writes a value into a path. */
export function pathValueText(
  { name, style = 'simple', explode = false }: Serialization,
  value: unknown,
  byComma: boolean,
): string {
  const flat = flatTexts(value).map(encoded)
  const isExplodedObject = explode && isNode(value)
  const exploded = isExplodedObject ? queryPairs({ name }, value) : flat
  if (flat.length === 0) return ''
  if (style === 'label') return `.${exploded.join(explode || !byComma ? '.' : ',')}`
  if (style !== 'matrix') return exploded.join(',')
  if (isExplodedObject) return `;${exploded.join(';')}`
  const prefix = `;${encoded(name)}=`
  return prefix + flat.join(explode && Array.isArray(value) ? prefix : ',')
}

/**
 * Writes a value into a query, as pairs. An empty list has none.
 *
 * @param isReserved Whether a key is none of this value: an object may not fill in what the application sets. Default: none is.
 * @throws `ToolFailure` if the value has such a key.
 */
export function queryPairs(
  serialization: Serialization,
  value: unknown,
  isReserved: (key: string) => boolean = () => false,
): string[] {
  const { name, style = 'form', explode = style === 'form', allowReserved = false } = serialization
  const encode = allowReserved ? encodedButReserved : encoded
  const key = encoded(name)
  if (style === 'deepObject') return deepPairs(key, value, encode)
  if (Array.isArray(value)) {
    if (value.length === 0) return []
    if (explode) return value.map((each) => `${key}=${encode(textOfValue(each))}`)
    const separator = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '%7C' : ','
    return [`${key}=${value.map((each) => encode(textOfValue(each))).join(separator)}`]
  }
  if (isNode(value) && explode) {
    return Object.entries(value).flatMap(([each, item]) => {
      if (isReserved(each)) throw invalidArgument(`\`${name}\` may not have \`${each}\`, which is set elsewhere`)
      const items: readonly unknown[] = Array.isArray(item) ? item : [item]
      return items.map((one) => `${encoded(each)}=${encode(textOfValue(one))}`)
    })
  }
  const texts = flatTexts(value)
  return texts.length === 0 ? [] : [`${key}=${texts.map(encode).join(',')}`]
}

/** Writes a value as pairs whose keys lead to its parts: `a[b]=1`, and of a list `a[0]=1`. */
function deepPairs(key: string, value: unknown, encode: (text: string) => string): string[] {
  if (typeof value !== 'object' || value === null) return [`${key}=${encode(textOfValue(value))}`]
  return Object.entries(withoutNull(value) as object).flatMap(([name, item]) =>
    deepPairs(`${key}%5B${encoded(name)}%5D`, item, encode),
  )
}

/** Writes a value into a header, as `Headers` take it. */
export function headerText({ name, explode = false }: Serialization, value: unknown): string {
  const texts =
    explode && isNode(value)
      ? Object.entries(value).map(([key, each]) => `${key}=${textOfValue(each)}`)
      : flatTexts(value)
  const text = texts.join(',')
  // oxlint-disable-next-line eslint/no-control-regex -- these end a header, or no header has them
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(text))
    throw invalidArgument(`\`${name}\` is a header, and takes no ends of lines and no other control characters`)
  return headerValue(text.trim())
}

/** Writes a value as one segment of a path. Refuses what would lead elsewhere: no encoding keeps dot segments apart. */
export function pathSegment(serialization: Serialization, value: unknown, byComma: boolean): string {
  const text = pathValueText(serialization, value, byComma)
  const isEmpty = text === '' || value === '' || (Array.isArray(value) && value.length === 0)
  if (isEmpty) throw invalidArgument(`\`${serialization.name}\` is part of the path, and may not be empty`)
  if (hasDots(textOfValue(value)) || hasDots(text)) {
    throw invalidArgument(`\`${serialization.name}\` is part of the path, and may not have a segment "." or ".."`)
  }
  return text
}

/** Whether a text has a dot segment, however often it is encoded. */
function hasDots(text: string): boolean {
  if (!/[.%]/.test(text)) return false
  let plain = text
  for (let round = 0; round < 3; round++) {
    if (plain.split(/[/\\]/).some((segment) => segment === '.' || segment === '..')) return true
    plain = plain.replace(/%(2e|2f|5c)/gi, (one) => decodeURIComponent(one)).replace(/%25/g, '%')
  }
  return false
}

/** Makes the failure for args that fit their schema, and that no request can have. */
export function invalidArgument(words: string): ToolFailure {
  return new ToolFailure(`${words}. The request was not sent.`, { effect: 'none', category: 'validation' })
}
