import type { XmlElement, XmlReader } from './_read.ts'

interface OpenElement {
  readonly name: string
  readonly members: Map<string, unknown>
  /** The texts and elements in order. */
  readonly content: (string | { readonly name: string; readonly value: unknown })[]
}

/** Builds the value of a document. */
export class ElementTree implements XmlReader {
  readonly #open: OpenElement[] = [{ name: '', members: new Map(), content: [] }]

  get value(): unknown {
    return elementValue(this.#open[0]!)
  }

  open({ name, attributes }: XmlElement): void {
    const members = Object.entries(attributes).map(([key, value]): [string, unknown] => [`@${key}`, value])
    this.#open.push({ name, members: new Map(members), content: [] })
  }

  text(text: string): void {
    const { content } = this.#open.at(-1)!
    const last = content.at(-1)
    if (typeof last === 'string') content[content.length - 1] = last + text
    else content.push(text)
  }

  close(): void {
    const element = this.#open.pop()!
    this.#open.at(-1)!.content.push({ name: element.name, value: elementValue(element) })
  }
}

function elementValue({ members, content }: OpenElement): unknown {
  const parts = content.map((part) => (typeof part === 'string' ? part.trim() : part)).filter((part) => part !== '')
  const texts = parts.filter((part) => typeof part === 'string')
  if (texts.length === parts.length) {
    const [text = ''] = texts
    if (members.size === 0) return text
    if (text !== '') members.set('#text', text)
  } else if (texts.length > 0) {
    members.set(
      '#content',
      parts.map((part) => (typeof part === 'string' ? part : Object.fromEntries([[part.name, part.value]]))),
    )
  } else {
    const named = new Map<string, unknown[]>()
    for (const part of parts) {
      if (typeof part === 'string') continue
      const same = named.get(part.name)
      if (same === undefined) named.set(part.name, [part.value])
      else same.push(part.value)
    }
    for (const [name, values] of named) members.set(name, values.length === 1 ? values[0] : values)
  }
  return Object.fromEntries(members)
}
