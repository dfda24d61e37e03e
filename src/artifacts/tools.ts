/**
 * Tools with which a model asks for parts of results that are too large to be shown. This leaf reads artifacts and shows a
 * little of them at a time: it changes nothing, keeps nothing, and opens no artifact of another session.
 *
 * @module
 */
import { InvalidConfigurationError, type ArtifactClass, type Extension, type Tool } from '../index.ts'
import { lineageOf } from './_classes.ts'
import { toolOf } from './_forge.ts'
import { Forges, type Forge } from './_forges.ts'
import type { QueryOptions } from './_text-queries.ts'

export interface ArtifactToolsOptions {
  /** Classes whose queries are tools from the start, beside those of the package's own text, JSON and bytes. */
  readonly classes?: readonly ArtifactClass[]
  /** The names of the tools to have, such as `artifact_grep`. Default: all. */
  readonly only?: readonly string[]
  /** Whether schemas name the artifacts of the session, and tools that fit none of them are left out. Default: `false`. */
  readonly enumerate?: boolean
  /** Bytes of UTF-8 that an answer may have. Default: 4,096; at least 1,024. */
  readonly maximumBytes?: number
  /** Lines that an answer may have, beside a word about what was left out. Default: 100. */
  readonly maximumLines?: number
  /** Milliseconds that a search may take before it says how far it came. Default: 10,000. */
  readonly searchTime?: number
  /** Counts the tokens of a piece of text. Default: a quarter of its bytes. */
  readonly estimateTokens?: (text: string) => number
}

/** Artifacts that a schema names at most, the newest. */
const mostNamed = 50
/** Sessions whose tools are kept as they are until their artifacts change. */
const mostSessions = 100

/**
 * Gives the model a tool for each question that may be asked of a result which was too large to be shown: `artifact_head`,
 * `artifact_tail`, `artifact_grep`, `artifact_cat`, `artifact_bytes`, `artifact_json_get` and so on, each taking the handle
 * from the preview as `artifact`. Answers are small, and say where to go on; they are as trusted as the artifact.
 *
 * A class of one's own brings its tools along in its `static queries`. Those in `classes` are tools from the start. Any other
 * class joins when its first artifact is kept, which changes the tools that the model is shown, once; name it in `classes` to
 * keep a provider's prompt cache, and where artifacts outlive the process. With `enumerate`, every new artifact changes them.
 *
 * Patterns need the optional peer `re2js`; plain text is found without it.
 *
 * @param options What may be asked, and how much is shown.
 * @throws `E_INVALID_CONFIGURATION` where an option is wrong or unknown, or two classes have different queries of one name.
 * @example
 * ```ts
 * import { createExecutor, TextArtifact } from 'toolwright'
 * import { artifactTools } from 'toolwright/artifacts/tools'
 *
 * class AccessLog extends TextArtifact {
 *   static override readonly kind = 'access_log'
 *   static override readonly queries = {
 *     failures: { description: 'The failed requests of an access log', answer: (log: AccessLog) => log.grep(/ 5\d\d /) },
 *   }
 * }
 * const executor = createExecutor({ use: [artifactTools({ classes: [AccessLog] })] })
 * const names = executor.list().map(({ name }) => name) // artifact_head, …, artifact_failures
 * ```
 * @experimental
 */
export function artifactTools(
  options: ArtifactToolsOptions = {},
): Extension & Required<Pick<Extension, 'tools' | 'guide'>> {
  const asking = checked(options)
  const { classes = [], only, enumerate = false } = options
  const forges = new Forges(asking, only && new Set(only))
  for (const Class of classes) forges.join(Class)
  return {
    tools: enumerate ? named(forges, asking) : unnamed(forges, asking),
    guide(shown) {
      const Class = shown.constructor as ArtifactClass
      forges.join(Class)
      return forges.guide(Class)
    },
  }
}

type Tools = Required<Extension>['tools']

/** The same tools for every session. */
function unnamed(forges: Forges, { limits }: QueryOptions): Tools {
  let made: readonly Forge[] | undefined
  let tools: readonly Tool[] = []
  return () => {
    if (made !== forges.all) {
      made = forges.all
      tools = made.map((forge) => toolOf(forge, limits))
    }
    return tools
  }
}

/** The tools that fit the artifacts of a session, whose schemas name them. */
function named(forges: Forges, { limits }: QueryOptions): Tools {
  const sessions = new Map<string, { readonly key: string; readonly tools: readonly Tool[] }>()
  return (session, shelf) => {
    const live = shelf.list(session).slice(0, mostNamed)
    for (const { Class } of live) forges.join(Class)
    const key = [forges.all.length, ...live.map(({ handle }) => handle)].join(' ')
    const former = sessions.get(session)
    const tools =
      former?.key === key
        ? former.tools
        : forges.all.flatMap((forge) => {
            const fitting = live.filter(({ Class }) => forge.fits(Class))
            return fitting.length === 0 ? [] : toolOf(forge, limits, fitting)
          })
    sessions.delete(session) // set again below, as the one that was used last
    sessions.set(session, { key, tools })
    for (const oldest of sessions.keys()) {
      if (sessions.size <= mostSessions) break
      sessions.delete(oldest)
    }
    return tools
  }
}

const known = ['classes', 'only', 'enumerate', 'maximumBytes', 'maximumLines', 'searchTime', 'estimateTokens']

function checked(options: ArtifactToolsOptions): QueryOptions {
  if (typeof options !== 'object' || options === null) throw wrong('takes an object of options')
  const stranger = Object.keys(options).find((name) => !known.includes(name))
  if (stranger !== undefined) throw wrong(`has no option "${stranger}"; its options are ${known.join(', ')}`)
  const {
    classes = [],
    only = [],
    maximumBytes = 4_096,
    maximumLines = 100,
    searchTime = 10_000,
    estimateTokens,
  } = options
  if (!Array.isArray(classes) || !classes.every((Class) => lineageOf(Class).length > 0)) {
    throw wrong('takes an array of subclasses of SpooledArtifact as `classes`')
  }
  if (!Array.isArray(only) || !only.every((name) => typeof name === 'string' && name.startsWith('artifact_'))) {
    throw wrong('takes an array of tool names as `only`, each beginning with "artifact_"')
  }
  if (!Number.isSafeInteger(maximumBytes) || maximumBytes < 1_024) {
    throw wrong('takes a whole number of at least 1,024 as `maximumBytes`')
  }
  if (!Number.isSafeInteger(maximumLines) || maximumLines < 1) {
    throw wrong('takes a whole number of at least 1 as `maximumLines`')
  }
  if (typeof searchTime !== 'number' || !(searchTime >= 0)) {
    throw wrong('takes a number of milliseconds as `searchTime`')
  }
  if (estimateTokens !== undefined && typeof estimateTokens !== 'function') {
    throw wrong('takes a function as `estimateTokens`')
  }
  return { limits: { bytes: maximumBytes, lines: maximumLines }, searchTime, estimateTokens }
}

function wrong(message: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`artifactTools\` ${message}.`)
}
