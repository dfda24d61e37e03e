import {
  BinaryArtifact,
  InvalidConfigurationError,
  JsonArtifact,
  SpooledArtifact,
  type ArtifactClass,
  type ArtifactQuery,
} from '../index.ts'
import { byteQueries, imageQueries } from './_byte-queries.ts'
import { isKindOf, isReadable, lineageOf, ownQueries, ReadableArtifact } from './_classes.ts'
import { jsonQueries } from './_json-queries.ts'
import { textQueries, type OwnQuery, type QueryOptions } from './_text-queries.ts'

/** A question that a tool is made of, and the artifacts that it may be asked of. */
export interface Forge {
  readonly key: string
  /** Of the tool. */
  readonly name: string
  readonly query: ArtifactQuery | OwnQuery
  readonly Class: ArtifactClass
  fits(Class: ArtifactClass): boolean
}

/** What may be asked of which artifacts; it grows, and never shrinks. */
export class Forges {
  /** Another array whenever there are more. */
  all: readonly Forge[] = []
  readonly #known = new Set<object>()
  readonly #only: ReadonlySet<string> | undefined

  /** @param only The names of the tools to make. Default: all. */
  constructor(options: QueryOptions, only: ReadonlySet<string> | undefined) {
    this.#only = only
    this.#add(textQueries(options), ReadableArtifact, isReadable)
    this.#add(byteQueries(options), SpooledArtifact)
    this.#add(imageQueries, BinaryArtifact)
    this.#add(jsonQueries, JsonArtifact)
  }

  /** Adds what a class and those that it extends say may be asked of their artifacts. */
  join(Class: ArtifactClass): void {
    if (this.#known.has(Class)) return
    for (const each of lineageOf(Class).toReversed()) {
      if (this.#known.has(each)) continue
      this.#known.add(each)
      this.#add(ownQueries(each), each)
    }
  }

  /** How to go on with an artifact of a class. */
  guide(Class: ArtifactClass): string {
    const names = this.all.filter((forge) => forge.fits(Class)).map(({ name }) => name)
    const last = names.pop()
    if (last === undefined) return ''
    return `Ask ${names.length === 0 ? last : `${names.join(', ')} or ${last}`} about it.`
  }

  #add(
    queries: Readonly<Record<string, ArtifactQuery | OwnQuery>>,
    Class: ArtifactClass,
    fits = (another: ArtifactClass): boolean => isKindOf(another, Class),
  ): void {
    const more: Forge[] = []
    for (const [key, query] of Object.entries(queries)) {
      requireQuery(key, query, Class)
      const name = `artifact_${key}`
      const former = this.all.find((forge) => forge.key === key)
      if (former === undefined) {
        if (this.#only?.has(name) ?? true) more.push({ key, name, query, Class, fits })
      } else if (!former.fits(Class)) {
        throw wrong(Class, `and ${former.Class.name} have different queries of the name "${key}": rename one of them`)
      }
      // Of a class that overrides a query of one that it extends, the answer is found when it is asked.
    }
    if (more.length > 0) this.all = [...this.all, ...more]
  }
}

/** The query that answers for artifacts of a class: what the class says itself goes before what it was made of. */
export function queryFor({ key, query }: Forge, Class: ArtifactClass): ArtifactQuery | OwnQuery {
  for (const each of lineageOf(Class)) {
    const queries = ownQueries(each)
    if (Object.hasOwn(queries, key)) return queries[key] ?? query
  }
  return query
}

function requireQuery(key: string, query: unknown, Class: ArtifactClass): void {
  const { description, answer } = (query ?? {}) as Partial<ArtifactQuery>
  const what = `has the query ${JSON.stringify(key)}, but`
  if (!/^[a-zA-Z0-9_-]{1,55}$/.test(key))
    throw wrong(Class, `${what} its name is not 1 to 55 letters, digits, "_" or "-"`)
  if (typeof description !== 'string' || description.trim() === '')
    throw wrong(Class, `${what} it has no \`description\` for the model`)
  if (typeof answer !== 'function') throw wrong(Class, `${what} it has no function \`answer\``)
}

function wrong(Class: ArtifactClass, message: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`${Class.name} ${message}.`)
}
