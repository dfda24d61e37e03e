import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { files, frontPage, validatorsPage } from '../../bench/_pages.ts'
import type { Summary } from '../../bench/_summary.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const summary = JSON.parse(read('bench/summary.json')) as Summary

// Who changes a figure changes the summary, by measuring: `npm run bench <name>`, then `npm run bench:report`.
describe('the figures on the pages', () => {
  it('are those of the last run, on the page of the benches and in the charts', async () => {
    for (const [path, text] of await files(summary)) expect(read(path), path).toBe(text)
  })

  it('are those of the last run on the page of the validators', async () => {
    const page = read('validators/README.md')
    expect(page).toBe(await validatorsPage(page, summary))
    expect(page).toMatch(/^\| `jsonSchema\(\)` +\|(?: +\d\S* \|){3}$/m)
  })

  it('are those of the last run on the front page, too: the chart, and one line that links to the rest', () => {
    const page = read('README.md')
    expect(page).toBe(frontPage(page, summary))
    const [, section = ''] = /^## Performance\n([^]*?)(?=^## )/m.exec(page) ?? []
    expect(section.trim().split('\n\n')).toEqual([
      expect.stringMatching(/^<picture>.*bench\/charts\/rivals-dark\.svg.*rivals-light\.svg.*<\/picture>$/),
      expect.stringMatching(/whole pipeline \d.*\(https:\/\/.*\/bench\/README\.md\)\. <!-- .*bench:report.* -->$/),
    ])
  })

  it('begin with three answers for those who choose, and have each bench in a part of its own that is closed', () => {
    const page = read('bench/README.md')
    expect([...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)).toEqual([
      'What does a validator cost?',
      'What does a call cost, beside other packages?',
      'Who runs a handler with wrong args?',
      'All figures',
    ])
    const topics = [...page.matchAll(/^<details>\n<summary><b>([\w-]+)<\/b>: \S.*<\/summary>$/gm)].map(
      ([, name]) => name,
    )
    expect(topics).toEqual(Object.keys(summary))
  })

  it.each(['rivals-light', 'rivals-dark', 'validation-light', 'validation-dark'])(
    'cut no name in the chart %s',
    (name) => {
      const names = read(`bench/charts/${name}.svg`).matchAll(/<text x="(\d+)"[^>]*text-anchor="end"[^>]*>([^<]*)</g)
      // No character of a sans-serif font at this size is wider than 8 on average, in bold.
      for (const [, end, words = ''] of names) expect(Number(end) - 8 * words.length, words).toBeGreaterThanOrEqual(0)
    },
  )
})
