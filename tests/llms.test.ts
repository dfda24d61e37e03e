import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { describe, expect, test } from 'vitest'
import { llmsText } from './llms.ts'

const root = join(import.meta.dirname, '..')
const text = readFileSync(join(root, 'llms.txt'), 'utf8')
const lines = text.split('\n')
const listed = lines.filter((line) => line.startsWith('- '))

describe('llms.txt', () => {
  test('is what `npm run llms` makes of the pages', () => {
    expect(text).toBe(llmsText())
  })

  test('has a title, a summary, and sections of links with a line each, as https://llmstxt.org has it', () => {
    expect(lines.slice(0, 3)).toEqual(['# Toolwright', '', expect.stringMatching(/^> A tool kernel for LLM agents\./)])
    expect(lines.filter((line) => line.startsWith('# '))).toHaveLength(1)
    expect(lines.filter((line) => line.startsWith('## ')).at(-1)).toBe('## Optional')
    expect(listed.filter((line) => !/^- \[[^\]]+\]\([^)]+\): \S.{15,}\.$/.test(line))).toEqual([])
  })

  test('has every page of the package once', () => {
    const pages = globSync(['src/**/*.md', 'validators/**/*.md', 'CHANGELOG.md'], { cwd: root })
    const links = listed.map((line) => /\]\(([^)]+)\)/.exec(line)?.[1] ?? '')
    expect(links.toSorted()).toEqual(pages.toSorted())
  })
})
