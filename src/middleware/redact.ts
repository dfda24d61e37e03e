/**
 * Masks secrets in results. This middleware finds only what its patterns describe, in text and in JSON, so it is no guarantee. It
 * does not search bytes, streams and artifacts. It does not change errors, progress, or the handler's own objects. Put known
 * secrets into the tool's `secrets`.
 *
 * @module
 */
import { json, SpooledArtifact, type Extension } from '../index.ts'
import { checkOptions, stringOption, type Middleware, type OptionCheck } from '../extension.ts'
import { isPlainValue, membersOf, plainLike } from './_plain.ts'

/** The options of `redact`. */
export interface RedactOptions {
  /** Patterns that are masked anywhere in a string. They have to be safe to run on any text. Default: `secretPatterns`. */
  readonly patterns?: readonly RegExp[]
  /** Names of members whose text is masked whole. Default: `secretNames`. */
  readonly names?: readonly RegExp[]
  /** What replaces a secret. Default: `***`. */
  readonly replacement?: string
}

// Every repetition before a secret is bounded, and every pattern begins at a fixed word or border. So the patterns run in
// linear time on any text.
const secretName =
  '(?:pass(?:word|wd|phrase)|client[_-]?secret|secret[_-]?(?:access[_-]?)?key|api[_-]?key|(?:access|refresh|auth)[_-]?token)'
const assigned = `${secretName}\\\\?["']?\\s{0,4}[=:]\\s{0,4}`

/**
 * The default patterns: passwords and keys that are assigned, and the forms of well-known credentials.
 *
 * @example
 * ```ts
 * import { redact, secretPatterns } from 'toolwright/middleware/redact'
 *
 * const middleware = redact({ patterns: [...secretPatterns, /\bcustomer-\d+\b/] }) // yours as well as the default ones
 * console.log('password=hunter2'.search(secretPatterns[0]!)) // 9
 * ```
 */
export const secretPatterns: readonly RegExp[] = [
  new RegExp(`(?<=${assigned})(?!\\\\["'])[^\\s"'&]+`, 'gi'),
  new RegExp(`(?<=${assigned}")(?!")[^"\\\\\\n]*(?:\\\\.[^"\\\\\\n]*)*`, 'gi'),
  new RegExp(`(?<=${assigned}')(?!')[^'\\\\\\n]*(?:\\\\.[^'\\\\\\n]*)*`, 'gi'),
  new RegExp(`(?<=${assigned}\\\\")[^"\\\\\\n]+`, 'gi'),
  /(?<=\bbearer\s{1,4})[\w.~+/=-]{16,}/gi,
  /(?<=\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?basic\s{1,4})[\w+/=-]+/gi,
  /(?<=:\/\/[^\s:/@]{0,64}:)[^\s/?#]{1,256}(?=@)/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bgh[oprsu]_[A-Za-z0-9]{36,}|\bgithub_pat_\w{22,}/g,
  /(?<![\w-])(?:sk|xox[abprs])-[\w-]{20,}/g,
  /(?<![\w-])AIza[\w-]{35}/g,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){1,20000}(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?/g,
]

/**
 * The names of members whose text `redact` masks whole, such as `password`, `apiKey` and `authorization`, in any case.
 *
 * @example
 * ```ts
 * import { redact, secretNames } from 'toolwright/middleware/redact'
 *
 * const middleware = redact({ names: [...secretNames, /^iban$/i] }) // yours as well as the default ones
 * console.log(secretNames.some((name) => name.test('API_KEY'))) // true
 * ```
 */
export const secretNames: readonly RegExp[] = [
  new RegExp(`^(?:${secretName}|secret|authorization|private[_-]?key)$`, 'i'),
]

/**
 * Masks secrets in results: in text, and in every string of a JSON value or of content blocks.
 *
 * If something is masked, the result is a copy; otherwise it is the handler's own object. A value that is not plain is
 * searched as the JSON that it serializes to. The middleware masks what the middleware after it in `use` returns: mount it
 * before the others, but after `truncate`, which may cut a secret so that no pattern matches the rest.
 *
 * @param options Your `patterns` replace the default ones: `patterns: [...secretPatterns, /mine/]` adds to them. Every match
 * is masked: `lastIndex` and the flags `g` and `y` of a pattern do not count.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { redact, secretPatterns } from 'toolwright/middleware/redact'
 *
 * const executor = createExecutor({ use: [redact({ patterns: [...secretPatterns, /\bcustomer-\d+\b/] })] })
 * ```
 * @experimental
 */
export function redact(options: RedactOptions = {}): Extension & { readonly middleware: readonly [Middleware] } {
  checkOptions('redact', options, { patterns: patternList, names: patternList, replacement: stringOption })
  const { replacement = '***' } = options
  const patterns = globally(options.patterns ?? secretPatterns)
  const names = globally(options.names ?? secretNames)

  function maskedText(text: string): string {
    // A function, so that `$&` in the replacement is literal.
    return patterns.reduce((rest, pattern) => rest.replace(pattern, () => replacement), text)
  }

  function maskedMember(key: string | symbol, value: unknown, done: Map<object, unknown>): unknown {
    const isSecret = typeof key === 'string' && typeof value === 'string' && names.some((each) => key.search(each) >= 0)
    return isSecret ? replacement : masked(value, done)
  }

  /** Returns the value itself if nothing in it is masked. `done` holds the results so far, so each object is walked once. */
  function masked(value: unknown, done: Map<object, unknown>): unknown {
    if (typeof value === 'string') return maskedText(value)
    if (!isObjectOrArray(value) || isEncodedOtherwise(value)) return value
    if (done.has(value)) return done.get(value)
    done.set(value, value)
    const copy = maskedObject(value, done)
    done.set(value, copy)
    return copy
  }

  function maskedObject(value: object, done: Map<object, unknown>): unknown {
    if (!hasToJSON(value)) return maskedMembers(value, done)
    const written = value.toJSON('')
    // `JSON.stringify` calls `toJSON` once: it writes the members of what that returns, even if that has a `toJSON` too.
    const copy = isObjectOrArray(written) && hasToJSON(written) ? maskedMembers(written, done) : masked(written, done)
    return Object.is(copy, written) ? value : copy
  }

  function maskedMembers(value: object, done: Map<object, unknown>): unknown {
    let isChanged = false
    const members = membersOf(value).map(([key, member]) => {
      const copy = maskedMember(key, member, done)
      isChanged ||= !Object.is(copy, member)
      return [key, copy] as const
    })
    if (!isChanged) return value
    // The copy has no `toJSON`, which would return the original again.
    const own = members.filter(([key, member]) => key !== 'toJSON' || typeof member !== 'function')
    return plainLike(isPlainValue(value) ? value : {}, own)
  }

  return {
    middleware: [
      async (_call, _context, next) => {
        const value = await next()
        const copy = masked(value, new Map())
        // The replacement of an instance is JSON, as the instance was, even if it is a string or looks like content.
        const isInstance = !Object.is(copy, value) && isObjectOrArray(value) && !isPlainValue(value)
        return isInstance ? json(copy) : copy
      },
    ],
  }
}

/** Returns whether a value is bytes, a stream or an artifact, which the kernel encodes otherwise than as JSON. */
function isEncodedOtherwise(value: object): boolean {
  return (
    ArrayBuffer.isView(value) ||
    Object.prototype.toString.call(value) === '[object ArrayBuffer]' || // of any realm
    value instanceof SpooledArtifact ||
    Symbol.asyncIterator in value ||
    typeof (value as { readonly getReader?: unknown }).getReader === 'function'
  )
}

function isObjectOrArray(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function hasToJSON(value: object): value is { toJSON(key: string): unknown } {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === 'function'
}

const patternList: OptionCheck = {
  expected: 'an array of regular expressions',
  accepts: (value) => Array.isArray(value) && value.every((pattern) => pattern instanceof RegExp),
}

/** Copies patterns, so that they match globally and share no `lastIndex` with the application's. */
function globally(patterns: readonly RegExp[]): readonly RegExp[] {
  return patterns.map(({ source, flags }) => new RegExp(source, `${flags.replace(/[gy]/g, '')}g`))
}
