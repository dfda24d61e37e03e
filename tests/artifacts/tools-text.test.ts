import fc from 'fast-check'
import { BinaryArtifact, memoryStore, TextArtifact } from 'toolwright'
import type { ArtifactStore } from 'toolwright/extension'
import { describe, expect, test } from 'vitest'
import { asking, bytes, lines } from './_asking.ts'

const { keep, ask, call } = asking()

class Png extends BinaryArtifact {
  static override readonly mediaType: string = 'image/png'
}

describe('head and cat', () => {
  test('show lines as they are, and nothing about them where nothing is left out', async () => {
    await keep(lines(200))
    expect(await ask('head')).toBe(lines(10))
    expect(await ask('head', { count: 2 })).toBe('line 0\nline 1')
    expect(await ask('cat', { start: 3, end: 5 })).toBe('line 3\nline 4')
    expect(await ask('cat', { start: 198 })).toBe('line 198\nline 199')
    expect(await ask('cat', { start: 198, end: 500 })).toBe('line 198\nline 199')
  })

  test('say where to go on, and there they go on', async () => {
    await keep(lines(250))
    const seen: string[] = []
    let start = 0
    for (let page = 0; page < 3; page++) {
      const answer = await ask('cat', { start })
      const [, next] =
        /\n\(Truncated: lines \d+ to \d+ are shown\. Go on with artifact_cat, start: (\d+)\.\)$/.exec(answer) ?? []
      seen.push(answer.replace(/\n\(Truncated.*\)$/, ''))
      start = Number(next)
    }
    expect(seen.join('\n')).toBe(lines(250))
    expect(start).toBeNaN() // the last page says nothing of another
  })

  test('take no more lines than an answer may have', async () => {
    const few = asking({ maximumLines: 3 })
    await few.keep(lines(10))
    expect(await few.ask('head')).toBe(
      'line 0\nline 1\nline 2\n(Truncated: lines 0 to 2 are shown. Go on with artifact_cat, start: 3.)',
    )
  })

  test('show a line that is too long for an answer in pieces, none of which splits a character', async () => {
    const long = '😀ü€a'.repeat(3_000)
    await keep(`first\n${long}\nlast`)
    expect(await ask('cat', { start: 0 })).toBe(
      'first\n(Truncated: lines 0 to 0 are shown. Go on with artifact_cat, start: 1.)',
    )
    let column = 0
    let read = ''
    for (let piece = 0; piece < 100; piece++) {
      const answer = await ask('cat', { start: 1, column })
      expect(bytes(answer)).toBeLessThanOrEqual(4_096)
      const [, next] =
        /Go on with artifact_cat, start: 1, column: (\d+); or with start: 2 after it\.\)$/.exec(answer) ?? []
      if (next === undefined) {
        read += answer
        break
      }
      read += answer.slice(0, answer.lastIndexOf('\n('))
      column = Number(next)
    }
    expect(read).toBe(`${long}\nlast`)
  })

  test('do not read a line to its end to show its beginning', async () => {
    const memory = memoryStore()
    let read = 0
    const store: ArtifactStore = {
      ...memory,
      async open(handle, access) {
        const reader = await memory.open(handle, access)
        return {
          byteLength: reader.byteLength,
          read(start, end) {
            read += end - start
            return reader.read(start, end)
          },
        }
      },
    }
    const counted = asking({ executor: { use: [{ store }] } })
    await counted.keep('x'.repeat(30_000_000))
    read = 0
    expect(await counted.ask('head')).toMatch(/^x+\n\(Truncated: line 0 is longer than can be shown/)
    expect(read).toBeLessThan(1_000_000)
  })

  test('say so where there is nothing to show', async () => {
    await keep(lines(12))
    expect(await ask('cat', { start: 12 })).toBe('(There is no line 12: the artifact has 12 lines, counted from 0.)')
    expect(await ask('cat', { start: 5, end: 5 })).toBe('(There are no lines from 5 up to and without 5.)')
    expect(await ask('cat', { start: 5, end: 2 })).toBe('(There are no lines from 5 up to and without 2.)')
    expect(await ask('cat', { start: 3, column: 6 })).toBe(
      '(There is no column 6: line 3 has 6 characters, counted from 0.)',
    )
    await keep('\n\n\n')
    expect(await ask('head')).toBe('\n\n\n(3 empty lines.)')
    expect(await ask('cat', { start: 1, end: 2 })).toBe('(An empty line.)')
  })

  test('leave carriage returns of line ends away', async () => {
    await keep('one\r\ntwo\r\n\r\nlast')
    expect(await ask('head')).toBe('one\ntwo\n\nlast')
    expect(await ask('tail')).toBe('one\ntwo\n\nlast')
  })
})

// What an answer writes out: a reader would not see it.
const unshown = /(?![\ufe00-\ufe0f])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

describe('tail', () => {
  test('shows the last lines', async () => {
    await keep(lines(200))
    expect(await ask('tail', { count: 3 })).toBe('line 197\nline 198\nline 199')
    expect((await ask('tail')).split('\n')).toHaveLength(10)
  })

  test('counts a final newline as the end of the last line', async () => {
    await keep('a\nb\nc\n')
    expect(await ask('tail', { count: 2 })).toBe('b\nc')
  })

  test('says which lines it shows where not all that were asked for fit', async () => {
    await keep(lines(5_000, (line) => `line ${line} ${'x'.repeat(90)}`))
    const answer = await ask('tail', { count: 100 })
    const [, first] =
      /\n\(Truncated: lines (\d+) to 4999 are shown\. Ask artifact_cat for earlier lines\.\)$/.exec(answer) ?? []
    const shown = answer.split('\n').slice(0, -1)
    expect(shown[0]).toMatch(new RegExp(`^line ${first} x+$`))
    expect(shown.at(-1)).toMatch(/^line 4999 x+$/)
    expect(bytes(answer)).toBeLessThanOrEqual(4_096)
  })

  test('points at a last line that is too long', async () => {
    await keep(`first\n${'ü'.repeat(9_000)}`)
    expect(await ask('tail', { count: 1 })).toBe(
      '(Truncated: the last line, 1, is longer than can be shown. Ask artifact_cat, start: 1.)',
    )
  })

  test('is the end of what cat shows, whatever the text', async () => {
    const line = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.constant(''), fc.constant('x'.repeat(700)))
    const separator = fc.constantFrom('\n', '\r\n')
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 30 }),
        separator,
        fc.boolean(),
        async (textLines, end, isEnded) => {
          const clean = textLines.map((each) => each.replace(unshown, '.'))
          const text = clean.join(end) + (isEnded ? end : '')
          fc.pre(text !== '' && clean.join('') !== '')
          await keep(text)
          const count = 3
          const all = isEnded || clean.at(-1) !== '' ? clean : clean.slice(0, -1)
          const expected = all.slice(-count)
          const answer = await ask('tail', { count })
          if (expected.every((each) => each === '')) expect(answer).toContain('mpty line')
          else expect(answer).toBe(expected.join('\n'))
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('grep', () => {
  test('shows matches with their numbers, and says how far it searched', async () => {
    await keep(lines(2_000))
    expect(await ask('grep', { pattern: '^line 1[0-2]$' })).toBe(
      '10: line 10\n11: line 11\n12: line 12\n(3 lines match; lines 0 to 1999 were searched, to the end.)',
    )
    expect(await ask('grep', { pattern: 'line 777' })).toBe(
      '777: line 777\n(1 line matches; lines 0 to 1999 were searched, to the end.)',
    )
    expect(await ask('grep', { pattern: 'nothing' })).toBe(
      '(No line matches; lines 0 to 1999 were searched, to the end.)',
    )
    expect(await ask('grep', { pattern: 'x', start: 2_000 })).toBe('(There is no line 2000.)')
  })

  test('stops at a limit, and goes on from where it says', async () => {
    await keep(lines(2_000))
    const seen: string[] = []
    let start = 0
    for (let page = 0; page < 9; page++) {
      const answer = await ask('grep', { pattern: '7$', start, limit: 33 })
      seen.push(...answer.split('\n').filter((line) => !line.startsWith('(')))
      const [, next] =
        /Truncated: 33 matches are shown, and there may be more\. Go on with start: (\d+)\.\)$/.exec(answer) ?? []
      if (next === undefined) break
      start = Number(next)
    }
    expect(seen).toEqual(Array.from({ length: 200 }, (_, number) => `${number * 10 + 7}: line ${number * 10 + 7}`))
  })

  test('shows as many matches as fit, and goes on from the first that did not', async () => {
    await keep(lines(2_000, (line) => `line ${line} ${'€'.repeat(50)}`))
    const seen: string[] = []
    let start = 0
    let pages = 0
    for (; pages < 100; pages++) {
      const answer = await ask('grep', { pattern: 'line \\d*0 ', start })
      expect(bytes(answer)).toBeLessThanOrEqual(4_096)
      seen.push(...answer.split('\n').filter((line) => !line.startsWith('(')))
      const [, next] = /Go on with start: (\d+)\./.exec(answer) ?? []
      if (next === undefined) break
      start = Number(next)
    }
    expect(pages).toBeGreaterThan(5)
    expect(seen.map((line) => Number.parseInt(line, 10))).toEqual(
      Array.from({ length: 200 }, (_, number) => number * 10),
    )
  })

  test('shows the lines around matches, each once, with a rule between those apart', async () => {
    await keep(lines(40))
    expect(await ask('grep', { pattern: '^line (5|7|20)$', before: 1, after: 2 })).toBe(
      [
        '4- line 4',
        '5: line 5',
        '6- line 6',
        '7: line 7',
        '8- line 8',
        '9- line 9',
        '--',
        '19- line 19',
        '20: line 20',
        '21- line 21',
        '22- line 22',
        '(3 lines match; lines 0 to 39 were searched, to the end.)',
      ].join('\n'),
    )
    expect(await ask('grep', { pattern: 'line 5', before: 2, after: 1, limit: 1 })).toBe(
      '3- line 3\n4- line 4\n5: line 5\n6- line 6\n(Truncated: 1 matches are shown, and there may be more. Go on with start: 6.)',
    )
    expect(await ask('grep', { pattern: '^line 0$', before: 3 })).toMatch(/^0: line 0\n\(1 line/)
  })

  test('leaves lines around a match out before the match, and says so', async () => {
    await keep(lines(40, (line) => `${line} ${'x'.repeat(390)}`))
    const answer = await ask('grep', { pattern: '^20 ', before: 15, after: 15 })
    expect(answer).toMatch(/^20: 20 x/)
    expect(answer).toContain('There was no room for all lines around the matches.')
    expect(bytes(answer)).toBeLessThanOrEqual(4_096)
  })

  test('shows what is around the match of a long line', async () => {
    const line = `${'a '.repeat(2_000)}needle 42${' b'.repeat(2_000)}`
    await keep(`short\n${line}\n`)
    for (const pattern of ['needle 42', 'needle \\d+', 'NEEDLE [0-9]+']) {
      const answer = await ask('grep', { pattern, flags: 'i' })
      expect(answer).toMatch(/^1: ….*needle 42.*…\n\(1 line matches/)
      expect(bytes(answer)).toBeLessThan(700)
    }
  })

  test('shows something of every match, however much room its characters take', async () => {
    const narrow = asking({ maximumBytes: 1_024 })
    const characters = ['\u001b', '日', '😀']
    await narrow.keep(characters.map((character) => character.repeat(190)).join('\n'))
    let start = 0
    const seen: string[] = []
    for (let page = 0; page < 5; page++) {
      const answer = await narrow.ask('grep', { pattern: '.', start })
      expect(bytes(answer)).toBeLessThanOrEqual(1_024)
      seen.push(...answer.split('\n').filter((line) => /^\d+: ./.test(line)))
      const [, next] = /Go on with start: (\d+)\./.exec(answer) ?? []
      if (next === undefined) break
      expect(Number(next)).toBeGreaterThan(start)
      start = Number(next)
    }
    expect(seen).toHaveLength(3)
    expect(seen[0]).toMatch(/^0: (?:\\u001b)+…$/)
  })

  test('takes a pattern as plain text where it is told to, and where it is', async () => {
    await keep('a.b\na+b\nA.B\n(x|y)')
    expect(await ask('grep', { pattern: 'a.b', literal: true })).toMatch(/^0: a\.b\n\(1 line/)
    expect(await ask('grep', { pattern: '(x|y)', literal: true })).toMatch(/^3: \(x\|y\)\n\(1 line/)
    expect(await ask('grep', { pattern: 'a.b' })).toMatch(/^0: a\.b\n1: a\+b\n\(2 lines/)
    expect(await ask('grep', { pattern: 'a.b', literal: true, flags: 'i' })).toMatch(/^0: a\.b\n2: A\.B\n\(2 lines/)
  })

  test('knows flags and escapes as models write them', async () => {
    await keep('Grüße\ncafé\n日本\n\\u00e9\nx\ty')
    expect(await ask('grep', { pattern: 'GRÜSSE|grüße', flags: 'i' })).toMatch(/^0: Grüße\n\(1/)
    expect(await ask('grep', { pattern: 'caf\\u00e9$', flags: 'smu' })).toMatch(/^1: café\n\(1/)
    expect(await ask('grep', { pattern: '\\u{65e5}\\p{Han}' })).toMatch(/^2: 日本\n\(1/)
    expect(await ask('grep', { pattern: '\\\\u00e9' })).toMatch(/^3: \\u00e9\n\(1/)
    expect(await ask('grep', { pattern: 'x\\ty' })).toMatch(/^4: x\ty\n\(1/)
  })

  test('finds the same lines as the application’s own search, whatever the text', async () => {
    const text = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', 'é', '\t', '1'), maxLength: 8 }), {
      minLength: 1,
      maxLength: 60,
    })
    const pattern = fc.constantFrom(
      'a',
      '^a',
      'b$',
      'a.*b',
      '[a-c]+1',
      '(?:a|b){2,3}',
      '\\d',
      'é',
      '^$',
      '\\s',
      'a?b?c?',
    )
    await fc.assert(
      fc.asyncProperty(text, pattern, fc.nat(20), async (textLines, source, start) => {
        const all = textLines.join('\n')
        fc.pre(all !== '' && start < textLines.length - 1)
        await keep(all)
        const answer = await ask('grep', { pattern: source, start })
        const found = answer
          .split('\n')
          .filter((line) => /^\d+: /.test(line))
          .map((line) => Number.parseInt(line, 10))
        const there = textLines.length - (textLines.at(-1) === '' ? 1 : 0)
        const expected = [...textLines.entries()]
          .filter(([line, each]) => line >= start && line < there && new RegExp(source).test(each))
          .map(([line]) => line)
        expect(found).toEqual(expected)
      }),
      { numRuns: 200 },
    )
  })
})

describe('sizes', () => {
  test('are told as numbers', async () => {
    await keep(`${lines(1_500)}\n`)
    expect(await ask('line_count')).toBe('1500')
    expect(await ask('byte_length')).toBe(String(bytes(`${lines(1_500)}\n`)))
    expect(await ask('estimate_tokens')).toBe(String(Math.ceil(bytes(`${lines(1_500)}\n`) / 4)))
  })

  test('count tokens as the application does', async () => {
    const counting = asking({ estimateTokens: (text) => text.split(/\s+/).filter((word) => word !== '').length })
    await counting.keep('one two three\nfour')
    expect(await counting.ask('estimate_tokens')).toBe('4')
  })
})

describe('bytes', () => {
  test('are shown as hexadecimal digits with their places, or as base64', async () => {
    await keep(Uint8Array.from({ length: 300 }, (_, index) => index % 256))
    const answer = await ask('bytes', { start: 30, end: 70 })
    expect(answer).toBe(
      `30: ${Array.from({ length: 32 }, (_, i) => (30 + i).toString(16)).join('')}\n62: 3e3f404142434445`,
    )
    expect(await ask('bytes', { start: 0, end: 6, encoding: 'base64' })).toBe('AAECAwQF')
  })

  test('are no more than fit, and go on from where the answer says', async () => {
    const all = Uint8Array.from({ length: 9_000 }, (_, index) => (index * 7) % 256)
    await keep(all)
    for (const encoding of ['hex', 'base64'] as const) {
      let start = 0
      const read: Buffer[] = []
      for (let page = 0; page < 20; page++) {
        const answer = await ask('bytes', { start, end: 9_000, encoding })
        expect(bytes(answer)).toBeLessThanOrEqual(4_096)
        const body = answer
          .replace(/\n\(Truncated.*$/, '')
          .replace(/^\d+: /gm, '')
          .replaceAll('\n', '')
        read.push(Buffer.from(body, encoding))
        const [, next] = /Go on with start: (\d+)\.\)$/.exec(answer) ?? []
        if (next === undefined) break
        start = Number(next)
      }
      expect(new Uint8Array(Buffer.concat(read))).toEqual(all)
    }
  })

  test('beyond the end are none', async () => {
    await keep(new Uint8Array(10))
    expect(await ask('bytes', { start: 10 })).toBe(
      '(There are no bytes from 10 up to and without 266: the artifact has 10.)',
    )
  })

  test('of a picture are shown as a picture', async () => {
    const pictures = asking({ artifact: Png })
    const png = Uint8Array.from([137, 80, 78, 71])
    await pictures.keep(png)
    const result = await pictures.call('image')
    expect(result.content).toEqual([{ type: 'image', data: 'iVBORw==', mimeType: 'image/png' }])
    expect(result.handle).toBeUndefined()
    await pictures.keep(new Uint8Array(5_242_881))
    expect(await pictures.ask('image')).toBe('(This picture has 5242881 bytes; the limit is 5242880.)')
    await keep(png)
    expect(await ask('image')).toBe(
      '(This artifact is not a picture: its media type is application/octet-stream. Ask artifact_bytes about it.)',
    )
  })
})

test('nothing that a reader would obey is shown as it is', async () => {
  await keep('\u001b[31mred\u001b[0m \u202eevil\u2066 \u2028 \rgone\tkept\nplain')
  const escaped = '\\u001b[31mred\\u001b[0m \\u202eevil\\u2066 \\u2028 \\u000dgone\tkept'
  expect(await ask('head', { count: 1 })).toBe(escaped)
  expect(await ask('tail')).toBe(`${escaped}\nplain`)
  expect(await ask('grep', { pattern: 'red' })).toContain(`0: ${escaped}\n`)
  const result = await call('bytes', { end: 5 })
  expect(result.content).toEqual([{ type: 'text', text: '0: 1b5b33316d' }]) // stored as it came
})

test('text that is no text is shown all the same', async () => {
  const broken = asking({ artifact: TextArtifact })
  await broken.keep(Uint8Array.from([0xff, 0xfe, 0x41, 0xc3, 0x0a, 0xe2, 0x82, 0x0a, 0x42]))
  expect(await broken.ask('head')).toBe('��A�\n�\nB')
  expect(await broken.ask('tail', { count: 2 })).toBe('�\nB')
})
