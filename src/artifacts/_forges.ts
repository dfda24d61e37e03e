import { BinaryArtifact, JsonArtifact, SpooledArtifact, type ArtifactClass, type ArtifactQuery } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import { byteQueries, imageQueries } from './_byte-queries.ts'
import { isKindOf, hasLines, lineageOf, ownQueries, ReadableArtifact } from './_classes.ts'
import { jsonQueries } from './_json-queries.ts'
import { textQueries, type OwnQuery, type QueryOptions } from './_text-queries.ts'

/** A query to make a tool of, and the artifacts that it fits. */
export interface Forge {
  readonly key: string
  /** The name of the tool. */
  readonly name: string
  readonly query: ArtifactQuery | OwnQuery
  readonly Class: ArtifactClass
  fits(Class: ArtifactClass): boolean
}

/** The tools that most reading needs. Every definition is part of every request. */
const usualTools: ReadonlySet<string> = new Set(
  ['head', 'tail', 'cat', 'grep', 'json_get', 'json_filter'].map((key) => `artifact_${key}`),
)

/** All queries and the artifacts that they fit. It grows and never shrinks. */
export class Forges {
  /** A new array after each addition, so that its identity shows changes. */
  all: readonly Forge[] = []
  readonly #known = new Set<object>()
  #only: ReadonlySet<string> | 'all'

  /** @param only The names of the tools to make. Default: the usual ones, and all of the application's own classes. */
  constructor(options: QueryOptions, only: ReadonlySet<string> | 'all' | undefined) {
    this.#only = only ?? usualTools
    this.#add(textQueries(options), ReadableArtifact, hasLines)
    this.#add(byteQueries(options), SpooledArtifact)
    this.#add(imageQueries, BinaryArtifact)
    this.#add(jsonQueries, JsonArtifact)
    this.#only = only ?? 'all'
  }

  /** Adds the queries of a class and of its base classes. */
  join(Class: ArtifactClass): void {
    if (this.#known.has(Class)) return
    for (const each of lineageOf(Class).toReversed()) {
      if (this.#known.has(each)) continue
      this.#known.add(each)
      this.#add(ownQueries(each), each)
    }
  }

  /** Returns the hint at the end of a preview: the tools that fit artifacts of a class. */
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
    if (Object(queries) !== queries || Symbol.iterator in queries)
      throw wrongQueries(Class, 'has `queries` that are no object')
    for (const [key, query] of Object.entries(queries)) {
      requireQuery(key, query, Class)
      const name = `artifact_${key}`
      const former = this.all.find((forge) => forge.key === key)
      if (former === undefined) {
        if (this.#only === 'all' || this.#only.has(name)) more.push({ key, name, query, Class, fits })
      } else if (!former.fits(Class)) {
        throw wrongQueries(
          Class,
          `and ${former.Class.name} have different queries of the name "${key}": rename one of them`,
        )
      }
      // A class may override a query of its base class: `queryFor` finds the answer at call time.
    }
    if (more.length > 0) this.all = [...this.all, ...more]
  }
}

/** Returns the query for artifacts of a class. A query of the class itself overrides that of its base class. */
export function queryFor({ key, query }: Forge, Class: ArtifactClass): ArtifactQuery | OwnQuery {
  for (const each of lineageOf(Class)) {
    const queries = ownQueries(each)
    if (Object.hasOwn(queries, key)) return queries[key] ?? query
  }
  return query
}

function requireQuery(key: string, query: unknown, Class: ArtifactClass): void {
  const fault = faultOf(key, query ?? {})
  if (fault !== '') throw wrongQueries(Class, `has the query ${JSON.stringify(key)}, but ${fault}`)
}

function faultOf(key: string, { description, inputSchema = {}, answer }: Partial<ArtifactQuery>): string {
  if (!/^[a-zA-Z0-9_-]{1,55}$/.test(key)) return 'its name is not 1 to 55 letters, digits, "_" or "-"'
  if (typeof description !== 'string' || !description.trim()) return 'it has no `description`'
  if (Object(inputSchema) !== inputSchema) return 'its `inputSchema` is none'
  return typeof answer === 'function' ? '' : 'it has no function `answer`'
}

function wrongQueries(Class: ArtifactClass, message: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`${Class.name} ${message}.`)
}
