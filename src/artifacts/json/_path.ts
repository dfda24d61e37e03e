import { ArtifactError } from '../../errors.ts'
import { PathText } from './_path-text.ts'

/** A parsed JSONPath. */
export interface Path {
  readonly segments: readonly Segment[]
  /** Whether a filter refers to the whole document (`$`). */
  readonly looksAtRoot: boolean
  /** The patterns of `match` and `search`, translated for the engine. */
  readonly patterns: ReadonlySet<string>
}

export interface Segment {
  readonly isDescendant: boolean
  readonly selectors: readonly Selector[]
}

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly start?: number; readonly end?: number; readonly step: number }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'filter'; readonly test: Test }

export type Test =
  | { readonly kind: 'or' | 'and'; readonly tests: readonly Test[] }
  | { readonly kind: 'not'; readonly test: Test }
  | { readonly kind: 'exists'; readonly query: Query }
  | Matching
  | { readonly kind: 'compare'; readonly operator: string; readonly left: Operand; readonly right: Operand }

/** A call of `match` or `search`. */
export interface Matching {
  readonly kind: 'matches'
  readonly text: Operand
  readonly pattern: string
}

export type Operand =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'query'; readonly query: Query }
  | { readonly kind: 'length'; readonly of: Operand }
  | { readonly kind: 'count' | 'value'; readonly query: Query }

export interface Query {
  readonly isAbsolute: boolean
  readonly segments: readonly Segment[]
  /** Whether it selects at most one value. */
  readonly isSingular: boolean
}

export const longestPath = 2_000
const deepestQuery = 32

const memberName = /[A-Za-z_\u0080-\ud7ff\ue000-\u{10ffff}][\dA-Za-z_\u0080-\ud7ff\ue000-\u{10ffff}]*/uy
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const word = /[a-z][a-z_\d]*/y
const operator = /==|!=|<=|>=|<|>/y

/**
 * Parses a JSONPath.
 *
 * @throws `E_ARTIFACT` if the text is not a JSONPath, with the character of the error.
 * @see https://www.rfc-editor.org/rfc/rfc9535
 */
export function readPath(text: string): Path {
  if (text.length > longestPath) throw new ArtifactError(`The JSONPath is longer than ${longestPath} characters.`)
  return new PathReader(new PathText(text)).path()
}

class PathReader {
  readonly #text: PathText
  readonly #patterns = new Set<string>()
  #depth = 0
  #looksAtRoot = false

  constructor(text: PathText) {
    this.#text = text
  }

  path(): Path {
    if (!this.#text.skip('$')) throw this.#text.wrong('it must begin with "$"')
    const segments = this.#segments()
    if (this.#text.next !== '') {
      throw this.#text.wrong('a segment was expected, such as ".name", "[0]" or "[?@.price < 10]"')
    }
    return { segments, looksAtRoot: this.#looksAtRoot, patterns: this.#patterns }
  }

  #segments(): Segment[] {
    const segments: Segment[] = []
    for (;;) {
      const segment = this.#text.afterBlank(() => this.#segment())
      if (segment === undefined) return segments
      segments.push(segment)
    }
  }

  #segment(): Segment | undefined {
    const isDescendant = this.#text.skip('..')
    if (this.#text.skip('[')) return { isDescendant, selectors: this.#selectors() }
    return isDescendant || this.#text.skip('.') ? { isDescendant, selectors: [this.#shorthand()] } : undefined
  }

  #shorthand(): Selector {
    if (this.#text.skip('*')) return { kind: 'wildcard' }
    const name = this.#text.take(memberName)
    if (name !== undefined) return { kind: 'name', name }
    throw this.#text.wrong('a name or "*" was expected; other names are written as in ["two words"]')
  }

  #selectors(): Selector[] {
    const selectors = this.#list(() => this.#selector())
    this.#text.expect(']')
    return selectors
  }

  #list<Item>(read: () => Item): Item[] {
    const items: Item[] = []
    do {
      this.#text.skipBlank()
      items.push(read())
      this.#text.skipBlank()
    } while (this.#text.skip(','))
    return items
  }

  #selector(): Selector {
    if (this.#text.isQuote) return { kind: 'name', name: this.#text.string() }
    if (this.#text.skip('*')) return { kind: 'wildcard' }
    if (this.#text.skip('?')) {
      this.#text.skipBlank()
      return { kind: 'filter', test: this.#deeper(() => this.#or()) }
    }
    const start = this.#text.integer()
    const slice = this.#text.afterBlank(() => (this.#text.skip(':') ? this.#slice(start) : undefined))
    if (slice !== undefined) return slice
    if (start !== undefined) return { kind: 'index', index: start }
    throw this.#text.wrong('a name in quotes, an index, a slice, "*" or a filter was expected')
  }

  #slice(start: number | undefined): Selector {
    this.#text.skipBlank()
    const end = this.#text.integer()
    const step = this.#text.afterBlank(() => {
      if (!this.#text.skip(':')) return undefined
      return this.#text.afterBlank(() => this.#text.integer()) ?? 1
    })
    return {
      kind: 'slice',
      ...(start === undefined ? undefined : { start }),
      ...(end === undefined ? undefined : { end }),
      step: step ?? 1,
    }
  }

  #or(): Test {
    return this.#chain('or', '||', () => this.#chain('and', '&&', () => this.#basic()))
  }

  #chain(kind: 'or' | 'and', separator: string, read: () => Test): Test {
    const first = read()
    const tests = [first]
    const further = (): Test | undefined => {
      if (!this.#text.skip(separator)) return undefined
      this.#text.skipBlank()
      return read()
    }
    for (;;) {
      const next = this.#text.afterBlank(further)
      if (next === undefined) return tests.length === 1 ? first : { kind, tests }
      tests.push(next)
    }
  }

  #basic(): Test {
    if (this.#text.skip('!')) {
      this.#text.skipBlank()
      return { kind: 'not', test: this.#text.next === '(' ? this.#basic() : this.#alone(this.#operand()) }
    }
    if (this.#text.skip('(')) {
      this.#text.skipBlank()
      const test = this.#deeper(() => this.#or())
      this.#text.skipBlank()
      this.#text.expect(')')
      return test
    }
    const left = this.#operand()
    const compared = this.#text.afterBlank(() => this.#text.take(operator))
    if (compared === undefined) return this.#alone(left)
    this.#text.skipBlank()
    const right = this.#operand()
    return { kind: 'compare', operator: compared, left: this.#single(left), right: this.#single(right) }
  }

  /** Returns an operand that is a condition without a comparison, or throws. */
  #alone(operand: Operand | Matching): Test {
    if (operand.kind === 'matches') return operand
    if (operand.kind === 'query') return { kind: 'exists', query: operand.query }
    throw this.#text.wrong('a value alone is not a condition: compare it with something')
  }

  /** Returns an operand that has at most one value, or throws. */
  #single(operand: Operand | Matching): Operand {
    if (operand.kind === 'matches') {
      throw this.#text.wrong('match() and search() are conditions by themselves, and cannot be compared')
    }
    if (operand.kind !== 'query' || operand.query.isSingular) return operand
    throw this.#text.wrong('only a query that gives one value can be compared, such as @.name or @[0]')
  }

  #operand(): Operand | Matching {
    if (this.#text.isQuote) return { kind: 'literal', value: this.#text.string() }
    if (this.#text.next === '@' || this.#text.next === '$') return { kind: 'query', query: this.#query() }
    const digits = this.#text.take(numberPattern)
    if (digits !== undefined) return { kind: 'literal', value: Number(digits) }
    const name = this.#text.take(word)
    switch (name) {
      case undefined:
        throw this.#text.wrong('a value was expected: @, $, text in quotes, a number, true, false, null or a function')
      case 'true':
      case 'false':
        return { kind: 'literal', value: name === 'true' }
      case 'null':
        return { kind: 'literal', value: null }
      default:
        return this.#deeper(() => this.#call(name))
    }
  }

  #call(name: string): Operand | Matching {
    if (!['length', 'count', 'value', 'match', 'search'].includes(name)) {
      throw this.#text.wrong(`there is no function ${name}(): there are length, count, value, match and search`)
    }
    this.#text.expect('(')
    const [first, second, ...others] = this.#list(() => this.#operand())
    this.#text.expect(')')
    const isMatching = name === 'match' || name === 'search'
    if (first === undefined || isMatching !== (second !== undefined) || others.length > 0) {
      throw this.#text.wrong(`${name}() takes ${isMatching ? 'two arguments' : 'one argument'}`)
    }
    if (name === 'length') return { kind: 'length', of: this.#single(first) }
    if (name === 'count' || name === 'value') {
      if (first.kind === 'query') return { kind: name, query: first.query }
      throw this.#text.wrong(`${name}() takes a query, such as @.*`)
    }
    if (second?.kind !== 'literal' || typeof second.value !== 'string') {
      throw this.#text.wrong(`${name}() takes a pattern that is written out in quotes`)
    }
    const pattern = name === 'match' ? `^(?:${dotted(second.value)})$` : dotted(second.value)
    this.#patterns.add(pattern)
    return { kind: 'matches', text: this.#single(first), pattern }
  }

  #query(): Query {
    const isAbsolute = this.#text.skip('$')
    if (isAbsolute) this.#looksAtRoot = true
    else this.#text.expect('@')
    const segments = this.#segments()
    const isSingular = segments.every(
      ({ isDescendant, selectors: [first, second] }) =>
        !isDescendant && second === undefined && (first?.kind === 'name' || first?.kind === 'index'),
    )
    return { isAbsolute, segments, isSingular }
  }

  #deeper<Result>(read: () => Result): Result {
    if (++this.#depth > deepestQuery) throw this.#text.wrong(`it is nested deeper than ${deepestQuery} levels`)
    const result = read()
    this.#depth--
    return result
  }
}

/** Replaces dots as RFC 9485 defines them: a dot matches no line end. */
function dotted(pattern: string): string {
  return pattern.replace(/\\[^]|\[(?:\\[^]|[^\]\\])*\]?|\./g, (part) => (part === '.' ? '[^\\n\\r]' : part))
}
