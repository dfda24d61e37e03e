import { copyOfJson } from './copy.ts'
import { JournalError } from '../errors.ts'
import { readText } from './json-text.ts'

/** Stores a value as JSON text: immutable and compact. */
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
 * Returns a deep copy of a value as JSON, which shares nothing with it.
 *
 * @throws `E_JOURNAL` if the value has no JSON text.
 */
export function ownJson<Value extends object>(value: Value): Value {
  try {
    return copyOfJson(value) ?? (readText(JSON.stringify(value)) as Value)
  } catch (cause) {
    throw new JournalError('The record cannot be written down: it is not plain JSON.', { cause })
  }
}
