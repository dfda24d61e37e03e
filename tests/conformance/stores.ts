import { createHash } from 'node:crypto'
import {
  createExecutor,
  isToolError,
  SpooledArtifact,
  TextArtifact,
  tool,
  type ArtifactStore,
  type Extension,
  type SpoolReader,
} from 'toolwright'
import { describe, expect, test } from 'vitest'

const spooling = { session: 'one', mediaType: 'text/plain' }
const encoder = new TextEncoder()
const decoder = new TextDecoder()

function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function* piecesOf(...pieces: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const piece of pieces) yield typeof piece === 'string' ? encoder.encode(piece) : piece
}

/** A store may refuse at once or in a promise. */
async function refusalOf(open: () => unknown): Promise<unknown> {
  try {
    await open()
  } catch (error) {
    return error
  }
  throw new Error('was not refused')
}

/** What a store is made with. */
export interface StoreLimits {
  /** The most bytes that it takes of one artifact. */
  readonly maximumBytes?: number
}

/** What every `ArtifactStore` promises. `create` gives a new, empty one. */
export function artifactStoreConformance(
  title: string,
  create: (limits?: StoreLimits) => ArtifactStore | Promise<ArtifactStore>,
): void {
  async function everything(store: ArtifactStore, handle: string, session = 'one'): Promise<Uint8Array> {
    const reader = await store.open(handle, { session })
    return reader.read(0, reader.byteLength)
  }

  describe(`${title} keeps`, () => {
    test.each<[string, string | Uint8Array | (() => AsyncIterable<Uint8Array>), string]>([
      ['text', 'grüß dich\n', 'grüß dich\n'],
      ['empty text', '', ''],
      ['bytes', encoder.encode('bytes'), 'bytes'],
      ['no bytes', new Uint8Array(), ''],
      ['a view into a larger buffer', encoder.encode('a view').subarray(2), 'view'],
      ['a Buffer', Buffer.from('a buffer'), 'a buffer'],
      ['a stream', () => piecesOf('one', ' and ', 'two'), 'one and two'],
      ['an empty stream', () => piecesOf(), ''],
      ['a stream of empty pieces', () => piecesOf('', 'x', '', ''), 'x'],
      [
        'a stream whose pieces end within a character',
        () => piecesOf(encoder.encode('€').subarray(0, 1), encoder.encode('€').subarray(1)),
        '€',
      ],
      ['text that is longer than any piece', '😀'.repeat(700_001), '😀'.repeat(700_001)],
      ['text with odd pairs of surrogates', `x${'😀'.repeat(600_000)}\ud83d`, `x${'😀'.repeat(600_000)}\ufffd`],
    ])('%s, and says its hash and its length', async (_, given, text) => {
      const store = await create()
      const source = typeof given === 'function' ? given() : given
      const { handle, sha256: hash, byteLength } = await store.write(source, spooling)
      const kept = await everything(store, handle)
      expect(decoder.decode(kept) === text).toBe(true)
      expect(byteLength).toBe(kept.byteLength)
      expect(hash).toBe(sha256(text))
    })

    test.each([
      'text/plain; charset=utf-8',
      'image/svg+xml',
      '',
      'x/ü',
      'x/\0\r\nX-Evil: 1',
      'x/\ud800',
      `x/${'y'.repeat(300)}`,
    ])('the media type %j, as it was written', async (mediaType) => {
      const store = await create()
      const { handle } = await store.write('text', { session: 'one', mediaType })
      expect((await store.open(handle, { session: 'one' })).mediaType).toBe(mediaType)
    })

    test('bytes that are no text at all', async () => {
      const store = await create()
      const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256)
      const { handle } = await store.write(bytes, spooling)
      expect(Buffer.compare(await everything(store, handle), bytes)).toBe(0)
    })

    test('a stream of 20 MB', async () => {
      const store = await create()
      const hash = createHash('sha256')
      async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
        for (let index = 0; index < 320; index++) {
          const piece = new Uint8Array(65_536).fill(index % 251)
          hash.update(piece)
          yield piece
        }
      }
      const written = await store.write(source(), spooling)
      expect(written.byteLength).toBe(20_971_520)
      expect(written.sha256).toBe(hash.digest('hex'))
      const reader = await store.open(written.handle, { session: 'one' })
      expect([...(await reader.read(65_535, 65_538))]).toEqual([0, 1, 1])
      expect([...(await reader.read(20_971_519, 20_971_520))]).toEqual([319 % 251])
    })
  })

  describe(`${title} reads`, () => {
    test('any range', async () => {
      const store = await create()
      const { handle } = await store.write('0123456789', spooling)
      const reader: SpoolReader = await store.open(handle, { session: 'one' })
      expect(reader.byteLength).toBe(10)
      for (const [start, end, text] of [
        [0, 10, '0123456789'],
        [0, 1, '0'],
        [9, 10, '9'],
        [3, 7, '3456'],
        [0, 0, ''],
        [5, 5, ''],
        [10, 10, ''],
      ] as const) {
        expect(decoder.decode(await reader.read(start, end))).toBe(text)
      }
    })

    test('many ranges at once', async () => {
      const store = await create()
      const { handle } = await store.write('0123456789'.repeat(1_000), spooling)
      const reader = await store.open(handle, { session: 'one' })
      const read = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => reader.read(index * 10, index * 10 + 3)),
      )
      expect(new Set(read.map((bytes) => decoder.decode(bytes)))).toEqual(new Set(['012']))
    })

    test('lines across the borders of chunks', async () => {
      const store = await create()
      const text = Array.from({ length: 30_000 }, (_, index) => `line ${index} €`).join('\n')
      const { handle } = await store.write(text, spooling)
      const artifact = new TextArtifact({ reader: await store.open(handle, { session: 'one' }), handle })
      expect(await artifact.lineCount()).toBe(30_000)
      expect(await artifact.tail(2)).toBe('line 29998 €\nline 29999 €')
      expect(await artifact.grep('line 15000 ')).toEqual([{ line: 15_000, text: 'line 15000 €' }])
    })
  })

  describe(`${title} guards`, () => {
    test('handles are random: equal bytes have different ones', async () => {
      const store = await create()
      const written = await Promise.all(Array.from({ length: 20 }, () => store.write('the same', spooling)))
      expect(new Set(written.map(({ handle }) => handle)).size).toBe(20)
      expect(new Set(written.map(({ sha256: hash }) => hash)).size).toBe(1)
      for (const { handle } of written) {
        expect(handle).toMatch(/^artifact_[0-9a-f]{40}$/)
        expect(decoder.decode(await everything(store, handle))).toBe('the same')
      }
    })

    test('an artifact of another session is as unknown as one that never was', async () => {
      const store = await create()
      const { handle } = await store.write('secret', spooling)
      const other = await refusalOf(() => store.open(handle, { session: 'two' }))
      expect(other).toMatchObject({ code: 'E_ARTIFACT' })
      const never = handle.replace(/.{8}$/, handle.endsWith('00000000') ? '11111111' : '00000000')
      const unknown = await refusalOf(() => store.open(never, { session: 'two' }))
      expect(String(other).replace(handle, '')).toBe(String(unknown).replace(never, ''))
      expect(decoder.decode(await everything(store, handle))).toBe('secret')
    })

    test('sessions are told apart, whatever their names are made of', async () => {
      const store = await create()
      const sessions = [
        '',
        '\0',
        '\ud800',
        '\ud801',
        '\ufffd',
        'é',
        'e\u0301',
        '"',
        '\r\n',
        ' ',
        '  ',
        'x'.repeat(5_000),
      ]
      for (const session of sessions) {
        const { handle } = await store.write('secret', { ...spooling, session })
        for (const other of sessions.filter((name) => name !== session)) {
          expect(await refusalOf(() => store.open(handle, { session: other }))).toMatchObject({ code: 'E_ARTIFACT' })
        }
        expect(decoder.decode(await everything(store, handle, session))).toBe('secret')
      }
    })

    test('equal bytes that two sessions wrote stay apart', async () => {
      const store = await create()
      const mine = await store.write('the same', { ...spooling, session: 'one' })
      const yours = await store.write('the same', { ...spooling, session: 'two' })
      await refusalOf(() => store.open(mine.handle, { session: 'two' }))
      await refusalOf(() => store.open(yours.handle, { session: 'one' }))
      await store.delete(mine.handle)
      expect(decoder.decode(await everything(store, yours.handle, 'two'))).toBe('the same')
    })

    test.each([
      ['nothing', ''],
      ['a path', '../../../../etc/passwd'],
      ['an absolute path', '/etc/passwd'],
      ['a path behind a prefix', 'artifact_../../../../../../../../../../etc/passwd'],
      ['a NUL', 'artifact_\0'],
      ['a prototype', '__proto__'],
      ['a constructor', 'constructor'],
      ['a megabyte', 'x'.repeat(1_000_000)],
      ['a line break at the end', `artifact_${'0'.repeat(40)}\n`],
      ['capitals', `ARTIFACT_${'A'.repeat(40)}`],
    ])('a handle that is %s opens nothing and deletes nothing', async (_, handle) => {
      const store = await create()
      const kept = await store.write('kept', spooling)
      const refusal = await refusalOf(() => store.open(handle, { session: 'one' }))
      expect(isToolError(refusal) && refusal.code).toBe('E_ARTIFACT')
      expect(String(refusal).length).toBeLessThan(500)
      await store.delete(handle)
      expect(decoder.decode(await everything(store, kept.handle))).toBe('kept')
    })
  })

  describe(`${title} deletes`, () => {
    test('an artifact, and no other of equal bytes', async () => {
      const store = await create()
      const first = await store.write('the same', spooling)
      const second = await store.write('the same', spooling)
      await store.delete(first.handle)
      expect(await refusalOf(() => store.open(first.handle, { session: 'one' }))).toMatchObject({ code: 'E_ARTIFACT' })
      expect(decoder.decode(await everything(store, second.handle))).toBe('the same')
      const third = await store.write('the same', spooling)
      expect(decoder.decode(await everything(store, third.handle))).toBe('the same')
    })

    test('twice, and what never was, without a word', async () => {
      const store = await create()
      const { handle } = await store.write('gone', spooling)
      await store.delete(handle)
      await store.delete(handle)
      await store.delete(`artifact_${'0'.repeat(40)}`)
    })

    test('while others write the same', async () => {
      const store = await create()
      const kept = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const { handle } = await store.write('contested', spooling)
          if (index % 2 === 0) await store.delete(handle)
          return index % 2 === 0 ? undefined : handle
        }),
      )
      for (const handle of kept) {
        if (handle !== undefined) expect(decoder.decode(await everything(store, handle))).toBe('contested')
      }
    })
  })

  describe(`${title} takes a copy`, () => {
    test.each([
      ['bytes', encoder.encode('before')],
      ['a Buffer', Buffer.from('before')],
    ])('of %s that their owner goes on to change', async (_, bytes) => {
      const store = await create()
      const { handle } = await store.write(bytes, spooling)
      bytes.fill(0)
      expect(decoder.decode(await everything(store, handle))).toBe('before')
    })

    test('of a buffer that a stream fills again and again', async () => {
      const store = await create()
      const buffer = Buffer.alloc(3)
      async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
        for (const text of ['one', 'two', 'six']) {
          buffer.write(text)
          yield buffer
        }
        buffer.fill(0)
      }
      const { handle, sha256: hash } = await store.write(source(), spooling)
      expect(decoder.decode(await everything(store, handle))).toBe('onetwosix')
      expect(hash).toBe(sha256('onetwosix'))
    })

    test('and hashes what it keeps, also where the bytes change while it writes', async () => {
      const store = await create()
      const bytes = new Uint8Array(8_000_000)
      const writing = store.write(bytes, spooling)
      bytes.fill(1)
      const { handle, sha256: hash } = await writing
      expect(sha256(await everything(store, handle))).toBe(hash)
    })
  })

  describe(`${title} refuses what is larger than it takes`, () => {
    const maximumBytes = 2_000_000

    test.each<[string, () => string | Uint8Array]>([
      ['text', () => 'x'.repeat(maximumBytes)],
      ['text whose characters have more bytes than one', () => 'é'.repeat(maximumBytes / 2)],
      ['bytes', () => new Uint8Array(maximumBytes)],
    ])('%s, and takes what is just as large', async (_, fitting) => {
      const store = await create({ maximumBytes })
      const { byteLength } = await store.write(fitting(), spooling)
      expect(byteLength).toBe(maximumBytes)
      const whole = fitting()
      const tooMuch = typeof whole === 'string' ? `${whole}x` : new Uint8Array(maximumBytes + 1)
      expect(await refusalOf(() => store.write(tooMuch, spooling))).toMatchObject({
        code: 'E_ARTIFACT',
        message: expect.stringContaining('2,000,000 bytes'),
      })
    })

    test('a stream without an end, while it reads it, and closes the stream', async () => {
      const store = await create({ maximumBytes })
      let given = 0
      let isClosed = false
      async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
        try {
          for (; given < 400_000_000; given += 1_048_576) yield new Uint8Array(1_048_576).fill(120)
        } finally {
          isClosed = true
        }
      }
      const refusal = await refusalOf(() => store.write(endless(), spooling))
      expect(refusal).toMatchObject({ code: 'E_ARTIFACT', message: expect.stringContaining('2,000,000 bytes') })
      expect(given).toBeLessThan(32_000_000) // a store may fetch some pieces ahead
      expect(isClosed).toBe(true)
    })

    test('a result: the model reads how it begins, the tool has run, and the next call is fine', async () => {
      const store = await create({ maximumBytes })
      async function* endless(): AsyncGenerator<string, void, undefined> {
        yield 'id,total\n'
        for (let given = 0; given < 400_000_000; given += 1_000_000) yield '1,200\n'.repeat(166_667)
      }
      const executor = createExecutor({
        tools: [
          tool('endless', () => ReadableStream.from(endless())),
          tool('long', () => `id,total\n${'1,200\n'.repeat(1_000_000)}`),
          tool('fine', () => 'line\n'.repeat(10_000)),
        ],
        use: [{ store }],
      })
      for (const name of ['endless', 'long']) {
        const result = await executor.execute({ name }, { session: 'one' })
        expect(result).toMatchObject({ status: 'error', effect: 'completed', error: { code: 'E_ARTIFACT' } })
        expect(result.error?.message).toMatch(/larger than the 2,000,000 bytes[^]*It begins: id,total\n1,200\n/)
        expect(JSON.stringify(result.content)).toContain('It begins: id,total')
      }
      const { status, artifact } = await executor.execute({ name: 'fine' }, { session: 'one' })
      expect([status, await artifact?.tail(1)]).toEqual(['ok', 'line'])
    })
  })

  describe(`${title} keeps nothing`, () => {
    test('of a source that throws half-way', async () => {
      const store = await create()
      const trouble = new Error('source broke')
      async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
        yield encoder.encode('half')
        throw trouble
      }
      expect(await refusalOf(() => store.write(source(), spooling))).toBe(trouble)
      const next = await store.write('next', spooling)
      expect(decoder.decode(await everything(store, next.handle))).toBe('next')
    })

    test('of a write that is given up, and closes its source', async () => {
      const store = await create()
      const leaving = new AbortController()
      let isClosed = false
      async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
        try {
          for (let index = 0; ; index++) {
            if (index === 3) leaving.abort()
            yield encoder.encode('more')
          }
        } finally {
          isClosed = true
        }
      }
      const refusal = await refusalOf(() => store.write(source(), { ...spooling, signal: leaving.signal }))
      expect(refusal).toBe(leaving.signal.reason)
      expect(isClosed).toBe(true)
      const next = await store.write('next', spooling)
      expect(decoder.decode(await everything(store, next.handle))).toBe('next')
    })
  })

  test(`${title} makes artifacts that the base class reads`, async () => {
    const store = await create()
    const { handle } = await store.write('a\nb\nc', spooling)
    const artifact = new SpooledArtifact({ reader: await store.open(handle, { session: 'one' }), handle })
    expect(await artifact.asString()).toBe('a\nb\nc')
    expect(JSON.stringify(artifact)).toBe(
      JSON.stringify({ kind: 'artifact', mediaType: 'application/octet-stream', byteLength: 5, handle }),
    )
  })
}

/** A new, empty store outside the process, and how to count everything that lies in it. */
export interface OutsideStore {
  readonly extension: Extension & { readonly store: ArtifactStore }
  readonly count: () => number | Promise<number>
}

const megabyte = new Uint8Array(1_048_576).fill(7)

/** Megabytes, and then whatever happens. */
async function* megabytes(count: number, end?: () => unknown): AsyncGenerator<Uint8Array, void, undefined> {
  for (let index = 0; index < count; index++) yield megabyte
  await end?.()
}

/** What a store outside the process promises beside: nothing is left of what failed, and the next call is fine. */
export function outsideStoreConformance(
  title: string,
  create: (limits?: StoreLimits) => OutsideStore | Promise<OutsideStore>,
): void {
  /** Runs with a store in which there is one artifact, and sees to it that there is no more afterwards. */
  async function leavesNothing(run: (outside: OutsideStore) => unknown, limits?: StoreLimits): Promise<void> {
    const outside = await create(limits)
    const { extension, count } = outside
    const { handle } = await extension.store.write('warm', spooling)
    const before = await count()
    await run(outside)
    // A call is over at its deadline, and the store cleans up after it.
    await expect.poll(count, { timeout: 10_000 }).toBe(before)
    const next = await extension.store.write('next', spooling)
    for (const [kept, text] of [
      [handle, 'warm'],
      [next.handle, 'next'],
    ] as const) {
      const reader = await extension.store.open(kept, { session: 'one' })
      expect(decoder.decode(await reader.read(0, 4))).toBe(text)
    }
  }

  describe(`${title} leaves nothing`, () => {
    test('of a stream that breaks after many pieces', () =>
      leavesNothing(async ({ extension: { store } }) => {
        const trouble = new Error('source broke')
        const source = megabytes(12, () => Promise.reject(trouble))
        expect(await refusalOf(() => store.write(source, spooling))).toBe(trouble)
      }))

    test('of a stream that was given up while it gave nothing', () =>
      leavesNothing(async ({ extension: { store } }) => {
        const leaving = new AbortController()
        const source = megabytes(12, () => {
          setTimeout(() => leaving.abort(), 10)
          return new Promise(() => {})
        })
        const refusal = await refusalOf(() => store.write(source, { ...spooling, signal: leaving.signal }))
        expect(refusal).toBe(leaving.signal.reason)
      }))

    test('of a stream that is larger than it takes', () =>
      leavesNothing(
        async ({ extension: { store } }) => {
          expect(await refusalOf(() => store.write(megabytes(12), spooling))).toMatchObject({ code: 'E_ARTIFACT' })
        },
        { maximumBytes: 2_000_000 },
      ))

    test('of a write that was given up before it began', () =>
      leavesNothing(async ({ extension: { store } }) => {
        const signal = AbortSignal.abort()
        expect(await refusalOf(() => store.write('late', { ...spooling, signal }))).toBe(signal.reason)
      }))

    test('of a result that breaks half-way: a typed error, and the next call is fine', () =>
      leavesNothing(async ({ extension }) => {
        const executor = createExecutor({
          tools: [
            tool('broken', () => ReadableStream.from(megabytes(12, () => Promise.reject(new Error('source broke'))))),
            tool('fine', () => 'fine'),
          ],
          use: [{ store: extension.store }],
        })
        const result = await executor.execute({ name: 'broken' }, { session: 'one' })
        expect(result).toMatchObject({ status: 'error', effect: 'completed', error: { code: 'E_ARTIFACT' } })
        expect(await executor.execute({ name: 'fine' })).toMatchObject({ status: 'ok' })
      }))

    test('of a result that never ends, when the caller gives the call up', () =>
      leavesNothing(async ({ extension }) => {
        const leaving = new AbortController()
        async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
          for (let index = 0; ; index++) {
            if (index === 12) leaving.abort()
            yield megabyte
          }
        }
        const executor = createExecutor({
          tools: [tool('endless', () => ReadableStream.from(endless()))],
          use: [{ store: extension.store }],
        })
        const result = await executor.execute({ name: 'endless' }, { session: 'one', signal: leaving.signal })
        expect(result).toMatchObject({ status: 'cancelled', error: { code: 'E_TOOL_CANCELLED' } })
      }))
  })
}
