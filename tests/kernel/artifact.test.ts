import fc from 'fast-check'
import { BinaryArtifact, createExecutor, JsonArtifact, SpooledArtifact, TextArtifact } from 'toolwright'
import { ArtifactError } from 'toolwright/errors'
import type { SpoolReader } from 'toolwright/extension'
import { describe, expect, test } from 'vitest'
import type * as Artifacts from '../../src/kernel/result/artifact.ts'
import { work } from './_calls.ts'
import { chosenClass, isArtifact, MemoryReader } from './_inside.ts'

const border = 262_144

function ofText(text: string | Uint8Array): TextArtifact {
  return new TextArtifact({ reader: new MemoryReader(text) })
}

function ofJson(value: unknown): JsonArtifact {
  return new JsonArtifact({ reader: new MemoryReader(JSON.stringify(value)) })
}

async function linesOf(artifact: SpooledArtifact): Promise<string[]> {
  const lines: string[] = []
  for await (const line of artifact.lines()) lines.push(line)
  return lines
}

/** A reader that counts what is asked of it. */
class CountingReader implements SpoolReader {
  read_ = 0
  readonly #bytes: Uint8Array
  constructor(text: string) {
    this.#bytes = new TextEncoder().encode(text)
  }
  get byteLength(): number {
    return this.#bytes.byteLength
  }
  read(start: number, end: number): Promise<Uint8Array> {
    expect(start).toBeGreaterThanOrEqual(0)
    expect(end).toBeGreaterThanOrEqual(start)
    expect(end).toBeLessThanOrEqual(this.byteLength)
    this.read_ += end - start
    return Promise.resolve(this.#bytes.subarray(start, end))
  }
}

describe('lines', () => {
  test.each<[string, string, string[]]>([
    ['nothing', '', []],
    ['one line without an end', 'a', ['a']],
    ['one line with its end', 'a\n', ['a']],
    ['an empty line', '\n', ['']],
    ['empty lines', '\n\n', ['', '']],
    ['a final empty line', 'a\n\n', ['a', '']],
    ['an empty first line', '\na', ['', 'a']],
    ['Windows ends', 'a\r\nb\r\n', ['a', 'b']],
    ['mixed ends', 'a\r\nb\nc', ['a', 'b', 'c']],
    ['a carriage return within', 'a\rb\n', ['a\rb']],
    ['other separators', 'a\u2028b\u0085c\n', ['a\u2028b\u0085c']],
  ])('of %s', async (_, text, lines) => {
    const artifact = ofText(text)
    expect(await linesOf(artifact)).toEqual(lines)
    expect(await artifact.lineCount()).toBe(lines.length)
    expect(await artifact.cat()).toBe(lines.join('\n'))
    for (let count = 0; count <= lines.length + 1; count++) {
      expect(await artifact.head(count)).toBe(lines.slice(0, count).join('\n'))
      expect(await artifact.tail(count)).toBe(count === 0 ? '' : lines.slice(-count).join('\n'))
    }
  })

  test('of which the first and last ten are given where nobody says how many', async () => {
    const artifact = ofText(Array.from({ length: 25 }, (_, index) => `line ${index}\n`).join(''))
    expect((await artifact.head()).split('\n')).toEqual(Array.from({ length: 10 }, (_, index) => `line ${index}`))
    expect((await artifact.tail()).split('\n')).toEqual(Array.from({ length: 10 }, (_, index) => `line ${index + 15}`))
  })

  test.each<[number | undefined, number | undefined, string]>([
    [1, 3, 'b\nc'],
    [2, undefined, 'c\nd'],
    [0, 0, ''],
    [3, 1, ''],
    [9, 20, ''],
    [-5, 1, 'a'],
    [0, Infinity, 'a\nb\nc\nd'],
  ])('from %s to %s', async (start, end, text) => {
    expect(await ofText('a\nb\nc\nd\n').cat(start, end)).toBe(text)
  })

  test.each(['é', '€', '😀', '\n', '\r\n', 'a'])('where %j stands on the border of a chunk', async (character) => {
    for (let shift = -5; shift <= 1; shift++) {
      const text = `${'x'.repeat(border + shift)}${character}tail ${character}${'y'.repeat(border)}${character}end`
      const artifact = ofText(text)
      const lines = text.split(/\r?\n/)
      expect((await linesOf(artifact)).join('|') === lines.join('|')).toBe(true)
      expect((await artifact.tail(1)) === lines.at(-1)).toBe(true)
      expect(await artifact.lineCount()).toBe(lines.length)
    }
  })

  test('of any text: head, tail, cat and count agree with the plain answer', async () => {
    const pieces = fc.constantFrom('a', '\n', '\r\n', '', '€', '😀', 'line', '\r')
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 30 }), fc.nat(12), async (parts, count) => {
        const text = parts.join('')
        const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
        if (text === '' || text.endsWith('\n')) lines.pop()
        // What follows the last newline is a line as it is.
        if (lines.length > 0 && !text.endsWith('\n')) lines[lines.length - 1] = text.slice(text.lastIndexOf('\n') + 1)
        const artifact = ofText(text)
        expect(await linesOf(artifact)).toEqual(lines)
        expect(await artifact.tail(count)).toBe(count === 0 ? '' : lines.slice(-count).join('\n'))
        expect(await artifact.head(count)).toBe(lines.slice(0, count).join('\n'))
      }),
      { numRuns: 500 },
    )
  })

  test('of bytes that are no UTF-8 are read with marks in their place', async () => {
    const artifact = ofText(Uint8Array.of(97, 0xff, 10, 0xc3))
    expect(await linesOf(artifact)).toEqual(['a\ufffd', '\ufffd'])
    expect(await artifact.asString()).toBe('a\ufffd\n\ufffd')
  })
})

describe('reading a part', () => {
  test('of a large artifact reads no more than it needs', async () => {
    const reader = new CountingReader('0123456789\n'.repeat(1_000_000))
    const artifact = new TextArtifact({ reader })
    expect(await artifact.head(3)).toBe('0123456789\n0123456789\n0123456789')
    expect(reader.read_).toBeLessThanOrEqual(border * 2)
    reader.read_ = 0
    expect(await artifact.tail(3)).toBe('0123456789\n0123456789\n0123456789')
    expect(reader.read_).toBeLessThanOrEqual(border * 2)
    reader.read_ = 0
    expect(artifact.byteLength()).toBe(11_000_000)
    expect(await artifact.estimateTokens()).toBe(2_750_000)
    expect(reader.read_).toBe(0)
    expect(await artifact.lineCount()).toBe(1_000_000)
  })

  test.each<[number | undefined, number | undefined, string]>([
    [undefined, undefined, '0123'],
    [1, 3, '12'],
    [-5, 2, '01'],
    [2, 100, '23'],
    [100, 200, ''],
    [3, 1, ''],
  ])('never asks the store for bytes outside the artifact: %s to %s', async (start, end, text) => {
    const artifact = new TextArtifact({ reader: new CountingReader('0123') })
    expect(new TextDecoder().decode(await artifact.bytes(start, end))).toBe(text)
  })
})

describe('grep', () => {
  const artifact = ofText('one\ntwo\nthree one\nOne\r\n')

  test('finds a string as it is, with the numbers of its lines', async () => {
    expect(await artifact.grep('one')).toEqual([
      { line: 0, text: 'one' },
      { line: 2, text: 'three one' },
    ])
    expect(await artifact.grep('.')).toEqual([])
  })

  test('finds a pattern in every line, also one that remembers where it was', async () => {
    const all = [
      { line: 0, text: 'one' },
      { line: 2, text: 'three one' },
      { line: 3, text: 'One' },
    ]
    expect(await artifact.grep(/one$/i)).toEqual(all)
    const global = /one/gi
    expect(await artifact.grep(global)).toEqual(all)
    expect(await artifact.grep(global)).toEqual(all)
    expect(await artifact.grep(/one/iy)).toEqual([all[0], all[2]])
  })
})

describe('a json artifact', () => {
  const artifact = ofJson({ items: [{ name: 'a' }, { name: 'b' }], 'a/b': 1, 'c~d': 2, '': 3, none: null })

  test.each<[string, unknown]>([
    ['', { items: [{ name: 'a' }, { name: 'b' }], 'a/b': 1, 'c~d': 2, '': 3, none: null }],
    ['/items/1/name', 'b'],
    ['/items', [{ name: 'a' }, { name: 'b' }]],
    ['/a~1b', 1],
    ['/c~0d', 2],
    ['/', 3],
    ['/none', null],
    ['/missing', undefined],
    ['/items/2', undefined],
    ['/items/-', undefined],
    ['/items/length', undefined],
    ['/none/x', undefined],
    ['/toString', undefined],
    ['/__proto__', undefined],
    ['/constructor/name', undefined],
  ])('gives what stands at %j', async (pointer, value) => {
    expect(await artifact.get(pointer)).toEqual(value)
  })

  test('refuses what is no pointer', async () => {
    await expect(artifact.get('items/0')).rejects.toThrow(ArtifactError)
  })

  test.each<[unknown, string, string[], number]>([
    [{ a: 1, b: 2 }, 'object', ['a', 'b'], 2],
    [[1, 2, 3], 'array', ['0', '1', '2'], 3],
    ['text', 'string', [], 4],
    [5, 'number', [], 1],
    [true, 'boolean', [], 1],
    [null, 'null', [], 1],
  ])('says what %j is', async (value, type, keys, length) => {
    expect(await ofJson(value).type()).toBe(type)
    expect(await ofJson(value).keys()).toEqual(keys)
    expect(await ofJson(value).length()).toBe(length)
  })

  test('slices arrays, and nothing else', async () => {
    expect(await ofJson([1, 2, 3, 4]).slice(1, 3)).toEqual([2, 3])
    expect(await ofJson([1, 2, 3, 4]).slice(-1)).toEqual([4])
    expect(await ofJson({ a: 1 }).slice()).toEqual([])
  })

  test('that is no JSON says so when it is asked, and is bytes all the same', async () => {
    const broken = new JsonArtifact({ reader: new MemoryReader('{"a":') })
    await expect(broken.value()).rejects.toThrow()
    expect(await broken.asString()).toBe('{"a":')
  })
})

describe('what an artifact is', () => {
  test.each([
    [SpooledArtifact, 'artifact', 'application/octet-stream'],
    [TextArtifact, 'text', 'text/plain'],
    [JsonArtifact, 'json', 'application/json'],
    [BinaryArtifact, 'binary', 'application/octet-stream'],
  ])('is written down without its bytes', (Class, kind, mediaType) => {
    const artifact = new Class({ reader: new MemoryReader('secret') })
    expect(JSON.parse(JSON.stringify(artifact))).toEqual({ kind, mediaType, byteLength: 6 })
    const named = new Class({ reader: new MemoryReader('secret'), mediaType: 'image/png', handle: 'artifact_1' })
    expect(JSON.parse(JSON.stringify(named))).toEqual({
      kind,
      mediaType: 'image/png',
      byteLength: 6,
      handle: 'artifact_1',
    })
    expect(artifact.trusted).toBe(false)
  })

  test('is known across two copies of the package', async () => {
    const secondCopy: string = '../../src/kernel/result/artifact.ts?copy'
    const copy = (await import(secondCopy)) as typeof Artifacts
    const theirs = new copy.SpooledArtifact({ reader: new MemoryReader('x') })
    expect(theirs instanceof SpooledArtifact).toBe(false)
    expect(isArtifact(theirs)).toBe(true)
    expect(isArtifact({ kind: 'text' })).toBe(false)
    expect(isArtifact(null)).toBe(false)
    expect(chosenClass(copy.SpooledArtifact as never, TextArtifact)).toBe(copy.SpooledArtifact)
    const result = await createExecutor({ tools: [work('t', () => theirs)] }).execute({ name: 't' })
    expect(result.artifact).toBe(theirs)
  })

  test('may be a subclass, or a function that gives one', async () => {
    class Report extends TextArtifact {
      static override readonly kind = 'report'
      static override readonly mediaType = 'text/x-report'
    }
    for (const artifact of [Report, () => Report]) {
      const result = await createExecutor({ tools: [work('t', () => 'text', { artifact })] }).execute({ name: 't' })
      expect(result.artifact).toBeInstanceOf(Report)
      expect(result.artifact?.toJSON()).toEqual({ kind: 'report', mediaType: 'text/x-report', byteLength: 4 })
    }
  })
})
