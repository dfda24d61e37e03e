import { parseJson } from 'toolwright'
import { InvalidToolArgsError, UncanonicalArgsError, ToolError } from 'toolwright/errors'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseArgs, readJson } from './_inside.ts'

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 5_000)
const timeout = 600_000

function refusal(run: () => unknown): ToolError {
  try {
    run()
  } catch (error) {
    if (error instanceof ToolError) return error
    throw error
  }
  throw new Error('was not refused')
}

describe('text that is not JSON is refused with where, what was expected and what came', () => {
  test.each([
    ['{"city": "Oslo" x', 'expected "," or "}" at position 16 (line 1, column 17), found "x".'],
    ['', 'expected a value at position 0 (line 1, column 1), found the end of the text.'],
    [' \n ', 'expected a value at position 3 (line 2, column 2), found the end of the text.'],
    ['undefined', 'expected a value at position 0 (line 1, column 1), found "undefined".'],
    ['{"a": True}', 'expected a value at position 6 (line 1, column 7), found "True".'],
    ['[NaN]', 'expected a value or "]" at position 1 (line 1, column 2), found "NaN".'],
    ['[1,]', 'expected a value at position 3 (line 1, column 4), found "]".'],
    ['[1 2]', 'expected "," or "]" at position 3 (line 1, column 4), found "2".'],
    ['[', 'expected a value or "]" at position 1 (line 1, column 2), found the end of the text.'],
    ['{', 'expected a key in double quotes or "}" at position 1 (line 1, column 2), found the end of the text.'],
    ["{'a': 1}", 'expected a key in double quotes or "}" at position 1 (line 1, column 2), found "\'".'],
    ['{"a": 1,}', 'expected a key in double quotes at position 8 (line 1, column 9), found "}".'],
    ['{"a" 1}', 'expected ":" at position 5 (line 1, column 6), found "1".'],
    ['{"a": "b', 'expected a closing quote at position 8 (line 1, column 9), found the end of the text.'],
    [
      '{"a": "b\\',
      'expected one of " \\ / b f n r t u after the backslash at position 9 (line 1, column 10), found the end of the text.',
    ],
    [
      '"\\x41"',
      'expected one of " \\ / b f n r t u after the backslash at position 2 (line 1, column 3), found "x41".',
    ],
    ['"\\u12g4"', 'expected four hexadecimal digits after \\u at position 5 (line 1, column 6), found "g4".'],
    [
      '"\\u12',
      'expected four hexadecimal digits after \\u at position 5 (line 1, column 6), found the end of the text.',
    ],
    [
      '{"a":\n "x\ny"}',
      'expected a closing quote, or this character as an escape at position 9 (line 2, column 4), found "\\n".',
    ],
    ['{"a":\r\n  tru}', 'expected a value at position 9 (line 2, column 3), found "tru".'],
    ['-', 'expected a digit at position 1 (line 1, column 2), found the end of the text.'],
    ['[1.]', 'expected a digit at position 3 (line 1, column 4), found "]".'],
    ['[1e+]', 'expected a digit at position 4 (line 1, column 5), found "]".'],
    ['[.5]', 'expected a value or "]" at position 1 (line 1, column 2), found ".5".'],
    ['[01]', 'expected "," or "]" at position 2 (line 1, column 3), found "1".'],
    ['{} // done', 'expected the end of the text at position 3 (line 1, column 4), found "/".'],
    ['{}{}', 'expected the end of the text at position 2 (line 1, column 3), found "{".'],
    ['[1}', 'expected "," or "]" at position 2 (line 1, column 3), found "}".'],
    ['\u00a0{}', 'expected a value at position 0 (line 1, column 1), found "\u00a0".'],
    ['{😀}', 'expected a key in double quotes or "}" at position 1 (line 1, column 2), found "😀".'],
    ['[\ud800]', 'expected a value or "]" at position 1 (line 1, column 2), found "\\ud800".'],
  ])('%j', (text, sentence) => {
    const error = refusal(() => parseJson(text))
    expect(error.message).toBe(`The args are not valid JSON: ${sentence}`)
    expect(error.code).toBe('E_INVALID_TOOL_ARGS')
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
  })

  test('a byte order mark is not JSON', () => {
    expect(refusal(() => parseJson('\ufeff{}')).message).toBe(
      'The args are not valid JSON: expected a value at position 0 (line 1, column 1), found a byte order mark.',
    )
  })

  test('the issue holds the path as far as it was read', () => {
    const error = refusal(() => parseJson('{"a": [1, {"b": nil}]}'))
    expect(error.issues).toEqual([
      { message: 'expected a value at position 16 (line 1, column 17), found "nil".', path: ['a', 1, 'b'] },
    ])
  })

  test('the first thing that is wrong is the one that is told', () => {
    expect(refusal(() => parseJson('{"a":1,"a":2,}')).code).toBe('E_UNCANONICAL_ARGS')
    expect(refusal(() => parseJson('{"b":,"a":1,"a":2}')).code).toBe('E_INVALID_TOOL_ARGS')
  })
})

describe('text of which two readers could make two values is refused', () => {
  test.each([
    [
      '{"a":1,"b":2,"a":1}',
      ' at args.a: the key comes a second time at position 13 (line 1, column 14). Send each key once.',
    ],
    [
      '{"x":[{"a":1,\n"\\u0061":2}]}',
      ' at args.x[0].a: the key comes a second time at position 14 (line 2, column 1). Send each key once.',
    ],
    [
      '{"__proto__":1,"__proto__":2}',
      ' at args.__proto__: the key comes a second time at position 15 (line 1, column 16). Send each key once.',
    ],
    ['{"":1,"":2}', ' at args[""]: the key comes a second time at position 6 (line 1, column 7). Send each key once.'],
    [
      '{"a":"x\\ud800y"}',
      ' at args.a: there is a lone surrogate in the string at position 5 (line 1, column 6). Send whole characters.',
    ],
    [
      '["\\ud83dx\\ude00"]',
      ' at args[0]: there is a lone surrogate in the string at position 1 (line 1, column 2). Send whole characters.',
    ],
    [
      '[1,"\ud800"]',
      ' at args[1]: there is a lone surrogate in the string at position 3 (line 1, column 4). Send whole characters.',
    ],
    [
      '{"\\uDC00":1}',
      ': there is a lone surrogate in the string at position 1 (line 1, column 2). Send whole characters.',
    ],
    // The parsed string is a whole character; the text has no UTF-8, so it cannot have come as it was sent.
    [
      '"\ud83d\\ude00"',
      ': there is a lone surrogate in the string at position 0 (line 1, column 1). Send whole characters.',
    ],
    [
      '{"a":[1,1e400]}',
      ' at args.a[1]: there is a number beyond the range of a double at position 8 (line 1, column 9). Send a smaller one, or a string.',
    ],
    [
      '-1e999',
      ': there is a number beyond the range of a double at position 0 (line 1, column 1). Send a smaller one, or a string.',
    ],
  ])('%j', (text, sentence) => {
    const error = refusal(() => parseJson(text))
    expect(error.message).toBe(`The args cannot be identified${sentence}`)
    expect(error.code).toBe('E_UNCANONICAL_ARGS')
    expect(error.issues).toHaveLength(1)
  })

  test('and the same key in two objects is none', () => {
    expect(parseJson('{"a":{"a":1},"b":[{"a":1},{"a":1}]}')).toEqual({ a: { a: 1 }, b: [{ a: 1 }, { a: 1 }] })
  })

  test('and whole pairs are whole, raw or escaped', () => {
    expect(parseJson('["😀","\\ud83d\\ude00","\\\\ud800"]')).toEqual(['😀', '😀', '\\ud800'])
  })
})

const nest = (levels: number): string => '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2)

describe('depth', () => {
  test('256 levels pass, one more is refused where it opens', () => {
    expect(parseJson(nest(256))).toEqual(JSON.parse(nest(256)))
    const error = refusal(() => parseJson(`[${nest(256)}]`))
    expect(error).toBeInstanceOf(UncanonicalArgsError)
    expect(error.message).toContain(
      'there are more than 256 levels of arrays and objects at position 764 (line 1, column 765). Send a flatter value.',
    )
    expect(error.issues?.[0]?.path).toHaveLength(256)
  })

  test('a hundred thousand brackets are no danger, closed or not', () => {
    expect(refusal(() => parseJson('['.repeat(100_000))).code).toBe('E_UNCANONICAL_ARGS')
    expect(refusal(() => parseJson('['.repeat(100_000) + ']'.repeat(100_000))).code).toBe('E_UNCANONICAL_ARGS')
    expect(refusal(() => parseJson('{"a":'.repeat(50_000), { depth: Infinity })).code).toBe('E_UNCANONICAL_ARGS')
  })

  test('brackets in strings do not count, and siblings do not add up', () => {
    const text = JSON.stringify(Array.from({ length: 1_000 }, () => [{ a: '[{'.repeat(10) }]))
    expect(parseJson(text)).toEqual(JSON.parse(text))
  })

  test('it can be set', () => {
    expect(parseJson('[[]]', { depth: 2 })).toEqual([[]])
    expect(refusal(() => parseJson('[[]]', { depth: 1 })).message).toContain(
      'at args[0]: there are more than 1 levels of arrays and objects at position 1 (line 1, column 2).',
    )
  })
})

describe('size', () => {
  test.each(['"aaaa"', '"éé"', '"€€"', '"😀😀"', ' {} '])('is counted in bytes of UTF-8: %j', (text) => {
    const limit = Buffer.byteLength(text)
    expect(parseJson(text, { limit })).toEqual(JSON.parse(text))
    expect(refusal(() => parseJson(text, { limit: limit - 1 })).message).toBe(
      `The args cannot be identified: they are larger than ${limit - 1} bytes of JSON. Send less, or a reference to it.`,
    )
  })

  test('is 256 KiB unless told', () => {
    expect(parseJson(`"${'x'.repeat(262_142)}"`)).toHaveLength(262_142)
    expect(refusal(() => parseJson(`"${'x'.repeat(262_143)}"`)).code).toBe('E_UNCANONICAL_ARGS')
    expect(refusal(() => parseJson(`"${'é'.repeat(131_072)}"`)).code).toBe('E_UNCANONICAL_ARGS')
  })
})

function keysOf(value: unknown): PropertyKey[] {
  return typeof value === 'object' && value !== null ? Reflect.ownKeys(value) : []
}

describe('what comes out is plain data', () => {
  test('also where the engine mistakes an escaped key for one that it has met before', () => {
    const backslash = '{"h":[],"\\\\":0}'
    expect(keysOf(parseJson(backslash))).toEqual(['h', '\\'])
    JSON.parse(backslash)
    expect(keysOf(parseJson('{"h":1,"\\"":2}'))).toEqual(['h', '"'])
    expect(keysOf(parseJson('{"h":1,"\\n" :2}'))).toEqual(['h', '\n'])
    expect(keysOf(parseJson('{"h":1,"\\u0041\\u0042":2}'))).toEqual(['h', 'AB'])
  })

  test('with the usual prototype, and __proto__ as an own key', () => {
    const value = parseJson('{"__proto__":{"admin":true},"constructor":2,"toString":3}')
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(keysOf(value)).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.getOwnPropertyDescriptor(value, '__proto__')?.value).toEqual({ admin: true })
    expect(value).not.toHaveProperty('admin')
  })

  test('also where the prototype of all objects was polluted', () => {
    // oxlint-disable-next-line no-extend-native
    Object.defineProperty(Object.prototype, 'polluted', { value: 1, enumerable: true, configurable: true })
    let value: unknown
    let duplicate: ToolError
    try {
      value = parseJson('{"a":1,"b":{}}')
      duplicate = refusal(() => parseJson('{"a":1,"a":2}')) // as many members as the object and its prototype have
    } finally {
      delete (Object.prototype as { polluted?: unknown }).polluted
    }
    expect(value).toEqual({ a: 1, b: {} })
    expect(duplicate.message).toContain('the key comes a second time')
  })

  test.each([
    [
      'long strings that end in backslashes',
      ['x'.repeat(40) + '\\', 'x'.repeat(31) + '\\\\', '\\'.repeat(33), { a: '"'.repeat(50) }],
    ],
    ['quotes and colons in strings and keys', { '":{': '","a":1', 'a:b': '\\":' }],
    [
      'escapes at every distance',
      Array.from({ length: 80 }, (_, index) => 'x'.repeat(index) + '"\\":{' + 'y'.repeat(index)),
    ],
  ])('also with %s', (_, value) => {
    expect(parseJson(JSON.stringify(value))).toEqual(value)
  })

  test('blank text is {} as args, and only as args', () => {
    for (const text of ['', ' ', '\r\n\t ']) expect(parseArgs(text)).toEqual({})
    expect(parseArgs('[1]')).toEqual([1])
    expect(parseArgs('null')).toBeNull()
    expect(refusal(() => parseArgs('\u00a0')).code).toBe('E_INVALID_TOOL_ARGS')
    expect(refusal(() => parseArgs(' '.repeat(20), 10)).code).toBe('E_UNCANONICAL_ARGS')
    expect(refusal(() => parseArgs('{"a":1}', 6)).code).toBe('E_UNCANONICAL_ARGS')
  })
})

const stringPattern = /"(?:[^"\\]|\\[^])*"/g

/** Reads JSON with every key spelt in hexadecimal digits, which no engine gets wrong, and then renames the keys. */
function parseByRenaming(text: string): unknown {
  const spelt = text.replaceAll(stringPattern, (literal: string, at: number) => {
    if (!/^[\t\n\r ]*:/.test(text.slice(at + literal.length))) return literal
    const name: string = JSON.parse(literal)
    return `"k${Array.from({ length: name.length }, (_, index) => name.charCodeAt(index).toString(16)).join('-')}"`
  })
  return rename(JSON.parse(spelt))
}

function rename(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rename)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([spelt, member]) => {
      const codes = spelt.length > 1 ? spelt.slice(1).split('-') : []
      return [String.fromCharCode(...codes.map((code) => Number.parseInt(code, 16))), rename(member)]
    }),
  )
}

/** Judges by other means than the parser's: the strings are taken out of the text by a pattern, the result is walked. */
function isOdd(valid: string, parsed: unknown): boolean {
  const members = [...valid.matchAll(/"(?:[^"\\]|\\[^])*"(?=[\t\n\r ]*(:?))/g)].filter((match) => match[1]).length
  let found = 0
  const isBad = (part: unknown): boolean => {
    if (typeof part === 'string') return /\p{Surrogate}/u.test(part)
    if (typeof part === 'number') return !Number.isFinite(part)
    if (typeof part !== 'object' || part === null) return false
    if (!Array.isArray(part)) found += Reflect.ownKeys(part).length
    return Object.entries(part).filter(([name, inner]) => [isBad(inner), isBad(name)].includes(true)).length > 0
  }
  return [isBad(parsed), isBad(valid), found !== members].includes(true)
}

describe('random text', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    ' ',
    '\n',
    '0',
    '1',
    '-',
    '.',
    'e',
    'E',
    '+',
    'true',
    'null',
    'fals',
    '\\u',
    '\\ud83d',
    '\\ude00',
    '\ud83d',
    '\ude00',
    '\\"',
    '"a"',
    '"a":1',
    ',"a":2',
    '"\\u0061":',
    '1e400',
    '{}',
    '[]',
    '\u0001',
    'é',
    '__proto__',
  )
  const key = fc.oneof(fc.constantFrom('a', 'b', '', '__proto__', 'é'), fc.string({ unit: 'binary', maxLength: 40 }))
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom(null, true, false, 0, 1, -1.5, 1e21),
      key,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 3 }),
    ),
  }))
  const edit = fc.record({ at: fc.nat(200), remove: fc.nat(3), insert: fc.option(pieces, { nil: '' }) })
  const mutated = fc
    .tuple(value, fc.constantFrom(undefined, 1), fc.array(edit, { maxLength: 3 }))
    .map(([whole, indent, edits]) =>
      edits.reduce(
        (text, { at, remove, insert }) => {
          const place = at % (text.length + 1)
          return text.slice(0, place) + insert + text.slice(place + remove)
        },
        JSON.stringify(whole, null, indent),
      ),
    )
  const text = fc.oneof(
    { weight: 5, arbitrary: mutated },
    fc.array(pieces, { maxLength: 10 }).map((parts) => parts.join('')),
  )

  test(
    'is accepted exactly where JSON.parse accepts it and nothing in it is ambiguous',
    () => {
      const counts = { accepted: 0, invalid: 0, ambiguous: 0 }
      fc.assert(
        fc.property(text, (candidate) => {
          let expected: unknown
          let isValid = true
          try {
            JSON.parse(candidate)
            expected = parseByRenaming(candidate)
          } catch {
            isValid = false
          }
          let slow: unknown
          let slowly: unknown
          try {
            slowly = readJson(candidate, 256)
          } catch (error) {
            slow = error
          }
          try {
            const parsed = parseJson(candidate)
            counts.accepted++
            if (!isValid || slow !== undefined || isOdd(candidate, expected)) return false
            return isDeepStrictEqual(parsed, expected) && isDeepStrictEqual(slowly, expected)
          } catch (error) {
            if (!(error instanceof ToolError) || !(slow instanceof ToolError)) return false
            if (error.message !== slow.message || !/ at position \d+ \(line /.test(error.message)) return false
            if (error instanceof InvalidToolArgsError) counts.invalid++
            else counts.ambiguous++
            return isValid ? error instanceof UncanonicalArgsError && isOdd(candidate, expected) : true
          }
        }),
        { numRuns },
      )
      process.stdout.write(`parseJson: ${numRuns} texts, ${JSON.stringify(counts)}\n`)
    },
    timeout,
  )
})
