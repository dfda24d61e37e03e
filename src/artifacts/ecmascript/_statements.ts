import type { AnyNode, Function, Options, Token } from 'acorn'
import { ArtifactError } from '../../errors.ts'
import type { WorkPace } from '../_pace.ts'

export type Acorn = typeof import('acorn')
export type StatementGenerator = Generator<AnyNode, void, undefined>

/** The most characters that are parsed at once, without the bodies that are left out: the event loop waits meanwhile. */
const longestParse = 32_768
/** The fewest characters of a body that is left out. */
const shortestBody = 512
/** How many such bodies may be in one another. */
const deepestBodies = 100
/** The words after which the parser looks at what follows, more than once. */
const looksAhead: ReadonlySet<unknown> = new Set(['let', 'async', 'using', 'await'])

/** What a parser of the package has for its plugins. */
interface ParserInternals {
  readonly type: unknown
  readonly start: number
  pos: number
  strict: boolean
  scopeStack: readonly unknown[]
  nextToken(): void
  unexpected(): never
  parseStatement(context: null, isTopLevel: boolean, exports: undefined): AnyNode
  parseFunctionBody(node: Function, ...more: unknown[]): void
}

interface TokenReader {
  new (options: Options, text: string): { pos: number; readRegexp(): unknown }
  tokenizer(text: string, options: Options): Iterable<Token & { readonly value?: unknown }>
}

/** The statements of a text. Long functions have empty bodies, whose statements are read later. */
export interface StatementSource {
  readonly all: StatementGenerator
  /** Returns the statements of a body that was left out. */
  bodyOf(node: AnyNode): StatementGenerator | undefined
}

/** Reads statements one after another, so that the caller can pause between them. @param braces As `bracesOf` returns them. */
export function statementSource(
  acorn: Acorn,
  text: string,
  sourceType: 'module' | 'script',
  braces: ReadonlyMap<number, number>,
): StatementSource {
  const bodies = new WeakMap<object, () => StatementGenerator>()
  class Reader extends (acorn.Parser as unknown as new (
    options: Options,
    text: string,
    start: number,
  ) => ParserInternals) {
    /** Where the statement would begin that is parsed, if it had no bodies that are left out. */
    #from = 0
    #depth = 0;

    *statements(end?: number): StatementGenerator {
      this.#from = this.pos
      this.nextToken()
      while (end === undefined ? this.type !== acorn.tokTypes.eof : this.start < end) {
        this.#from = this.start
        yield this.parseStatement(null, end === undefined, undefined)
      }
      if (end !== undefined && this.start !== end) this.unexpected()
    }

    override nextToken(): void {
      if (this.start - this.#from > longestParse) throw tooLongToParse('A statement without the functions in it')
      super.nextToken()
    }

    override parseFunctionBody(node: Function, ...more: unknown[]): void {
      const [start, end] = [this.pos, braces.get(this.start)]
      if (end === undefined) return super.parseFunctionBody(node, ...more)
      const { strict, scopeStack } = this
      const [depth, scopes] = [this.#depth + 1, [...scopeStack]]
      if (depth > deepestBodies) throw new ArtifactError(`Functions are nested more than ${deepestBodies} deep.`)
      this.pos = end // as if the body were empty
      this.#from += end - start
      super.parseFunctionBody(node, ...more)
      bodies.set(node.body, () => {
        const reader = new Reader(options, text, start)
        reader.#depth = depth
        reader.strict ||= strict
        reader.scopeStack = scopes
        return reader.statements(end)
      })
    }

    // The parser compares each name with all others of its scope, and checks patterns in more than linear time. Neither
    // changes the outline.
    declareName(): void {}
    checkLocalExport(): void {}
    validateRegExpPattern(): void {}
  }
  const options = {
    ecmaVersion: 'latest',
    sourceType,
    allowReturnOutsideFunction: true,
    checkPrivateFields: false,
  } as const
  return { all: new Reader(options, text, 0).statements(), bodyOf: (node) => bodies.get(node)?.() }
}

/**
 * Returns where the braces end that are long enough for a body, by where they begin. What is not valid ends the search.
 *
 * @throws `E_ARTIFACT` if a pattern or the space after a word is too long to be read at once.
 */
export async function bracesOf(acorn: Acorn, text: string, pace: WorkPace): Promise<Map<number, number>> {
  const { tokTypes } = acorn
  const braces = new Map<number, number>()
  const open: number[] = []
  let wordEnd = Infinity
  try {
    for (const { type, start, end, value } of parserTokens(acorn, text)) {
      if (start - wordEnd > longestParse) throw tooLongToParse('The space between two words')
      wordEnd = looksAhead.has(value) ? end : Infinity
      if (type === tokTypes.braceL || type === tokTypes.dollarBraceL) open.push(start)
      else if (type === tokTypes.braceR) {
        const from = open.pop()
        if (from !== undefined && end - from >= shortestBody) braces.set(from, start)
      }
      if (pace.isDue(500)) await pace.pause()
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error // the parser says what is wrong
  }
  return braces
}

function parserTokens({ Parser }: Acorn, text: string): ReturnType<TokenReader['tokenizer']> {
  class Tokens extends (Parser as unknown as TokenReader) {
    override readRegexp(): unknown {
      const rest = text.slice(this.pos, this.pos + longestParse)
      if (rest.length === longestParse && !/^(?:[^\\/[]|\\.|\[(?:[^\]\\]|\\.)*\])*\//.test(rest))
        throw tooLongToParse('A pattern')
      return super.readRegexp()
    }
    validateRegExpPattern(): void {}
  }
  return Tokens.tokenizer(text, { ecmaVersion: 'latest' })
}

function tooLongToParse(what: string): ArtifactError {
  return new ArtifactError(
    `${what} has more than ${longestParse.toLocaleString('en')} characters, too many to parse. Ask about the lines of the artifact instead.`,
  )
}
