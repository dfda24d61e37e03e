import { JournalError } from '../kernel/errors.ts'
import { copyOfJson } from '../kernel/json/copy.ts'
import { readText } from '../kernel/json/json-text.ts'

/** Returns a deep copy of a value as JSON, which shares nothing with it. Throws `E_JOURNAL` if the value has no JSON text. */
export function ownJson<Value extends object>(value: Value): Value {
  try {
    return copyOfJson(value) ?? (readText(JSON.stringify(value)) as Value)
  } catch (cause) {
    throw new JournalError('The record cannot be written down: it is not plain JSON.', { cause })
  }
}

/** Sorts the members of every object by name, as a replacer of `JSON.stringify`. Unlike canonical JSON it takes any value. */
export function sortMembers(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
