// The ranker by embeddings that the page shows is the one that the bench measures.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { blend, words } from 'toolwright/discovery/search'
import { expect, it } from 'vitest'
import { byEmbeddings } from '../../bench/_embeddings.ts'
import { definitionsOf, namesFound } from './_tools.ts'

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8')

it('stands on the page as in the bench', () => {
  const [, measured] = /^export (function byEmbeddings[^]*?^\})$/m.exec(read('bench/_embeddings.ts')) ?? []
  const [, shown] = /^(function byEmbeddings[^]*?^\})$/m.exec(read('src/discovery/README.md')) ?? []
  expect(measured).toMatch(/embed\(/)
  expect(shown).toBe(measured)
})

it('makes a vector of each tool once, and of each query', async () => {
  const texts: string[] = []
  const ranker = byEmbeddings(async (some) => {
    texts.push(...some)
    return some.map((text) => [/bill|invoice/.test(text) ? 1 : 0, /mail/.test(text) ? 1 : 0])
  })
  const tools = definitionsOf({ get_invoice: 'Reads it. Rest.', send_mail: 'Sends it.' })
  expect(await namesFound(ranker, 'my bills', tools)).toEqual(['get_invoice', 'send_mail'])
  expect(await namesFound(blend(words(), ranker), 'write a mail', tools)).toEqual(['send_mail', 'get_invoice'])
  expect(texts).toEqual(['get invoice: Reads it.', 'send mail: Sends it.', 'my bills', 'write a mail'])
})
