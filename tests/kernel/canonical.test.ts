import { canonicalize, computeCallId, parseJson } from 'toolwright'
import { UncanonicalArgsError } from 'toolwright/errors'
import { isDeepStrictEqual } from 'node:util'
import { runInNewContext } from 'node:vm'
import peer from 'canonicalize'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import vectors from '../portable/call-ids.json' with { type: 'json' }
import { callIdOf, parseArgs } from './_inside.ts'

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 3_000)
const timeout = 600_000

function refusal(run: () => unknown): UncanonicalArgsError {
  try {
    run()
  } catch (error) {
    if (error instanceof UncanonicalArgsError) return error
    throw error
  }
  throw new Error('was not refused')
}

describe('canonical text is that of RFC 8785', () => {
  test('for the sample of section 3.2.2', () => {
    const text = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`
    expect(canonicalize(JSON.parse(text))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
        String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  test('for the order of keys of section 3.2.3: UTF-16 code units, not code points', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    }
    expect(Object.values(JSON.parse(canonicalize(value).replace('"1"', '"one"')))).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ])
  })

  test.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('for the number %s of appendix B', (bits, text) => {
    expect(canonicalize(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text)
  })

  test.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])(
    'which has none for %s of appendix B',
    (bits) => {
      expect(refusal(() => canonicalize(Buffer.from(bits, 'hex').readDoubleBE())).code).toBe('E_UNCANONICAL_ARGS')
    },
  )

  test('for integer-like keys, which engines keep in numeric order', () => {
    expect(canonicalize({ 10: 'a', 9: 'b', '01': 'c', '': 'd' })).toBe('{"":"d","01":"c","10":"a","9":"b"}')
  })

  test.each([2, 24, 25, 26, 200])('for %i keys that a dictionary would order in another way', (count) => {
    const words = ['B', 'a', 'Z', 'é', 'z', '_', 'A', '1', '\ue000', '\u{1f600}']
    const keys = Array.from({ length: count }, (_, index) => `${words[index % words.length]}${index}`)
    const text = canonicalize(Object.fromEntries(keys.map((key) => [key, 0])))
    const members = keys.toSorted((a, b) => (a < b ? -1 : 1)).map((key) => `${JSON.stringify(key)}:0`)
    expect(text).toBe(`{${members.join()}}`)
  })

  test('for objects of many keys in any order', () => {
    const keys = Array.from({ length: 200 }, (_, index) => String((index * 7919) % 1000))
    const text = canonicalize(Object.fromEntries(keys.map((key) => [key, null])))
    expect(text).toBe(
      `{${keys
        .toSorted()
        .map((key) => `"${key}":null`)
        .join()}}`,
    )
  })

  test('for more names than are remembered, and for names of any length', () => {
    for (let round = 0; round < 3; round++) {
      for (let index = 0; index < 2_500; index++) {
        const [long, short] = ['k'.repeat(index % 130) + index, `"${index}`]
        expect(canonicalize({ [long]: 1, [short]: 2 })).toBe(peer({ [long]: 1, [short]: 2 }))
      }
    }
  })

  test('for every character of the first plane, in short and in long strings', () => {
    for (let code = 0; code < 0x1_0000; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const short = String.fromCharCode(code)
      const long = 'x'.repeat(40) + short
      if (canonicalize(short) !== JSON.stringify(short)) throw new Error(`U+${code.toString(16)}`)
      if (canonicalize(long) !== JSON.stringify(long)) throw new Error(`U+${code.toString(16)}`)
    }
  })

  test(
    'as the canonicalize package writes it, whatever the value',
    () => {
      fc.assert(
        fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => canonicalize(value) === peer(value)),
        { numRuns },
      )
    },
    timeout,
  )
})

describe('what JSON leaves out', () => {
  test('drops out of objects and becomes null in arrays', () => {
    // oxlint-disable-next-line no-sparse-arrays
    expect(canonicalize({ a: undefined, b: [undefined, , 1], c: {} })).toBe('{"b":[null,null,1],"c":{}}')
  })

  test('is ignored where it is a symbol key, not enumerable, inherited, or a name on an array', () => {
    const value: Record<PropertyKey, unknown> = { a: 1, [Symbol('s')]: 2 }
    Object.defineProperty(value, 'hidden', { value: 3 })
    const array = Object.assign([1], { name: 'x' })
    expect(canonicalize([value, array])).toBe('[{"a":1},[1]]')
  })

  test('does not include __proto__, constructor and prototype: as own keys they are data', () => {
    const text = '{"__proto__":{"admin":true},"constructor":1,"prototype":2}'
    expect(canonicalize(JSON.parse(text))).toBe(text)
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
  })
})

describe('plain objects', () => {
  test('may have no prototype, or be of another realm', () => {
    expect(canonicalize(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}')
    expect(canonicalize(runInNewContext('({ b: [1], a: { c: null } })'))).toBe('{"a":{"c":null},"b":[1]}')
  })

  test('may be the same twice, as long as none holds itself', () => {
    const shared = { a: 1 }
    expect(canonicalize([shared, shared, { shared }])).toBe('[{"a":1},{"a":1},{"shared":{"a":1}}]')
  })

  test('are read once: a getter cannot show one value to the hash and another to a second look', () => {
    let reads = 0
    const value = {
      get a() {
        return ++reads
      },
    }
    expect(canonicalize({ inner: [value] })).toBe('{"inner":[{"a":1}]}')
    expect(reads).toBe(1)
  })

  test('may have a getter that canonicalises something itself', () => {
    const value = {
      get a() {
        return canonicalize({ z: 1, y: [2] })
      },
      b: 3,
    }
    expect(canonicalize(value)).toBe('{"a":"{\\"y\\":[2],\\"z\\":1}","b":3}')
  })
})

class Invoice {
  total = 1
}
function Orphan(): void {}
Orphan.prototype = Object.assign(Object.create(null), { constructor: Orphan })

const nameless = Object.create({ constructor: null })

describe('what is not JSON is refused with its place and with what to do', () => {
  const cases: [string, unknown, string][] = [
    ['a Date', new Date(0), 'a Date is not JSON. Pass its toISOString()'],
    ['a Map', new Map(), 'a Map is not JSON. Pass Object.fromEntries(map)'],
    ['a Set', new Set(), 'a Set is not JSON. Pass an array of its values'],
    ['a promise', Promise.resolve(), 'a Promise is not JSON. Pass what it resolves to: await it'],
    ['bytes', new Uint8Array(2), 'an Uint8Array is not JSON. Pass base64 text'],
    ['a class instance', new Invoice(), 'an Invoice is not JSON. Pass a plain object'],
    [
      'an instance of a class without a parent',
      Object.create(Orphan.prototype),
      'an Orphan is not JSON. Pass a plain object',
    ],
    ['an object with data in its prototype', Object.create({ a: 1 }), 'an Object is not JSON. Pass a plain object'],
    ['an instance of a class without a name', nameless, 'a class instance is not JSON. Pass a plain object'],
    ['a Date of another realm', runInNewContext('new Date(0)'), 'a Date is not JSON. Pass its toISOString()'],
    ['a boxed string', Object('text'), 'a String is not JSON. Pass a plain object'],
    ['an Error', new Error('x'), 'an Error is not JSON. Pass a plain object'],
    ['a regular expression', /x/, 'a RegExp is not JSON. Pass a plain object'],
    ['a bigint', 1n, 'a bigint is not JSON. Pass a string of its digits'],
    ['a symbol', Symbol('x'), 'a symbol is not JSON. Pass data, or leave it out'],
    ['a function', () => 1, 'a function is not JSON. Pass data, or leave it out'],
    ['NaN', Number.NaN, 'NaN is not JSON. Pass a finite number or null'],
    ['-Infinity', -Infinity, '-Infinity is not JSON. Pass a finite number or null'],
    ['a lone surrogate', 'x\ud800', 'a string with a lone surrogate has no UTF-8. Remove it, as toWellFormed() does'],
  ]

  test.each(cases)('%s', (_, value, reason) => {
    const error = refusal(() => canonicalize({ items: [0, { 'due on': value }] }))
    expect(error.message).toBe(`The args cannot be identified at args.items[1]["due on"]: ${reason}.`)
    expect(error.issues).toEqual([{ message: reason, path: ['items', 1, 'due on'] }])
    expect(refusal(() => canonicalize(value)).message).toBe(`The args cannot be identified: ${reason}.`)
  })

  test('nothing at all', () => {
    const reason = 'undefined is not JSON. Pass null, or {}'
    expect(refusal(() => canonicalize(undefined)).message).toBe(`The args cannot be identified: ${reason}.`)
  })

  test('a toJSON method, which is a function and is never called', () => {
    const error = refusal(() => canonicalize({ a: { toJSON: () => expect.unreachable() } }))
    expect(error.message).toContain('at args.a.toJSON: a function is not JSON.')
  })

  test('a lone surrogate at any place of a text of any length', () => {
    for (const length of [1, 31, 32, 33, 34, 1_000]) {
      for (const place of [0, length >> 1, length - 1]) {
        for (const half of ['\ud800', '\udbff', '\udc00', '\udfff']) {
          const text = 'x'.repeat(place) + half + 'x'.repeat(length - 1 - place)
          expect(refusal(() => canonicalize({ text })).message, `${length}, ${place}`).toContain('lone surrogate')
          expect(refusal(() => canonicalize({ [text]: 1 })).message, `${length}, ${place}`).toContain('lone surrogate')
        }
      }
    }
  })

  test('a lone surrogate in a key', () => {
    expect(refusal(() => canonicalize({ a: { '\udc00': 1 } })).message).toContain(
      String.raw`at args.a["\udc00"]: a string`,
    )
    expect(refusal(() => canonicalize('\ude00\ud83d')).code).toBe('E_UNCANONICAL_ARGS')
  })

  test('a value that holds itself, at whatever depth', () => {
    const value: Record<string, unknown> = { a: { b: [] } }
    value['a'] = { b: [0, value['a'], value] }
    const error = refusal(() => canonicalize({ top: value }))
    expect(error.message).toBe(
      'The args cannot be identified at args.top.a.b[2]: this refers to itself, being args.top. Leave it out.',
    )
    const self: unknown[] = []
    self.push(self)
    expect(refusal(() => canonicalize(self)).message).toContain('at args[0]: this refers to itself, being args.')
  })

  test('nesting of more than 256 levels, which never overflows the stack', () => {
    expect(canonicalize(nest(256))).toContain('[{"a":[')
    const error = refusal(() => canonicalize(nest(257)))
    expect(error.message).toContain('…: this is nested deeper than 256 levels. Pass a flatter value.')
    expect(error.issues?.[0]?.path).toHaveLength(256)
    expect(refusal(() => canonicalize(nest(1_000_000))).message).toContain('deeper than 256')
    const endless = (): unknown => ({
      get a() {
        return endless()
      },
    })
    expect(refusal(() => canonicalize(endless())).message).toContain('deeper than 256')
  })

  test.each([
    [
      'a getter that throws',
      { b: Object.defineProperty({}, 'c', { enumerable: true, get: () => fail(new Error('no')) }) },
      ['a', 'b', 'c'],
    ],
    [
      'a getter that throws undefined',
      { b: Object.defineProperty({}, 'c', { enumerable: true, get: () => fail(undefined) }) },
      ['a', 'b', 'c'],
    ],
    [
      'a proxy that refuses to list its keys',
      { b: new Proxy({}, { ownKeys: () => fail(new Error('no')) }) },
      ['a', 'b'],
    ],
    [
      'a proxy that hides its prototype',
      { b: new Proxy({}, { getPrototypeOf: () => fail(new Error('no')) }) },
      ['a', 'b'],
    ],
    ['an array whose length throws', [1, new Proxy([], { get: () => fail(new Error('no')) })], ['a', 1]],
    ['a revoked proxy', [revoked()], ['a', 0]],
    [
      'a class that will not tell its name',
      {
        b: Object.create({
          get constructor() {
            return fail(new Error('no'))
          },
        }),
      },
      ['a', 'b'],
    ],
  ])('%s', (_, value, path) => {
    const error = refusal(() => canonicalize({ a: value }))
    expect(error.issues).toEqual([{ message: 'this cannot be read. Pass plain data', path }])
  })

  test('and what a getter threw is the cause', () => {
    const cause = new Error('locked')
    const value = {
      get a() {
        return fail(cause)
      },
    }
    const error = refusal(() => canonicalize(value))
    expect(error.cause).toBe(cause)
    expect(error.message).toBe('The args cannot be identified at args.a: this cannot be read. Pass plain data.')
  })

  test('and keys of any length or kind make a message of bounded length', () => {
    const key = '\u001b[31m'.repeat(10_000)
    expect(refusal(() => canonicalize({ [key]: { [key]: { [key]: { [key]: 1n } } } })).message.length).toBeLessThan(
      2_000,
    )
  })
})

/** The same value as JSON has it (no -0, the usual prototypes), made with its keys in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value
  const entries = Object.entries(value).toReversed()
  return Object.fromEntries(entries.map(([key, member]) => [key, reversed(member)]))
}

function nest(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

function fail(reason: unknown): never {
  throw reason
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

describe('the limit', () => {
  test.each([
    ['ASCII', 'aaaa', 6],
    ['two bytes a character', 'éé', 6],
    ['three bytes a character', '€€', 8],
    ['four bytes a pair', '😀😀', 10],
    ['an escape', '\n\u0001', 10],
  ])('counts bytes of UTF-8: %s', (_, value, bytes) => {
    expect(canonicalize(value, bytes)).toBe(JSON.stringify(value))
    expect(refusal(() => canonicalize(value, bytes - 1)).message).toBe(
      `The args cannot be identified: they are larger than ${bytes - 1} bytes of JSON. Send less, or a reference to it.`,
    )
  })

  test('agrees with the encoder on every text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = canonicalize(value)
        const bytes = Buffer.byteLength(text)
        expect(canonicalize(value, bytes)).toBe(text)
        expect(refusal(() => canonicalize(value, bytes - 1)).issues).toHaveLength(1)
      }),
      { numRuns: 500 },
    )
  })

  test('stops early: a value that would be endless text is refused at once', () => {
    let bomb: unknown = 'x'
    for (let level = 0; level < 200; level++) bomb = [bomb, bomb]
    expect(refusal(() => canonicalize(bomb, 262_144)).message).toContain('larger than 262144 bytes')
    // oxlint-disable-next-line no-new-array
    expect(refusal(() => canonicalize(new Array(2 ** 32 - 1), 262_144)).message).toContain('larger than 262144 bytes')
    expect(refusal(() => canonicalize(['x'.repeat(2 ** 28)], 262_144)).message).toContain('larger than 262144 bytes')
  })
})

describe('the callId', () => {
  // Computed outside of JavaScript: sha256 of json.dumps({'tool': …, 'args': …}, sort_keys=True, separators=(',', ':'), ensure_ascii=False).
  test.each([
    ...(vectors as [name: string, args: object, callId: string][]),
    ['no_args', undefined, '4e5031d8c4da4efbeed68499bac0ce3447c3e34e1359e81e7d9265058dfe76dd'] as const,
  ])('of %s is what another language computes for it', (name, args, callId) => {
    expect(computeCallId(name, args)).toBe(callId)
    expect(callIdOf(name, canonicalize(args ?? {}))).toBe(callId)
  })

  const sameTexts: string[][] = [
    ['{"a":1,"b":2}', '{"b":2,"a":1}', ' {\n"b" : 2 ,\t"a":1 }\r\n'],
    ['{"a":1}', '{"a":1.0}', '{"a":10e-1}', '{"a":0.1E+1}', '{"a":1.0000000000000000001}'],
    ['{"a":0}', '{"a":-0}', '{"a":-0.0}', '{"a":0e5}', '{"a":1e-400}'],
    ['{"a":"é/A"}', '{"\\u0061":"\\u00E9\\/\\u0041"}', '{"a":"\\u00e9/A"}'],
    ['{"a":"😀"}', '{"a":"\\ud83d\\uDE00"}'],
    ['{}', '', ' \r\n\t'],
  ]
  test.each(sameTexts)('is the same for %j and its other spellings', (...texts) => {
    expect(new Set(texts.map((text) => computeCallId('t', parseArgs(text)))).size).toBe(1)
  })

  const differentTexts = [
    ['{"a":"1"}', '{"a":1}', '{"a":true}', '{"a":[1]}', '{"a":{"1":1}}'],
    ['{"a":null}', '{}', '[]', 'null', '{"a":{}}', '{"a":[]}', '{"a":""}', '{"a":0}', '{"a":false}', '{"a":"null"}'],
    ['{"a":["b","c"]}', '{"a":["b,c"]}', '{"a":["b\\",\\"c"]}', '{"a":[["b"],"c"]}', '{"a":["b",["c"]]}'],
    ['{"a":"e\u0301"}', '{"a":"\u00e9"}'],
    ['{"a":{"b":1}}', '{"a":1,"b":1}', '{"a.b":1}', '{"a":"{\\"b\\":1}"}'],
    ['{"__proto__":1}', '{"constructor":1}', '{}'],
  ]
  test.each(differentTexts)('tells %j from its neighbours', (...texts) => {
    expect(new Set(texts.map((text) => computeCallId('t', parseArgs(text)))).size).toBe(texts.length)
  })

  test('keeps null, missing and undefined in the classes that JSON puts them in', () => {
    expect(computeCallId('t', { a: undefined })).toBe(computeCallId('t', {}))
    expect(computeCallId('t', { a: null })).not.toBe(computeCallId('t', {}))
    expect(computeCallId('t', [undefined])).toBe(computeCallId('t', [null]))
    expect(computeCallId('t', null)).not.toBe(computeCallId('t', undefined))
  })

  test('lets nobody shift the boundary between the args and the name', () => {
    const ids = [
      computeCallId('b', 'a'),
      computeCallId('a","tool":"b', {}),
      computeCallId('b', 'a","tool":"b'),
      computeCallId('"b"', 'a'),
      computeCallId('', 'ab'),
      computeCallId('ab', ''),
      computeCallId('t', { args: {}, tool: 't' }),
      computeCallId('t', {}),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('has no name with a lone surrogate, which would share its hash with others', () => {
    expect(refusal(() => computeCallId('\ud800', {})).code).toBe('E_UNCANONICAL_ARGS')
  })

  test(
    'never belongs to two values: canonical text is equal exactly where the values are',
    () => {
      // Few and similar parts, so that equal and nearly equal pairs are common.
      const text = fc.oneof(
        fc.constantFrom(
          '',
          'a',
          'b',
          'ab',
          '1',
          '0',
          'null',
          '"',
          '\\',
          '\\"',
          ',',
          ':',
          '{}',
          '[]',
          '\n',
          'é',
          'e\u0301',
          '😀',
          '__proto__',
        ),
        fc.string({ maxLength: 3 }),
      )
      const { value } = fc.letrec<{ value: unknown }>((tie) => ({
        value: fc.oneof(
          { maxDepth: 3, depthSize: 'small' },
          fc.constantFrom(null, true, false, 0, -0, 1, -1, 10, 0.1, 1e21, 5e-324),
          text,
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.array(tie('value'), { maxLength: 3 }),
          fc.dictionary(text, tie('value'), { maxKeys: 3 }),
        ),
      }))
      let equal = 0
      fc.assert(
        fc.property(value, value, (left, right) => {
          const [one, other] = [canonicalize(left), canonicalize(right)]
          const [plainOne, plainOther] = [reversed(left), reversed(right)]
          const same = isDeepStrictEqual(plainOne, plainOther)
          if (same) equal++
          if ((one === other) !== same || canonicalize(plainOne) !== one) return false
          return isDeepStrictEqual(parseJson(one), plainOne) && (same || callIdOf('t', one) !== callIdOf('t', other))
        }),
        { numRuns },
      )
      process.stdout.write(`callId: ${numRuns} pairs, ${equal} of them equal, 0 collisions\n`)
    },
    timeout,
  )
})
