import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { files, frontPage } from '../../bench/_pages.ts'
import type { Summary } from '../../bench/_summary.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const summary = JSON.parse(read('bench/summary.json')) as Summary

// Who changes a figure changes the summary, by measuring: `npm run bench <name>`, then `npm run bench:report`.
describe('the figures on the pages', () => {
  it('are those of the last run, on the page of the benches and in the charts', async () => {
    for (const [path, text] of await files(summary)) expect(read(path), path).toBe(text)
  })

  it('are those of the last run on the front page, too, in at most 35 lines', async () => {
    const page = read('README.md')
    expect(page).toBe(await frontPage(page, summary))
    const [start = '', section = ''] = page.split(/^<!-- .*bench:report.* -->$/m)
    expect(start).not.toBe('')
    expect((section.split('<!-- ')[0] ?? '').split('\n').length).toBeLessThanOrEqual(35)
  })
})
