import { copyOfJson } from './copy.ts'
import { JournalError } from '../errors.ts'
import { readText } from './json-text.ts'

/** A value that is known by its JSON text alone: it takes little room, and nobody can change it. */
export class Written {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toJSON(): unknown {
    return readText(this.#text)
  }
}

/**
 * The same as JSON, with nothing in it that others hold.
 *
 * @throws `E_JOURNAL` where it has no JSON text.
 */
export function ownJson<Value extends object>(value: Value): Value {
  try {
    return copyOfJson(value) ?? (readText(JSON.stringify(value)) as Value)
  } catch (cause) {
    throw new JournalError('The record cannot be written down: it is not plain JSON.', { cause })
  }
}
