import { sha256 } from '#sha256'

const longestToolName = 64

/** A tool of another system, and what it would be called if models could call every name. */
export interface WantedName {
  /** What tells the tool from all others of its source. The hash in a changed name is made of it, so that each name stays stable. */
  readonly key: string
  readonly name: string
}

/**
 * Returns names that models can call, by the keys of the tools: 1 to 64 letters, digits, `_` and `-`. A name that is one is never
 * changed. Of names that an executor treats as equal, since they differ only by case, `-` and `_`, the later gets a hash.
 *
 * @param wanted The tools of one source. Their keys are all different.
 * @example
 * ```ts
 * import { callableNames } from 'toolwright/extension'
 *
 * const names = callableNames([{ key: 'GET /issues', name: 'issues/list' }])
 * console.log(names.get('GET /issues')) // issues_list
 * ```
 */
export function callableNames(wanted: readonly WantedName[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const spellings = new Set<string>()
  const fits = ({ key, name }: WantedName): boolean => name === callableName(name, key)
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
  if (name === '' || (clean !== name && /^_+$/.test(clean))) return hashedName('tool', key)
  return clean.length > longestToolName ? hashedName(clean, key) : clean
}

function hashedName(clean: string, key: string): string {
  return `${clean.slice(0, longestToolName - 9)}_${sha256(key).slice(0, 8)}`
}

/** Returns a form that is equal for names that a registry treats as equal. */
function spellingOf(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}
