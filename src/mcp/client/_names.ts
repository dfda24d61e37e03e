import { sha256 } from '#sha256'

const longestToolName = 64

/** Maps a server's names to names that models can call. A name that is valid already never changes. */
export function namesFor(names: readonly string[], prefix: string | undefined): ReadonlyMap<string, string> {
  const mapped = new Map<string, string>()
  const spellings = new Set<string>()
  const fits = (name: string): boolean => withPrefix(name, prefix) === cleaned(withPrefix(name, prefix))
  for (const name of [...names.filter(fits), ...names.filter((each) => !fits(each))]) {
    const clean = cleaned(withPrefix(name, prefix))
    const isFree = clean !== '' && !spellings.has(comparedName(clean))
    const toolName = isFree ? clean : withHash(clean, name)
    spellings.add(comparedName(toolName))
    mapped.set(name, toolName)
  }
  return mapped
}

/** Returns a name with the prefix of its server. */
export function namespaced(server: string, name: string): string {
  return cleaned(withPrefix(name, server))
}

function withPrefix(name: string, prefix: string | undefined): string {
  return prefix === undefined ? name : `${prefix}_${name}`
}

function cleaned(name: string): string {
  const clean = name.replace(/[^a-zA-Z0-9_-]/g, '_')
  return clean.length > longestToolName ? withHash(clean, name) : clean
}

/** Distinguishes names that would collide, by a hash of the server's name, so that each name stays stable. */
function withHash(clean: string, name: string): string {
  return `${clean.slice(0, longestToolName - 9)}_${sha256(name).slice(0, 8)}`
}

/** Returns a form that is equal for names that a registry treats as equal. */
function comparedName(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}
