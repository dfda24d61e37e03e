import { sha256 } from '#sha256'

const longest = 64

/** Names that models can call, for the names of a server: a name that fits stays as it is, whoever else wants it. */
export function namesFor(names: readonly string[], prefix: string | undefined): ReadonlyMap<string, string> {
  const mapped = new Map<string, string>()
  const spellings = new Set<string>()
  const fits = (name: string): boolean => withPrefix(name, prefix) === cleaned(withPrefix(name, prefix))
  for (const name of [...names.filter(fits), ...names.filter((each) => !fits(each))]) {
    const clean = cleaned(withPrefix(name, prefix))
    const isFree = clean !== '' && !spellings.has(spelling(clean))
    const given = isFree ? clean : marked(clean, name)
    spellings.add(spelling(given))
    mapped.set(name, given)
  }
  return mapped
}

/** A name in the namespace of its server. */
export function namespaced(server: string, name: string): string {
  return cleaned(withPrefix(name, server))
}

function withPrefix(name: string, prefix: string | undefined): string {
  return prefix === undefined ? name : `${prefix}_${name}`
}

function cleaned(name: string): string {
  const clean = name.replace(/[^a-zA-Z0-9_-]/g, '_')
  return clean.length > longest ? marked(clean, name) : clean
}

/** Names that would be the same are told apart by what they were made of, so that each stays what it is. */
function marked(clean: string, name: string): string {
  return `${clean.slice(0, longest - 9)}_${sha256(name).slice(0, 8)}`
}

/** The one form under which names that a registry takes for the same are the same. */
function spelling(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}
