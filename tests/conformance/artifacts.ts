import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { isToolError, memoryStore, SpooledArtifact, type ArtifactClass, type ArtifactQuery } from 'toolwright'
import type { ArtifactStore, SpoolReader } from 'toolwright/extension'
import { fileStore } from 'toolwright/stores/file'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** How many bytes an artifact reads at a time. */
export const stretch = 262_144
const encoder = new TextEncoder()

export function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? encoder.encode(text) : text
}

/** A reader that counts what is asked of it, and allows nothing outside of its bytes. */
export class CountingReader implements SpoolReader {
  bytesRead = 0
  readonly #bytes: Uint8Array
  constructor(text: string | Uint8Array) {
    this.#bytes = bytesOf(text)
  }
  get byteLength(): number {
    return this.#bytes.byteLength
  }
  read(start: number, end: number): Uint8Array {
    if (!(start >= 0 && start <= end && end <= this.byteLength)) throw new Error(`asked for ${start} to ${end}`)
    this.bytesRead += end - start
    return this.#bytes.subarray(start, end)
  }
}

/** A reader that answers late, and gathers what it answers in tiny pieces. */
class SlowReader implements SpoolReader {
  readonly #bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }
  get byteLength(): number {
    return this.#bytes.byteLength
  }
  async read(start: number, end: number): Promise<Uint8Array> {
    const answer = new Uint8Array(end - start)
    const piece = Math.max(7, Math.floor(answer.length / 50))
    for (let at = 0; at < answer.length; at += piece) {
      await new Promise((resolve) => setImmediate(resolve))
      answer.set(this.#bytes.subarray(start + at, Math.min(end, start + at + piece)), at)
    }
    return answer
  }
}

/** An artifact of a class over some bytes, without a store. */
export function artifactOf<Artifact extends SpooledArtifact>(
  Class: ArtifactClass<Artifact>,
  text: string | Uint8Array,
  mediaType?: string,
): Artifact {
  return new Class({ reader: new CountingReader(text), mediaType })
}

/** How many turns everybody else has until some work is done. */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let next = setImmediate(function turn() {
    turns++
    next = setImmediate(turn)
  })
  await work.finally(() => clearImmediate(next))
  return turns
}

/** The lines of a text, found without any care for its size. */
export function linesOf(bytes: Uint8Array): string[] {
  const lines = new TextDecoder('utf-8', { ignoreBOM: false }).decode(bytes).split('\n')
  const rest = lines.pop() ?? ''
  return [...lines.map((line) => line.replace(/\r$/, '')), ...(rest === '' ? [] : [rest])]
}

const texts = [
  'a',
  'line of text',
  '\n',
  '\n',
  '\r\n',
  '\r',
  '€',
  '😀',
  '"',
  ',',
  '# ',
  '{"a":1}',
  '\u2028',
  '---\n',
  '\t',
]
const noTexts = [[0xff], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0x80]]
const pieces = [...texts.map(bytesOf), ...noTexts.map((bytes) => Uint8Array.from(bytes))]

/** Bytes as tools may return them: text, more or less, now and then with a border of what is read at once in it. */
export const anyBytes: fc.Arbitrary<Uint8Array> = fc
  .record({
    filler: fc.oneof(
      { weight: 4, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: stretch - 12, max: stretch }) },
    ),
    parts: fc.array(fc.constantFrom(...pieces), { maxLength: 30 }),
  })
  .map(({ filler, parts }) => Buffer.concat([Buffer.alloc(filler, 'x'), ...parts]))

async function linesFrom(artifact: SpooledArtifact): Promise<string[]> {
  const lines: string[] = []
  for await (const line of artifact.lines()) lines.push(line)
  return lines
}

export interface ArtifactFixtures {
  /** What a model may ask of these artifacts, with an input for each of the queries. Default: those of the class. */
  readonly queries?: Readonly<Record<string, ArtifactQuery>>
  readonly inputs?: Readonly<Record<string, readonly object[]>>
}

/** What every class of artifacts promises, whatever its bytes are, and wherever they come from. */
export function artifactConformance(
  title: string,
  Class: ArtifactClass,
  { queries = (Class as unknown as typeof SpooledArtifact).queries, inputs = {} }: ArtifactFixtures = {},
): void {
  let directory = ''
  let files: ArtifactStore
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'toolwright-artifacts-'))
    files = fileStore(directory).store
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  async function stored(store: ArtifactStore, bytes: Uint8Array): Promise<SpoolReader> {
    const { handle } = await store.write(bytes, { session: 'one', mediaType: 'text/plain' })
    return store.open(handle, { session: 'one' })
  }
  const readers: readonly [string, number, (bytes: Uint8Array) => SpoolReader | Promise<SpoolReader>][] = [
    ['in memory', 150, (bytes) => stored(memoryStore(), bytes)],
    ['in files', 25, (bytes) => stored(files, bytes)],
    ['that answer late and in tiny pieces', 40, (bytes) => new SlowReader(bytes)],
  ]

  describe.each(readers)(`${title} over bytes %s`, (_, numRuns, readerOf) => {
    async function over(bytes: string | Uint8Array): Promise<SpooledArtifact> {
      return new Class({ reader: await readerOf(bytesOf(bytes)) })
    }

    test.each<[string, string | Uint8Array]>([
      ['nothing', ''],
      ['one line without an end', 'a'],
      ['one line with its end', 'a\n'],
      ['an empty line', '\n'],
      ['empty lines', '\n\n\r\n'],
      ['Windows ends', 'a\r\nb\r\n'],
      ['mixed ends, the last one missing', 'a\r\nb\nc'],
      ['a carriage return within a line, and at the very end', 'a\rb\nc\r'],
      ['a line that is longer than what is read at once', `a\n${'é'.repeat(stretch)}\nb`],
      ['a character on the border of what is read at once', `${'x'.repeat(stretch - 1)}€\n😀`],
      ['an end of a line on that border', `${'x'.repeat(stretch - 1)}\r\ny\n`],
      ['an end of a line just before that border', `${'x'.repeat(stretch - 1)}\ny`],
      ['bytes that are no UTF-8', Uint8Array.of(97, 0xff, 10, 0xe2, 0x82, 10, 0xc3)],
    ])('has the lines of %s', async (_name, text) => {
      const artifact = await over(text)
      const lines = linesOf(bytesOf(text))
      expect(artifact.byteLength()).toBe(bytesOf(text).byteLength)
      expect(await artifact.lineCount()).toBe(lines.length)
      expect((await linesFrom(artifact)).join('\n') === lines.join('\n')).toBe(true)
      for (const count of [0, 1, 2, lines.length + 1]) {
        expect((await artifact.head(count)) === lines.slice(0, count).join('\n')).toBe(true)
        expect((await artifact.tail(count)) === (count === 0 ? '' : lines.slice(-count).join('\n'))).toBe(true)
        expect((await artifact.cat(count, count + 1)) === lines.slice(count, count + 1).join('\n')).toBe(true)
      }
    })

    test('answers about lines as one would who has split all of it', async () => {
      const number = fc.nat(8)
      await fc.assert(
        fc.asyncProperty(
          anyBytes,
          number,
          number,
          fc.constantFrom('a', 'line', '€', '"', '\ufffd', 'zz'),
          async (bytes, start, end, sought) => {
            const lines = linesOf(bytes)
            const artifact = await over(bytes)
            const fresh = await over(bytes)
            const same = (text: string, expected: readonly string[]): void => {
              if (text !== expected.join('\n')) expect(text).toBe(expected.join('\n'))
            }
            same(await fresh.cat(start, end), lines.slice(start, Math.max(start, end)))
            same(await artifact.tail(end), end === 0 ? [] : lines.slice(-end))
            expect(await artifact.lineCount()).toBe(lines.length)
            same(await artifact.head(start), lines.slice(0, start))
            same(await artifact.cat(start, end), lines.slice(start, Math.max(start, end)))
            same(await artifact.cat(start), lines.slice(start))
            const found = lines.flatMap((text, line) => (text.includes(sought) ? [{ line, text }] : []))
            expect(await artifact.grep(sought)).toEqual(found)
            expect(await artifact.grep(new RegExp(sought, 'gu'), { limit: 2 })).toEqual(found.slice(0, 2))
            same(await artifact.asString(), [new TextDecoder().decode(bytes)])
            expect(Buffer.compare(await artifact.bytes(start, end), bytes.subarray(start, Math.max(start, end)))).toBe(
              0,
            )
          },
        ),
        { numRuns },
      )
    }, 60_000)
  })

  describe(`${title} is asked by a model`, () => {
    test('questions that say what they are for', () => {
      for (const [key, { description, inputSchema = { type: 'object' } }] of Object.entries(queries)) {
        expect(key).toMatch(/^[a-z]+(_[a-z]+)*$/)
        expect(description).toMatch(/^[A-Z].{20,}\.$/)
        expect(inputSchema).toMatchObject({ type: 'object' })
        const { properties = {} } = inputSchema as { properties?: Record<string, { description?: string }> }
        for (const property of Object.values(properties)) expect(property.description).toMatch(/^[A-Z]/)
      }
      expect(Object.keys(inputs).filter((key) => !(key in queries))).toEqual([])
    })

    test('of bytes of any kind, and gets JSON or a typed error', async () => {
      await fc.assert(
        fc.asyncProperty(anyBytes, async (bytes) => {
          for (const [key, query] of Object.entries(queries)) {
            for (const input of inputs[key] ?? [{}]) {
              const artifact = artifactOf(Class, bytes)
              let answer: unknown
              try {
                answer = await (query.answer as (artifact: SpooledArtifact, input: object) => unknown)(artifact, input)
              } catch (error) {
                if (!isToolError(error)) throw error
                expect(error.code).toBe('E_ARTIFACT')
                continue
              }
              if (answer !== undefined) expect(JSON.parse(JSON.stringify(answer))).toEqual(answer)
            }
          }
        }),
        { numRuns: 100 },
      )
    }, 60_000)
  })

  describe(`${title} reads`, () => {
    const line = '0123456789\n'
    const large = line.repeat(1_000_000)

    test('nothing before it is asked', () => {
      const reader = new CountingReader(large)
      const artifact = new Class({ reader })
      expect(JSON.parse(JSON.stringify(artifact))).toMatchObject({ kind: artifact.kind, byteLength: large.length })
      expect(artifact.mediaType).toBe((Class as unknown as typeof SpooledArtifact).mediaType)
      expect(reader.bytesRead).toBe(0)
    })

    test('no more than it needs of the beginning and the end', async () => {
      const reader = new CountingReader(large)
      const artifact = new Class({ reader })
      expect(await artifact.head(1)).toBe('0123456789')
      expect(reader.bytesRead).toBeLessThanOrEqual(stretch)
      reader.bytesRead = 0
      expect(await artifact.tail(1)).toBe('0123456789')
      expect(reader.bytesRead).toBeLessThanOrEqual(2 * stretch)
    })

    test('no more than two stretches for lines in the middle, once lines were counted', async () => {
      const reader = new CountingReader(large)
      const artifact = new Class({ reader })
      expect(await artifact.lineCount()).toBe(1_000_000)
      for (const start of [999_990, 500_000, 0]) {
        reader.bytesRead = 0
        expect(await artifact.cat(start, start + 2)).toBe('0123456789\n0123456789')
        expect(reader.bytesRead).toBeLessThanOrEqual(3 * stretch)
      }
    })
  })
}
