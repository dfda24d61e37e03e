// Whether a value is as expected, and where it is not.
import { InvalidConfigurationError, isToolError } from '../errors.ts'
import { absent, hasCallable, isSchema, memberAt, partingWords, unreadableValue, type Validating } from './_words.ts'

/** One place at which a value is not as expected. */
export interface CallDifference {
  /** A JSON Pointer below the name of the field, such as `args/order`. */
  readonly path: string
  readonly expected: unknown
  readonly received: unknown
}

/** How many places are looked for: enough to tell which call is nearest. */
const mostDifferingPlaces = 100
const deepestMatch = 200

/**
 * Returns where a value is not as expected. Objects match by the own members of the expected one, arrays and scalars as a whole.
 * At any depth a function is a predicate, a RegExp tests a text, a Standard Schema validates, and a pattern of a runner matches.
 *
 * @param isExact Whether objects may have no further members.
 */
export function differencesOf(path: string, expected: unknown, received: unknown, isExact: boolean): CallDifference[] {
  const differences: CallDifference[] = []
  compare(path, expected, received, [])
  return differences

  function compare(at: string, wanted: unknown, actual: unknown, above: readonly unknown[]): void {
    if (differences.length >= mostDifferingPlaces) return
    const differ = (found: unknown): void => void differences.push({ path: at, expected: wanted, received: found })
    const matches = valueMatcher(wanted, at)
    const areObjects = isObjectValue(wanted) && isObjectValue(actual) && Array.isArray(wanted) === Array.isArray(actual)
    if (matches !== undefined || !areObjects) {
      if (!(matches === undefined ? Object.is(wanted, actual) : matches(actual))) differ(actual)
      return
    }
    // A value that contains itself is as deep as one likes, and args are not.
    if (above.includes(wanted) || above.length > deepestMatch) return differ(actual)
    try {
      compareMembers(at, wanted, actual, [...above, wanted])
    } catch (error) {
      if (isToolError(error)) throw error
      differ(unreadableValue) // its keys cannot be read
    }
  }

  function compareMembers(at: string, wanted: object, actual: object, above: readonly unknown[]): void {
    for (const key of Object.keys(wanted)) {
      const own = memberAt(wanted, key)
      if (Object.hasOwn(actual, key)) compare(pathTo(at, key), own, memberAt(actual, key), above)
      else if (own !== undefined) differences.push({ path: pathTo(at, key), expected: own, received: absent })
    }
    if (!isExact && !Array.isArray(wanted)) return
    for (const key of Object.keys(actual)) {
      if (Object.hasOwn(wanted, key)) continue
      differences.push({ path: pathTo(at, key), expected: absent, received: memberAt(actual, key) })
    }
  }
}

function isObjectValue(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function pathTo(path: string, key: string): string {
  return `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Returns how a value that is no plain value matches. What throws does not match. */
function valueMatcher(expected: unknown, path: string): ((received: unknown) => boolean) | undefined {
  if (!isObjectValue(expected) && typeof expected !== 'function') return undefined
  if (isSchema(expected)) return (received) => isValid(schemaOutcome(expected, received), path)
  if (expected instanceof RegExp) return (received) => typeof received === 'string' && patternFinds(expected, received)
  if (hasCallable(expected, 'asymmetricMatch'))
    return (received) => predicateHolds(() => expected.asymmetricMatch(received))
  if (typeof expected === 'function')
    return (received) => predicateHolds(() => (expected as (value: unknown) => unknown)(received))
  return undefined
}

/** Whether a pattern finds itself in a text, from the beginning each time. */
function patternFinds(pattern: RegExp, text: string): boolean {
  pattern.lastIndex = 0
  const isFound = pattern.test(text)
  pattern.lastIndex = 0
  return isFound
}

function predicateHolds(predicate: () => unknown): boolean {
  try {
    return Boolean(predicate())
  } catch {
    return false // such as a predicate that reads a member of what is not there
  }
}

function schemaOutcome(schema: Validating, value: unknown): unknown {
  try {
    return schema['~standard'].validate(value)
  } catch {
    return undefined
  }
}

function isValid(outcome: unknown, path: string): boolean {
  if (!hasCallable(outcome, 'then')) return isObjectValue(outcome) && memberAt(outcome, 'issues') === undefined
  outcome.then(undefined, () => {}) // what it rejects with is of no interest
  throw new InvalidConfigurationError(
    `The schema at ${path} answers with a promise. A matcher takes schemas that validate at once.`,
  )
}

/** Writes differences, one a paragraph, as their path and both values. */
export function differenceWords(differences: readonly CallDifference[]): string {
  const paragraphs = differences.slice(0, 10).map(({ path, expected, received }) => {
    const [wanted, actual] = partingWords(expected, received)
    return `  ${path}\n    - ${wanted}\n    + ${actual}`
  })
  const more = differences.length - paragraphs.length
  return [...paragraphs, ...(more > 0 ? [`  … and ${more} more`] : [])].join('\n')
}
