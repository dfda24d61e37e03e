import type { Mint } from '../_minting.ts'
import { byteString, encoded } from './_parameters.ts'

/** What stands in an answer in place of a credential. */
const placeholder = '[credential]'

/** Hides the credentials of a call in what comes back, in the forms in which servers repeat them. */
export class CredentialMask {
  /** All forms, the longest first, since some contain others. */
  #forms: readonly string[] = []

  /** Hides a credential from now on. @param mint What has made it. @param whole How it was sent, if more than the value was, as with a user and a password. */
  add(mint: Mint, value: string, whole?: string): void {
    let latest = latestForms.get(mint)?.deref()
    if (latest?.value !== value || latest.whole !== whole) {
      latest = { value, whole, forms: writtenForms(value, whole) }
      latestForms.set(mint, new WeakRef(latest))
    }
    this.#forms = this.#forms.length === 0 ? latest.forms : longestFirst([...this.#forms, ...latest.forms])
  }

  text(text: string): string {
    let masked = text
    for (const form of this.#forms) if (masked.includes(form)) masked = masked.replaceAll(form, placeholder)
    return masked
  }

  /** Hides the credentials in text that was cut: what one begins with may be its end, so that is left out. */
  cutText(text: string): string {
    const [longest = ''] = this.#forms
    return longest === '' ? text : this.text(text).slice(0, 1 - longest.length)
  }

  /** Hides the credentials in all texts of a JSON value. */
  value(value: unknown): unknown {
    if (this.#forms.length === 0) return value
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((each) => this.value(each))
    if (typeof value !== 'object' || value === null) return value
    const masked: Record<string, unknown> = {}
    for (const [key, each] of Object.entries(value)) {
      const own = { value: this.value(each), enumerable: true, writable: true, configurable: true }
      Object.defineProperty(masked, this.text(key), own)
    }
    return masked
  }

  /** Hides the credentials in a stream. It holds back as many bytes as the longest form has, since a piece may end within one. */
  async *stream(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    const forms = this.#forms.map((form) => byteText(new TextEncoder().encode(form)))
    if (forms.length === 0) return yield* pieces
    const pattern = new RegExp(forms.map((form) => form.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('|'), 'g')
    const longest = Math.max(...forms.map((form) => form.length))
    let rest: Uint8Array = new Uint8Array()
    for await (const piece of pieces) {
      const [clean, left] = this.#cleaned(joined(rest, piece), pattern, longest - 1)
      rest = left
      if (clean.byteLength > 0) yield clean
    }
    const [clean] = this.#cleaned(rest, pattern, 0)
    if (clean.byteLength > 0) yield clean
  }

  /** Returns bytes without credentials, and the last ones, in which one could begin. */
  #cleaned(bytes: Uint8Array, pattern: RegExp, window: number): readonly [Uint8Array, Uint8Array] {
    const text = byteText(bytes)
    const clean: Uint8Array[] = []
    let from = 0
    for (const match of text.matchAll(pattern)) {
      clean.push(bytes.subarray(from, match.index), new TextEncoder().encode(placeholder))
      from = match.index + match[0].length
    }
    const end = Math.max(from, bytes.byteLength - window)
    clean.push(bytes.subarray(from, end))
    return [joined(...clean), bytes.slice(end)]
  }
}

/** Returns text with one character for each byte, so that places in it are places in the bytes. */
function byteText(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes)
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.byteLength
  }
  return all
}

/** The forms of a credential. */
interface MintedForms {
  readonly value: string
  readonly whole: string | undefined
  readonly forms: readonly string[]
}

/** The forms of what each made last: most make the same again. They are held weakly, so that no secret lives longer for them. */
const latestForms = new WeakMap<Mint, WeakRef<MintedForms>>()

function writtenForms(value: string, whole: string | undefined): string[] {
  const basic = whole === undefined ? [] : [btoa(byteString(whole))]
  // Headers lose the spaces around a value.
  const trimmed = value.trim() === value ? [] : credentialForms(value.trim())
  const forms = [...credentialForms(value), ...trimmed, ...basic]
  return longestFirst(forms.filter((form) => form.length >= 8))
}

function longestFirst(forms: readonly string[]): string[] {
  return [...new Set(forms)].toSorted((one, other) => other.length - one.length)
}

/** Returns the forms in which a value may come back. */
function credentialForms(value: string): string[] {
  const bytes = byteString(value)
  let hex = ''
  for (let at = 0; at < bytes.length; at++) hex += hexOfBytes[bytes.charCodeAt(at)]!
  // Within a longer text base64 has three alignments: of each, only what depends on the value alone is looked for.
  const aligned = [0, 1, 2].map((shift) => {
    const text = btoa('\0'.repeat(shift) + bytes)
    const padding = text.indexOf('=')
    return text.slice(shift === 0 ? 0 : shift + 1, padding < 0 ? undefined : padding - 1)
  })
  const others = aligned
    .filter((form) => /[+/]/.test(form))
    .flatMap((form) => [form.replaceAll('+', '-').replaceAll('/', '_'), encoded(form)])
  // Most tokens are written in the same way everywhere.
  const escaped = /^[\w.~-]*$/.test(value) ? [] : escapedForms(value, bytes)
  // A host comes back in small letters.
  return [value, value.toLowerCase(), hex, hex.toUpperCase(), ...aligned, ...others, ...escaped]
}

const hexOfBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Returns the forms of a value that has characters which are escaped somewhere. */
function escapedForms(value: string, inHeader: string): string[] {
  const json = JSON.stringify(value).slice(1, -1)
  const html = json.replace(/[<>&+'=/]/g, escapedUnit)
  // The body of a request may come back as a text within JSON.
  const jsons = [
    JSON.stringify(json).slice(1, -1),
    json,
    json.replaceAll('/', '\\/'),
    json.replace(/[<>&]/g, escapedUnit),
  ]
  const wellFormed = value.toWellFormed()
  const strict = encoded(value)
  const percent = [encodeURIComponent(wellFormed), encodeURI(wellFormed), strict, strict.replaceAll('%20', '+')]
  const lower = percent.map((form) => form.replace(/%[0-9A-F]{2}/g, (each) => each.toLowerCase()))
  const pages = entities.map((names) => value.replace(/[&<>"'+=/`]/g, (character) => names[character] ?? character))
  return [inHeader, ...jsons, ...pages, html, html.replace(/\\u[0-9a-f]{4}/g, upperUnit), ...percent, ...lower]
}

/** How pages of HTML write these characters: of most languages, of Python, of Go, and of Mustache. */
const namedEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const entities = [
  namedEntities,
  { ...namedEntities, "'": '&#x27;' },
  { ...namedEntities, '"': '&#34;', '+': '&#43;' },
  { ...namedEntities, '/': '&#x2F;', '=': '&#x3D;', '`': '&#x60;' },
]

function escapedUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function upperUnit(unit: string): string {
  return `\\u${unit.slice(2).toUpperCase()}`
}
