/** A pattern for an engine of the RE2 family, with the size of its program. */
export interface LinearPattern {
  readonly source: string
  /** The approximate number of instructions. Counted repeats are expanded. */
  readonly size: number
}

/** The maximum length of a pattern, in UTF-16 code units. */
const longestPattern = 2_000
/** The maximum number of instructions. */
const largestSize = 2_000
/** The maximum repeats of one atom, with nested repeats multiplied. The engine has the same limit. */
const mostRepeats = 1_000

const lastCodePoint = 0x10ffff

type Range = readonly [first: number, last: number]

const digits: readonly Range[] = [[48, 57]]
const wordCharacters: readonly Range[] = [...digits, [65, 90], [95, 95], [97, 122]]
const lineEnds: readonly Range[] = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
]
const spaces: readonly Range[] = [
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]
const escapedSets: Readonly<Record<string, readonly Range[]>> = {
  d: digits,
  D: complement(digits),
  w: wordCharacters,
  W: complement(wordCharacters),
  s: spaces,
  S: complement(spaces),
}
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, '0': 0 }

// The engine supports only the short names of categories.
const categories = new Map(
  (
    'L Letter,Lu Uppercase_Letter,Ll Lowercase_Letter,Lt Titlecase_Letter,LC Cased_Letter,Lm Modifier_Letter,' +
    'Lo Other_Letter,M Mark,M Combining_Mark,Mn Nonspacing_Mark,Mc Spacing_Mark,Me Enclosing_Mark,N Number,' +
    'Nd Decimal_Number,Nd digit,Nl Letter_Number,No Other_Number,P Punctuation,P punct,Pc Connector_Punctuation,' +
    'Pd Dash_Punctuation,Ps Open_Punctuation,Pe Close_Punctuation,Pi Initial_Punctuation,Pf Final_Punctuation,' +
    'Po Other_Punctuation,S Symbol,Sm Math_Symbol,Sc Currency_Symbol,Sk Modifier_Symbol,So Other_Symbol,' +
    'Z Separator,Zs Space_Separator,Zl Line_Separator,Zp Paragraph_Separator,C Other,Cc Control,Cc cntrl,' +
    'Cf Format,Cs Surrogate,Co Private_Use,Cn Unassigned'
  )
    .split(',')
    .flatMap((pair) => {
      const [short = '', long = ''] = pair.split(' ')
      return [
        [short, short],
        [long, short],
      ] as const
    }),
)
const scripts = new Set(
  (
    'Arabic Armenian Bengali Bopomofo Braille Cherokee Common Coptic Cyrillic Devanagari Ethiopic Georgian Greek ' +
    'Gujarati Gurmukhi Han Hangul Hebrew Hiragana Inherited Kannada Katakana Khmer Lao Latin Malayalam Mongolian ' +
    'Myanmar Oriya Runic Sinhala Syriac Tamil Telugu Thaana Thai Tibetan'
  ).split(' '),
)
const binaryProperties = new Set(['Any', 'Assigned', 'Alphabetic', 'Lowercase', 'Uppercase', 'White_Space', 'Emoji'])

/**
 * Translates an ECMA-262 pattern (with the flag `u`) to the syntax of RE2. Both match exactly the same texts.
 * Groups no longer capture and quantifiers are never lazy. Neither affects whether a text matches.
 *
 * @throws SyntaxError if the pattern is invalid, is too large, or cannot be matched in linear time.
 */
export function linearPattern(pattern: string): LinearPattern {
  if (pattern.length > longestPattern) throw new SyntaxError(`it has more than ${longestPattern} characters`)
  // The platform checks the syntax. The code below relies on it.
  void new RegExp(pattern, 'u')
  const { source, size } = new Translation(pattern).alternatives()
  return { source, size }
}

/** A part of the pattern, with its largest product of nested repeats. */
interface Piece extends LinearPattern {
  readonly repeats: number
}

class Translation {
  readonly #characters: readonly string[]
  #position = 0

  constructor(pattern: string) {
    // One entry for each code point: with the flag `u`, a surrogate pair is one character.
    this.#characters = Array.from(pattern)
  }

  alternatives(): Piece {
    const sources: string[] = []
    let size = 0
    let repeats = 1
    do {
      const alternative = this.#sequence()
      sources.push(alternative.source)
      size += alternative.size + 1
      repeats = Math.max(repeats, alternative.repeats)
    } while (this.#take('|'))
    return { source: sources.join('|'), size, repeats }
  }

  #sequence(): Piece {
    let source = ''
    let size = 0
    let repeats = 1
    while (this.#position < this.#characters.length && !this.#isAt('|') && !this.#isAt(')')) {
      const piece = this.#quantified(this.#atom())
      source += piece.source
      size += piece.size
      repeats = Math.max(repeats, piece.repeats)
      if (size > largestSize || repeats > mostRepeats) {
        throw new SyntaxError('it repeats too much: counted repeats are limited, also when multiplied')
      }
    }
    return { source, size, repeats }
  }

  #quantified(piece: Piece): Piece {
    const [least, most, text] = this.#quantifier()
    if (text === '') return piece
    this.#take('?')
    const isOpen = most === Infinity
    const times = isOpen ? Math.max(least, 1) : most
    return {
      source: piece.source + text,
      size: piece.size * times + (isOpen ? 1 : most - least),
      repeats: piece.repeats * Math.max(times, 1),
    }
  }

  #quantifier(): [least: number, most: number, text: string] {
    if (this.#take('*')) return [0, Infinity, '*']
    if (this.#take('+')) return [1, Infinity, '+']
    if (this.#take('?')) return [0, 1, '?']
    if (!this.#take('{')) return [1, 1, '']
    const text = this.#until('}')
    const [least = '', most] = text.split(',')
    const from = Number(least)
    const to = most === undefined ? from : most === '' ? Infinity : Number(most)
    return [from, to, to === Infinity ? `{${from},}` : `{${from},${to}}`]
  }

  #atom(): Piece {
    const character = this.#next()
    switch (character) {
      case '^':
        return one('\\A')
      case '$':
        return one('\\z')
      case '.':
        return one(set(complement(lineEnds)))
      case '(':
        return this.#group()
      case '[':
        return one(this.#class())
      case '\\':
        return this.#escape()
      default:
        return one(literal(character))
    }
  }

  #group(): Piece {
    if (this.#take('?') && !this.#take(':')) {
      if (!this.#take('<') || this.#isAt('=') || this.#isAt('!')) {
        throw new SyntaxError('lookarounds and modifiers cannot be decided in linear time')
      }
      this.#until('>')
    }
    const inner = this.alternatives()
    this.#take(')')
    return { ...inner, source: `(?:${inner.source})` }
  }

  #escape(): Piece {
    const character = this.#next()
    if (character === 'b' || character === 'B') return one(`\\${character}`)
    if (character === 'k' || /[1-9]/.test(character)) {
      throw new SyntaxError('references to groups cannot be decided in linear time')
    }
    if (Object.hasOwn(escapedSets, character)) return one(set(escapedSets[character]!))
    if (character === 'p' || character === 'P') return one(`[${this.#property(character)}]`)
    return one(literal(String.fromCodePoint(this.#codePoint(character))))
  }

  #class(): string {
    const isNegated = this.#take('^')
    let content = ''
    while (!this.#take(']')) content += this.#classMember()
    // RE2 has no empty class, so it becomes the complement of all characters.
    if (content === '') return `[${isNegated ? '' : '^'}${ranges([[0, lastCodePoint]])}]`
    return `[${isNegated ? '^' : ''}${content}]`
  }

  #classMember(): string {
    const first = this.#classAtom()
    if (typeof first === 'string') return first
    if (!this.#isAt('-') || this.#characters[this.#position + 1] === ']') return ranges([[first, first]])
    this.#next()
    return ranges([[first, this.#classAtom() as number]])
  }

  /** Returns the code point of a single character, or the source of a set of characters. */
  #classAtom(): number | string {
    const character = this.#next()
    if (character !== '\\') return codePointOf(character)
    const escaped = this.#next()
    if (Object.hasOwn(escapedSets, escaped)) return ranges(escapedSets[escaped]!)
    if (escaped === 'p' || escaped === 'P') return this.#property(escaped)
    return escaped === 'b' ? 8 : this.#codePoint(escaped)
  }

  #property(letter: string): string {
    this.#take('{')
    const text = this.#until('}')
    const [name = '', value] = text.split('=')
    if (value === undefined && name === 'ASCII') {
      const ascii: Range = [0, 127]
      return ranges(letter === 'p' ? [ascii] : complement([ascii]))
    }
    const isCategory = value === undefined || name === 'gc' || name === 'General_Category'
    const category = isCategory ? categories.get(value ?? name) : undefined
    if (category !== undefined) return `\\${letter}{${category}}`
    if (value === undefined && binaryProperties.has(name)) return `\\${letter}{${name}}`
    if (value !== undefined && (name === 'sc' || name === 'Script') && scripts.has(value))
      return `\\${letter}{${value}}`
    throw new SyntaxError(`the property ${text} is not supported`)
  }

  /** Returns the code point of an escape, given the character after the backslash. */
  #codePoint(character: string): number {
    if (Object.hasOwn(controls, character)) return controls[character]!
    if (character === 'c') return codePointOf(this.#next()) % 32
    if (character === 'x') return this.#hexadecimal(2)
    if (character !== 'u') return codePointOf(character)
    if (this.#take('{')) return notSurrogate(Number.parseInt(this.#until('}'), 16))
    const unit = this.#hexadecimal(4)
    if (unit < 0xd800 || unit > 0xdbff || !this.#isAt('\\') || this.#characters[this.#position + 1] !== 'u') {
      return notSurrogate(unit)
    }
    this.#position += 2
    const second = this.#isAt('{') ? 0 : this.#hexadecimal(4)
    if (second < 0xdc00 || second > 0xdfff) return notSurrogate(unit)
    return (unit - 0xd800) * 0x400 + (second - 0xdc00) + 0x10000
  }

  #hexadecimal(length: number): number {
    const text = this.#characters.slice(this.#position, this.#position + length).join('')
    this.#position += length
    return Number.parseInt(text, 16)
  }

  #isAt(character: string): boolean {
    return this.#characters[this.#position] === character
  }

  #take(character: string): boolean {
    if (!this.#isAt(character)) return false
    this.#position++
    return true
  }

  #next(): string {
    return this.#characters[this.#position++]!
  }

  #until(end: string): string {
    const start = this.#position
    while (!this.#isAt(end)) this.#position++
    return this.#characters.slice(start, this.#position++).join('')
  }
}

function one(source: string): Piece {
  return { source, size: 1, repeats: 1 }
}

function literal(character: string): string {
  return /^[0-9A-Za-z]$/.test(character) ? character : hexadecimal(codePointOf(character))
}

function codePointOf(character: string): number {
  return notSurrogate(character.codePointAt(0)!)
}

/** Throws on a lone surrogate, because the engine has no such character. */
function notSurrogate(codePoint: number): number {
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) throw new SyntaxError('lone surrogates are not supported')
  return codePoint
}

function hexadecimal(codePoint: number): string {
  return `\\x{${codePoint.toString(16)}}`
}

function ranges(list: readonly Range[]): string {
  return list.map(([first, last]) => `${hexadecimal(first)}-${hexadecimal(last)}`).join('')
}

function set(list: readonly Range[]): string {
  return `[${ranges(list)}]`
}

/** Returns the complement of sorted ranges. */
function complement(list: readonly Range[]): readonly Range[] {
  const rest: Range[] = []
  let next = 0
  for (const [first, last] of list) {
    if (first > next) rest.push([next, first - 1])
    next = last + 1
  }
  return [...rest, [next, lastCodePoint]]
}
