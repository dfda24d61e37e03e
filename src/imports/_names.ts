import { sha256 } from '#sha256'

const longestOperationName = 64

/** An operation, and what it would be called if every name were possible. */
export interface WantedName {
  /** What tells the operation from all others. The hash of a changed name is made of it. */
  readonly key: string
  readonly name: string
}

/**
 * Returns the name of a tool for each operation, in names that models can call. A name that fits is never changed; of names that
 * differ only by case, `-` and `_`, the later gets a hash.
 */
export function operationNames(wanted: readonly WantedName[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const spellings = new Set<string>()
  const fits = ({ name }: WantedName): boolean => name === callableName(name, '')
  for (const { key, name } of [...wanted.filter(fits), ...wanted.filter((each) => !fits(each))]) {
    const clean = callableName(name, key)
    const callable = spellings.has(spellingOf(clean)) ? hashedName(clean, key) : clean
    spellings.add(spellingOf(callable))
    names.set(key, callable)
  }
  return names
}

function callableName(name: string, key: string): string {
  const clean = name.replace(/[^a-zA-Z0-9_-]+/g, '_')
  const short = clean.replace(/^_+$/, '')
  return short === '' || short.length > longestOperationName ? hashedName(short, key) : short
}

function hashedName(clean: string, key: string): string {
  const start = clean.slice(0, longestOperationName - 9)
  return `${start === '' ? 'operation' : start}_${sha256(key).slice(0, 8)}`
}

/** Returns a form that is equal for names that a registry treats as equal. */
function spellingOf(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}
