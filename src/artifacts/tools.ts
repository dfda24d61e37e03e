/**
 * Tools with which a model reads parts of results that are too large to show. They read artifacts and show a little at a time.
 * They change nothing, store nothing, and open no artifact of another session.
 *
 * @module
 */
import type { ArtifactClass, Extension, Tool } from '../index.ts'
import { booleanOption, checkOptions, functionOption, integerFrom, numberFrom } from '../extension.ts'
import { lineageOf } from './_classes.ts'
import { queryTool } from './_forge.ts'
import { Forges, type Forge } from './_forges.ts'
import type { QueryOptions } from './_text-queries.ts'

/** The options of `artifactTools`. */
export interface ArtifactToolsOptions {
  /** Classes whose queries are tools from the start, in addition to those for text, JSON and bytes. */
  readonly classes?: readonly ArtifactClass[]
  /**
   * The names of the tools to provide, such as `artifact_bytes`, or `'all'`: every definition is part of every request. Default:
   * `artifact_head`, `artifact_tail`, `artifact_cat`, `artifact_grep`, `artifact_json_get` and `artifact_json_filter`, and those of
   * your own classes.
   */
  readonly only?: 'all' | readonly string[]
  /** Whether schemas list the session's artifacts, and tools that fit none of them are left out. Default: `false`. */
  readonly enumerate?: boolean
  /** The most bytes of UTF-8 in an answer. Default: 4,096; at least 1,024. */
  readonly maximumBytes?: number
  /** The most lines in an answer, without the note about what was left out. Default: 100. */
  readonly maximumLines?: number
  /** Milliseconds after which a search stops and says at which line to go on. Default: 10,000. */
  readonly searchTime?: number
  /** Counts the tokens of a piece of text. Default: a quarter of its bytes. */
  readonly estimateTokens?: (text: string) => number
}

/** The most artifacts that a schema lists, the newest first. */
const mostNamed = 50
/** The most sessions whose tools are cached. */
const mostCachedSessions = 100

/**
 * Makes the tools with which a model reads results that were too large to show: `artifact_head`, `artifact_tail`,
 * `artifact_grep`, `artifact_cat`, `artifact_json_get` and `artifact_json_filter`, and with `only` the others. Each takes the
 * handle from the preview as `artifact`. Answers are small, say how to go on, and are as trusted as the artifact.
 *
 * Your own class declares its tools in its `static queries`. The tools of `classes` exist from the start. Any other class adds
 * its tools when its first artifact is stored, which changes the model's tool list once. Name a class in `classes` to keep a
 * provider's prompt cache, or if artifacts outlive the process. With `enumerate`, every new artifact changes the list.
 *
 * Patterns need the optional peer `re2js`. If it is not installed, `artifact_grep` says that it takes plain text, and seeks that.
 *
 * @param options The tools to provide, and the limits of their answers.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong or unknown, or two classes have different queries of one name.
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
 * const names = executor.tools().map(({ name }) => name) // artifact_head, …, artifact_failures
 * ```
 * @experimental
 */
export function artifactTools(
  options: ArtifactToolsOptions = {},
): Extension & Required<Pick<Extension, 'tools' | 'guide'>> {
  const asking = queryOptions(options)
  const { classes = [], only, enumerate = false } = options
  const forges = new Forges(asking, only === undefined || only === 'all' ? only : new Set(only))
  for (const Class of classes) forges.join(Class)
  return {
    tools: enumerate ? named(forges, asking) : unnamed(forges, asking),
    guide(spooled) {
      const Class = spooled.constructor as ArtifactClass
      forges.join(Class)
      return forges.guide(Class)
    },
  }
}

type Tools = Required<Extension>['tools']

/** Returns the same tools for every session. */
function unnamed(forges: Forges, { limits }: QueryOptions): Tools {
  let cachedForges: readonly Forge[] | undefined
  let tools: readonly Tool[] = []
  return () => {
    if (cachedForges !== forges.all) {
      tools = forges.all.map((forge) => queryTool(forge, limits))
      cachedForges = forges.all // now that all could be made
    }
    return tools
  }
}

/** Returns the tools that fit a session's artifacts. Their schemas list these artifacts. */
function named(forges: Forges, { limits }: QueryOptions): Tools {
  const sessions = new Map<string, { readonly key: string; readonly tools: readonly Tool[] }>()
  return ({ session, shelf }) => {
    const live = shelf.list(session).slice(0, mostNamed)
    for (const { Class } of live) forges.join(Class)
    const key = [forges.all.length, ...live.map(({ handle }) => handle)].join(' ')
    const former = sessions.get(session)
    const tools =
      former?.key === key
        ? former.tools
        : forges.all.flatMap((forge) => {
            const fitting = live.filter(({ Class }) => forge.fits(Class))
            return fitting.length === 0 ? [] : queryTool(forge, limits, fitting)
          })
    sessions.delete(session) // set again below, as the most recently used
    sessions.set(session, { key, tools })
    for (const oldest of sessions.keys()) {
      if (sessions.size <= mostCachedSessions) break
      sessions.delete(oldest)
    }
    return tools
  }
}

function queryOptions(options: ArtifactToolsOptions): QueryOptions {
  checkOptions('artifactTools', options, {
    classes: {
      expected: 'an array of subclasses of SpooledArtifact',
      accepts: (value) => Array.isArray(value) && value.every((Class) => lineageOf(Class).length > 0),
    },
    only: { expected: '"all" or an array of tool names, each beginning with "artifact_",', accepts: isChoice },
    enumerate: booleanOption,
    maximumBytes: integerFrom(1_024),
    maximumLines: integerFrom(1),
    searchTime: numberFrom(0),
    estimateTokens: functionOption,
  })
  const { maximumBytes = 4_096, maximumLines = 100, searchTime = 10_000, estimateTokens } = options
  return { limits: { bytes: maximumBytes, lines: maximumLines }, searchTime, estimateTokens }
}

function isChoice(only: unknown): boolean {
  const isName = (name: unknown): boolean => typeof name === 'string' && name.startsWith('artifact_')
  return only === 'all' || (Array.isArray(only) && only.every(isName))
}
