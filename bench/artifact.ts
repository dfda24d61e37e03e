// What questions about large artifacts cost, in files, as they are kept: against reading the whole and splitting it,
// as a program without an index does. "Cold" is the first question that is asked of an artifact, "again" a later one.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { marked } from 'marked'
import { JsonArtifact, TextArtifact, type ArtifactClass, type SpooledArtifact } from 'toolwright'
import type { SpoolReader } from 'toolwright/extension'
import { filter, JsonLinesArtifact } from 'toolwright/artifacts/json'
import { MarkdownArtifact } from 'toolwright/artifacts/markdown'
import { TableArtifact } from 'toolwright/artifacts/table'
import { fileStore } from 'toolwright/stores/file'
import { compare, printTable, type Row } from './_runner.ts'

const directory = await mkdtemp(join(tmpdir(), 'toolwright-bench-'))
const { store } = fileStore(directory)
const decoder = new TextDecoder()
// What takes a second needs no repetition to be measured well.
const options = { rounds: 5, duration: 1, clock: 'processor' } as const

/** Keeps lines in a file until there are so many megabytes of them, and gives the number of lines as well. */
async function kept(
  megabytes: number,
  head: string,
  lineOf: (index: number) => string,
): Promise<[SpoolReader, number]> {
  let lines = 0
  async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
    yield Buffer.from(head)
    for (let byteLength = 0; byteLength < megabytes * 1e6;) {
      const piece = Buffer.from(Array.from({ length: 1_000 }, () => lineOf(lines++)).join(''))
      byteLength += piece.byteLength
      yield piece
    }
  }
  const spooling = { session: 'bench', mediaType: 'text/plain' }
  const { handle } = await store.write(source(), spooling)
  return [await store.open(handle, spooling), lines]
}

async function textOf(reader: SpoolReader): Promise<string> {
  return decoder.decode(await reader.read(0, reader.byteLength))
}

function over<Artifact extends SpooledArtifact>(Class: ArtifactClass<Artifact>, reader: SpoolReader): () => Artifact {
  return () => new Class({ reader })
}

/** Measures, and says how much of the file that is in a second. */
async function ask(title: string, reader: SpoolReader, variants: Record<string, () => unknown>): Promise<void> {
  const rows: Row[] = await compare(title, variants, options)
  printTable(rows)
  for (const { name, median, ratio } of rows) {
    if (ratio < 0.02) continue // a part of it alone was read
    const speed = ((reader.byteLength * 1e3) / median).toFixed(0)
    process.stdout.write(`${name.padEnd(45)} ${speed.padStart(6)} MB/s\n`)
  }
}

{
  const [reader, lines] = await kept(
    100,
    '',
    (index) => `2026-11-22T10:00:00Z INFO request ${index} took ${index % 997} ms and was answered\n`,
  )
  const cold = over(TextArtifact, reader)
  const warm = cold()
  await warm.lineCount()
  await ask('100 MB of lines', reader, {
    'read and split': async () => (await textOf(reader)).split('\n').length,
    'lineCount, cold': () => cold().lineCount(),
    'cat of lines near the end, cold': () => cold().cat(lines - 100, lines - 90),
    'cat of lines near the end, again': () => warm.cat(lines - 100, lines - 90),
    'tail, cold': () => cold().tail(),
    'grep of a rare text': () => cold().grep('request 1000000 '),
  })
}

{
  const [reader, lines] = await kept(
    100,
    '',
    (index) =>
      `{"id":${index},"level":"${index % 50_000 === 0 ? 'error' : 'info'}","user":{"name":"user ${index % 997}"},"took":${index % 13}}\n`,
  )
  const cold = over(JsonLinesArtifact, reader)
  const warm = cold()
  await warm.length()
  await ask('100 MB of JSON Lines', reader, {
    'read, split and parse': async () => {
      let errors = 0
      for (const line of (await textOf(reader)).split('\n')) {
        if (line !== '' && (JSON.parse(line) as { level: string }).level === 'error') errors++
      }
      return errors
    },
    'length, cold': () => cold().length(),
    'get of the last but one, cold': () => cold().get(`/${lines - 2}/id`),
    'get of the last but one, again': () => warm.get(`/${lines - 2}/id`),
    'filter $[?@.level == "error"]': () => filter(cold(), '$[?@.level == "error"]'),
  })
}

for (const megabytes of [100, 10]) {
  const [reader, lines] = await kept(
    megabytes,
    'id,name,text,amount\n',
    (index) => `${index},user ${index % 997},"said ""hi"", and left",${(index % 1_000) / 4}\n`,
  )
  const cold = over(TableArtifact, reader)
  const warm = cold()
  await warm.rowCount()
  await ask(`${megabytes} MB of CSV`, reader, {
    'read and split, quotes and all': async () => {
      let found = 0
      for (const line of (await textOf(reader)).split('\n')) if (line.split(',')[0] === '77777') found++
      return found
    },
    ...(megabytes > 10 ? {} : { 'csv-parse': async () => parse(await textOf(reader)).length }),
    'rowCount, cold': () => cold().rowCount(),
    where: () => cold().where([{ column: 'id', operator: 'equals', value: '77777' }]),
    'slice near the end, again': () => warm.slice(lines - 100, lines - 90),
  })
}

{
  const [reader] = await kept(
    10,
    '[0',
    (index) => `,{"id":${index},"tags":["a","b"],"user":{"name":"user ${index % 997}"}}\n`,
  )
  const bytes = Buffer.from(`${await textOf(reader)}]`)
  const document = { byteLength: bytes.byteLength, read: (start: number, end: number) => bytes.subarray(start, end) }
  const parsed = new JsonArtifact({ reader: document })
  await parsed.value()
  await ask('10 MB of JSON', document, {
    'JSON.parse': () => JSON.parse(decoder.decode(bytes)) as unknown,
    'get, cold': () => new JsonArtifact({ reader: document }).get('/9/id'),
    'filter $[?@.user.name == "user 7"].id, again': () => filter(parsed, '$[?@.user.name == "user 7"].id'),
    'filter $..none, again': () => filter(parsed, '$..none'),
  })
}

{
  const [reader] = await kept(
    1,
    '',
    (index) =>
      `## Part ${index}\n\nSome *text* with [a link](https://example.com/${index}).\n\n- one\n- two\n\n\`\`\`ts\ncode()\n\`\`\`\n\n`,
  )
  const text = await textOf(reader)
  const cold = over(MarkdownArtifact, reader)
  await ask('1 MB of Markdown', reader, {
    'marked.lexer': () => marked.lexer(text),
    'headings, cold': () => cold().headings(),
    'headings and links, cold': async () => {
      const artifact = cold()
      return [await artifact.headings(), await artifact.links()]
    },
  })
}

await rm(directory, { recursive: true })
