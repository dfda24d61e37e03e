import { existsSync, mkdirSync, readFileSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createExecutor, tool } from 'toolwright'
import { cassette } from 'toolwright/testing/cassettes'
import { beforeAll, describe, expect, it } from 'vitest'
import { filesOf, tapeFolder, thrownWords } from './_tapes.ts'

const newPath = tapeFolder()
const texts = { short: 'short', large: 'x'.repeat(20_000) }
const give = tool({
  name: 'give',
  description: 'Gives a text',
  inputSchema: { type: 'object', properties: { which: { type: 'string' } } },
  handler: ({ which }) => texts[which as keyof typeof texts],
})
let recordedText = ''
const original = newPath()
const largeFile = (): string => readFileSync(filesOf(original)[1] ?? '', 'utf8')

beforeAll(async () => {
  const tape = cassette(original, { mode: 'record' })
  const executor = createExecutor({ tools: [give], use: [tape] })
  for (const which of ['short', 'large']) await executor.execute({ name: 'give', args: { which } })
  await executor.close()
  recordedText = readFileSync(original, 'utf8')
})

/** Writes a tape by hand, with the file of the large text. */
function tapeWith(text: string, file: { readonly name?: string; readonly text?: string } = {}): string {
  const path = newPath()
  const [, kept = ''] = filesOf(original)
  mkdirSync(`${path}.files`)
  writeFileSync(path, text)
  writeFileSync(join(`${path}.files`, file.name ?? kept.split('/').at(-1) ?? ''), file.text ?? largeFile())
  return path
}

const refused = (text: string): string => thrownWords(() => cassette(tapeWith(text), { mode: 'replay' }))
const lines = (): string[] => recordedText.trimEnd().split('\n')
function withLine(change: (call: Record<string, unknown>) => unknown, number = 1): string {
  return lines()
    .map((line, at) => (at === number ? JSON.stringify(change(JSON.parse(line) as Record<string, unknown>)) : line))
    .join('\n')
}

async function replayed(path: string, which = 'large'): Promise<string> {
  const executor = createExecutor({ tools: [give], use: [cassette(path, { mode: 'replay' })], report: () => {} })
  const { status, content, artifact } = await executor.execute({ name: 'give', args: { which } })
  return `${status} ${JSON.stringify(content)} ${artifact?.byteLength()}`
}

describe('a tape', () => {
  it('of a killed process lacks its torn last line, and replays the rest', async () => {
    const path = newPath()
    writeFileSync(path, recordedText)
    truncateSync(path, recordedText.length - 40)
    const tape = cassette(path, { mode: 'replay' })
    expect(tape.recorded).toHaveLength(1)
    expect(await replayed(path)).toMatch(/was not recorded/)
  })

  it('that was written by hand replays', async () => {
    expect(await replayed(tapeWith(recordedText))).toMatch(/^ok .* 20000$/)
    expect(await replayed(tapeWith(`${lines().join('\r\n')}\n\n`), 'short')).toMatch(
      /^ok \[\{"type":"text","text":"short"/,
    )
  })

  it.each<readonly [string, () => string, RegExp]>([
    ['nothing', () => '', /is empty/],
    ['another file', () => '{"name":"x"}\n', /is none: its first line has no `cassette`/],
    ['a list', () => '[1]\n', /is none/],
    ['another version', () => '{"cassette":2}\n', /has version 2, and this release reads version 1/],
    ['no seed', () => '{"cassette":1,"tools":{}}\n', /is wrong in line 1: `seed` is a text/],
    ['a tool without fingerprint', () => '{"cassette":1,"seed":"a","tools":{"x":null}}\n', /has a `fingerprint`/],
    ['no JSON within it', () => `${lines()[0]}\n{\n${lines()[1]}\n`, /is wrong in line 2: it is no JSON/],
    ['an equal line twice', () => `${recordedText}${lines()[1]}\n`, /line 4: the same call stands in a line before/],
    ['no tool', () => withLine(({ tool: _tool, ...call }) => call), /line 2: `tool` and `label` are texts/],
    ['a number as callId', () => withLine((call) => ({ ...call, callId: 1 })), /line 2: `callId` is a text or null/],
    [
      'an occurrence below 0',
      () => withLine((call) => ({ ...call, occurrence: -1 })),
      /`occurrence` is a whole number/,
    ],
    ['an unknown status', () => withLine((call) => ({ ...call, status: 'fine' })), /`status` is none of a call/],
    ['an unknown effect', () => withLine((call) => ({ ...call, effect: 'some' })), /`effect` is none of a call/],
    ['content that is no list', () => withLine((call) => ({ ...call, content: 'x' })), /`content` is an array/],
    ['attempts of no form', () => withLine((call) => ({ ...call, attempts: [{}] })), /`attempts` has no known form/],
    [
      'steps of no form',
      () => withLine((call) => ({ ...call, attempts: [{ steps: [1], outcome: { json: 1 } }] })),
      /`attempts` has no/,
    ],
    [
      'answers of no form',
      () => withLine((call) => ({ ...call, answers: [{ reason: 'x' }] })),
      /`answers` has no known form/,
    ],
    [
      'a path as a file',
      () => withLine((call) => ({ ...call, attempts: [{ outcome: { file: '../../etc/passwd', as: 'text' } }] })),
      /`attempts` has no known form/,
    ],
    [
      'a member __proto__',
      () => recordedText.replace('"args":{', '"args":{"__proto__":{"a":1},'),
      /it has a member __proto__/,
    ],
    [
      'an escaped member __proto__',
      () => recordedText.replace('"args":{', '"args":{"\\u005f_proto__":{"a":1},'),
      /it has a member __proto__/,
    ],
  ])('with %s is refused in words', (_name, text, words) => {
    expect(refused(text())).toMatch(words)
  })

  it('with a line of more than 64 MiB is refused', () => {
    const path = newPath()
    writeFileSync(path, Buffer.alloc(70_000_000, 97))
    expect(thrownWords(() => cassette(path, { mode: 'replay' }))).toMatch(/has a line of more than 64 MiB/)
  })

  it('whose file was changed fails the call, and says so', async () => {
    expect(await replayed(tapeWith(recordedText, { text: 'changed' }))).toMatch(
      /^error .*The file [0-9a-f]{64} of the cassette was changed/,
    )
  })

  it('whose file is missing, or is a link, fails the call', async () => {
    const path = tapeWith(recordedText)
    const [, file = ''] = filesOf(path)
    unlinkSync(file)
    expect(await replayed(path)).toMatch(/^error .*The cassette has no file/)
    symlinkSync(filesOf(original)[1] ?? '', file)
    expect(await replayed(path)).toMatch(/^error .*The cassette has no file/)
  })

  it('leaves no other file behind', () => {
    const [, file = ''] = filesOf(original)
    expect(existsSync(file)).toBe(true)
    expect(dirname(file)).toBe(`${original}.files`)
    expect(filesOf(original)).toHaveLength(2)
  })

  it.each([
    ['', /takes the path of a file/],
    [7, /takes the path of a file/],
    ['a\0b', /takes the path of a file/],
  ])('has a path, and not %j', (path, words) => {
    expect(() => cassette(path as string)).toThrow(words)
  })

  it.each(['record', 'replay', 'append', 'off'] as const)('has a path of no directory, to %s', (mode) => {
    const words = /takes the path of a file, and .* is a directory\.$/
    expect(() => cassette(dirname(original), { mode })).toThrow(words)
  })

  it.each<readonly [string, object, RegExp]>([
    ['an unknown option', { modus: 'record' }, /has no option "modus"/],
    ['an unknown mode', { mode: 'play' }, /takes "record" or "replay" or "append" or "off" as `mode`, not "play"/],
    ['a store that is none', { store: 'files' }, /takes an artifact store as `store`/],
  ])('refuses %s', (_name, options, words) => {
    expect(() => cassette(newPath(), options)).toThrow(words)
  })
})
