import * as fastCheck from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, test, vi } from 'vitest'

import { jsonSchema } from '../../../validators/json-schema.ts'
import { linearPattern } from '../../../validators/json-schema/_linear-pattern.ts'

const runs = Number(process.env['FUZZ_RUNS'] ?? 3_000)
const patience = 30_000 + runs * 20

const accepts = async (pattern: string, text: string): Promise<boolean> =>
  (await jsonSchema({ pattern }, { origin: 'wire' })['~standard'].validate(text)).issues === undefined

function matchesLinearly(pattern: string, text: string): boolean {
  return RE2JS.compile(linearPattern(pattern).source).test(text)
}

describe('patterns of strangers run in linear time', () => {
  test('a catastrophic pattern is answered', async () => {
    expect(await accepts('^(x+x+)+y$', 'x'.repeat(100_000))).toBe(false)
    expect(await accepts('^(?:a|a|aa)+$', `${'a'.repeat(100_000)}b`)).toBe(false)
    expect(await accepts('^([a-z]+)*$', `${'a'.repeat(10_000)}!`)).toBe(false)
  })

  test('the first answer may take a promise, later ones do not', async () => {
    const { validate } = jsonSchema({ pattern: '^a+$' }, { origin: 'wire' })['~standard']
    expect(await validate('aaa')).toEqual({ value: 'aaa' })
    expect(validate('b')).toEqual({ issues: [{ message: 'must match the pattern "^a+$", got "b"', path: [] }] })
  })

  test('without the package the error says what to install', async () => {
    vi.resetModules()
    vi.doMock('re2js', () => {
      throw new Error('not there')
    })
    const door = await import('../../../validators/json-schema.ts')
    const schema = door.jsonSchema({ pattern: 'a' }, { origin: 'wire' })
    await expect(schema['~standard'].validate('a')).rejects.toMatchObject({
      code: 'E_SCHEMA_CONVERSION',
      message: expect.stringContaining('npm install re2js'),
    })
    vi.doUnmock('re2js')
  })

  test('a schema without patterns needs no engine', () => {
    const { validate } = jsonSchema({ type: 'string' }, { origin: 'wire' })['~standard']
    expect(validate('x')).toEqual({ value: 'x' })
  })

  test('the names in patternProperties are matched the same way', async () => {
    const schema = jsonSchema({ patternProperties: { '^(a+)+$': { type: 'integer' } } }, { origin: 'wire' })
    const result = await schema['~standard'].validate({ [`${'a'.repeat(50)}!`]: 'x', aa: 'y' })
    expect(result.issues).toEqual([{ message: 'must be integer, got string "y"', path: ['aa'] }])
  })

  test('long texts cost what the pattern may cost, and too much is refused', async () => {
    const schema = jsonSchema({ pattern: '(?:a?){250}a{250}' }, { origin: 'wire' })
    const result = await schema['~standard'].validate('a'.repeat(200_000))
    expect(result.issues).toEqual([{ message: 'cannot be checked: more than 2000000 steps', path: [] }])
    expect(await accepts('^[a-z ]+$', 'a'.repeat(250_000))).toBe(true)
  })

  test.each([
    ['a lookahead', '^(?=a)b'],
    ['a negative lookahead', '^(?!a)b'],
    ['a lookbehind', '(?<=a)b'],
    ['a negative lookbehind', '(?<!a)b'],
    ['a reference to a group', '(a)\\1'],
    ['a reference to a named group', '(?<x>a)\\k<x>'],
    ['repeats that are too many', '(?:a?){1000}a{1000}'],
    ['one repeat that is too large', 'a{1001}'],
    ['repeats that multiply', '(?:a{40}){40}'],
    ['repeats that nest deeply', '((((((a{9}){9}){9}){9}){9}){9}){9}'],
    ['a pattern that is too long', 'a'.repeat(2_001)],
    ['half a surrogate pair', '\\ud800'],
    ['half a surrogate pair in a class', '[\\udc00-\\udfff]'],
    ['a script by its extensions', '\\p{Script_Extensions=Greek}'],
    ['a property that the engine does not know', '\\p{ID_Start}'],
    ['something that is no pattern', '('],
    ['an escape that is none', '\\-'],
  ])('%s makes the schema unusable at once', (_title, pattern) => {
    expect(() => jsonSchema({ pattern }, { origin: 'wire' })).toThrow(
      expect.objectContaining({ code: 'E_SCHEMA_CONVERSION', message: expect.stringContaining('#/pattern') }),
    )
  })

  test('the author of a schema of his own may use all of it', () => {
    expect(jsonSchema({ pattern: '^(?=a)(.)\\1$' })['~standard'].validate('aa')).toEqual({ value: 'aa' })
  })
})

/** V8 looks for `\\B` between the halves of a surrogate pair too, where the standard does not. */
function isMistakenByNative(pattern: string, text: string): boolean {
  return pattern.includes('\\B') && /[\ud800-\udfff]/.test(text)
}

describe('a pattern means the same to both engines', () => {
  const texts = [
    ['', 'a', 'b', 'A', '0', '9', '_', '-', '/', '.', '\\', ']', '[', '^', '$', 'é', 'ß', 'λ', 'Ж', '漢', '😀', '🏽'],
    ['\n', '\r', '\r\n', '\t', '\v', '\f', '\0', '\b', '\u0001', '\u001a', '\u007f', '\u0085', '\u00a0', '\u1680'],
    ['\u2003', '\u2028', '\u2029', '\u202f', '\u3000', '\ufeff', '\u200b', '\u{10ffff}', '\ufffd', '٣', 'Ⅷ', '½'],
    [
      'ab',
      'ba',
      'aab',
      'a\nb',
      '\na',
      'a\n',
      'a b',
      'a-b',
      'a😀b',
      '12',
      'aaa',
      'aaaa',
      'abab',
      'x{1}',
      'p{L}',
      'A\u0300',
    ],
  ].flat()
  test.each([
    ['^$', 'a$', '^a', '^a$', '$^', '(?:^|b)a(?:$|b)', '', '|a', '(?:)', '()', '(|a)+$'],
    ['.', '^.$', '^..$', '^.*$', 'a.b', '[^]', '^[^]$', '[]', 'a[]', '^[^\\n]$'],
    ['\\d', '\\D', '^\\d+$', '^\\D+$', '\\w', '\\W', '^\\w$', '^\\W$', '\\s', '\\S', '^\\s$', '^\\S$'],
    [
      '[\\d]',
      '[^\\d]',
      '^[\\D]$',
      '^[^\\D]$',
      '^[\\w-]$',
      '^[^\\w\\s]$',
      '^[\\S]$',
      '^[^\\S]$',
      '^[\\s\\S]$',
      '^[\\W\\d]$',
    ],
    ['\\b', '\\B', '\\ba', 'a\\b', 'a\\Bb', '^\\b.', '[\\b]', '^[\\b-\\n]$'],
    ['\\t', '\\n', '\\v', '\\f', '\\r', '\\0', '\\cA', '\\cz', '[\\cA-\\cZ]', '\\x41', '\\x7f', '[\\x00-\\x1f]'],
    [
      '\\u0041',
      '\\u00e9',
      '\\u{1F600}',
      '\\ud83d\\ude00',
      '^[\\ud83d\\ude00-\\ud83d\\ude4f]$',
      '^[\\u{0}-\\u{10FFFF}]$',
      '😀',
      '[😀]',
    ],
    [
      '\\/',
      '\\.',
      '\\\\',
      '\\[',
      '\\]',
      '\\^',
      '\\$',
      '\\{1\\}',
      '\\|',
      '\\(\\)',
      '[\\]\\\\]',
      '[\\-a]',
      '[a-]',
      '[-a]',
      '[.^$|]',
      '[a^]',
    ],
    [
      'a*',
      '^a*$',
      '^a+$',
      '^a?$',
      '^a{2}$',
      '^a{2,}$',
      '^a{2,3}$',
      '^a{0}$',
      '^a*?$',
      '^a+?b',
      '^a??$',
      '^a{2,3}?$',
      '^(?:a{1,2}){2}$',
    ],
    [
      'a|b',
      '^a|b$',
      '^(?:a|b)+$',
      '^(ab)+$',
      '^(?<name>ab)+$',
      '^((a)|(b))$',
      '^(?:a*)*$',
      '^(?:a|)+b$',
      '(?:\\ba|b)*$',
    ],
    [
      '\\p{L}',
      '\\P{L}',
      '^\\p{Lu}$',
      '\\p{Letter}',
      '\\p{gc=Nd}',
      '\\p{General_Category=Number}',
      '\\p{Script=Greek}',
      '\\p{sc=Han}',
    ],
    [
      '^[\\p{L}\\d]$',
      '^[^\\p{L}]$',
      '^[\\P{L}]$',
      '^[\\p{ASCII}]$',
      '^\\P{ASCII}$',
      '\\p{Any}',
      '\\p{Alphabetic}',
      '\\p{Emoji}',
      '\\p{M}',
    ],
    [
      '^[[:alpha:]$',
      '[[]',
      '[a&&b]',
      '^[--/]$',
      '^[!-~]$',
      '[(?:)]',
      '^[*+?]$',
      'a-b',
      '\\p{White_Space}',
      '\\p{Lowercase}',
    ],
  ])('%s and the like', (...patterns) => {
    for (const pattern of patterns) {
      const native = new RegExp(pattern, 'u')
      for (const text of texts) {
        if (isMistakenByNative(pattern, text)) continue
        expect([pattern, text, matchesLinearly(pattern, text)]).toEqual([pattern, text, native.test(text)])
      }
    }
  })

  test('whatever is accepted is understood by the engine, and answered alike', { timeout: patience }, () => {
    const piece = fastCheck.constantFrom(
      ...[
        [
          'a',
          'b',
          '0',
          ' ',
          '-',
          '😀',
          'é',
          '^',
          '$',
          '.',
          '\\d',
          '\\D',
          '\\w',
          '\\W',
          '\\s',
          '\\S',
          '\\b',
          '\\B',
          '|',
          '(',
          ')',
        ],
        [
          '(?:',
          '(?<n>',
          '[',
          ']',
          '[^',
          '*',
          '+',
          '?',
          '{2}',
          '{1,3}',
          '{0,}',
          '*?',
          '\\n',
          '\\x61',
          '\\u{61}',
          '\\u00e9',
          '\\p{L}',
        ],
        ['\\P{L}', 'a-z', '\\-', '\\]', '\\/', '\\cJ', '\\0', '(?=', '\\1', ',', '{', '}', '\n', '\u2028'],
      ].flat(),
    )
    const text = fastCheck.string({
      unit: fastCheck.constantFrom(...Array.from('ab0 -é😀_\n\u2028\r\u00a0A]')),
      maxLength: 8,
    })
    let compared = 0
    fastCheck.assert(
      fastCheck.property(
        fastCheck.array(piece, { maxLength: 8 }),
        fastCheck.array(text, { minLength: 4, maxLength: 4 }),
        (pieces, samples) => {
          const pattern = pieces.join('')
          let source: string
          try {
            source = linearPattern(pattern).source
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxError)
            return
          }
          const [linear, native] = [RE2JS.compile(source), new RegExp(pattern, 'u')]
          for (const sample of samples) {
            if (isMistakenByNative(pattern, sample)) continue
            compared++
            expect([pattern, sample, linear.test(sample)]).toEqual([pattern, sample, native.test(sample)])
          }
        },
      ),
      { numRuns: runs },
    )
    expect(compared).toBeGreaterThan(runs / 6)
  })
})
