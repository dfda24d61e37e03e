import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeJournal } from 'toolwright/conformance/journals'
import type { Journal } from 'toolwright/records'
import { afterAll, expect, test } from 'vitest'
import { fixtureRecord, listedBy, promising } from './journals.ts'

// The journal of the page is one that a third party could write: it passes the suite, without what is optional.
const page = readFileSync(join(import.meta.dirname, '../../src/conformance/README.md'), 'utf8')
const [, snippet = ''] = /^```ts\n([^]*?)^```$/m.exec(page) ?? []
const file = join(import.meta.dirname, `.snippet-${process.pid}.ts`)
writeFileSync(file, snippet)
const { mapJournal } = (await import(file)) as { mapJournal: () => Journal }
afterAll(() => rmSync(file))

describeJournal('the journal of the page', () => ({ open: () => ({ journal: mapJournal() }) }))

class ClassJournal implements Journal {
  readonly isDurable = false
  readonly #journal = mapJournal()
  claim(...parameters: Parameters<Journal['claim']>): ReturnType<Journal['claim']> {
    return this.#journal.claim(...parameters)
  }
  write(...parameters: Parameters<Journal['write']>): ReturnType<Journal['write']> {
    return this.#journal.write(...parameters)
  }
  read(id: string): ReturnType<Journal['read']> {
    return this.#journal.read(id)
  }
  takeOver(...parameters: Parameters<Journal['takeOver']>): ReturnType<Journal['takeOver']> {
    return this.#journal.takeOver(...parameters)
  }
  list(...parameters: Parameters<Journal['list']>): ReturnType<Journal['list']> {
    return this.#journal.list(...parameters)
  }
  beat(owner: string): ReturnType<Journal['beat']> {
    return this.#journal.beat(owner)
  }
}

describeJournal('a journal of a class', () => ({ open: () => ({ journal: new ClassJournal() }) }))

test('the journal of the page takes about 40 lines', () => {
  const [, body = ''] = /^export function mapJournal[^\n]*\n([^]*?)^}$/m.exec(snippet) ?? []
  expect(body.split('\n').length).toBeLessThanOrEqual(50)
})

test('the suite says what is missing of what is no whole journal, or no journal', () => {
  const rest: object = { ...mapJournal(), takeOver: undefined }
  expect(() => promising(rest as Journal)).toThrow(/a journal has `claim`, .* It lacks `takeOver`\.$/)
  for (const nothing of [undefined, Promise.resolve(mapJournal())])
    expect(() => promising(nothing as never)).toThrow(
      /`open` gives `\{ journal \}`, and not as a promise: .* There is none\.$/,
    )
})

test('the suite ends a list that has no end, which no time limit of a runner can', async () => {
  const list: Journal['list'] = async function* () {
    const fence = { owner: 'mine', number: 0 }
    for (let index = 0; ; index++) yield { record: fixtureRecord(`call ${index}`), fence, idle: 0 }
  }
  await expect(listedBy(promising({ ...mapJournal(), list }))).rejects.toThrow(/gave more than 10000 records/)
})
