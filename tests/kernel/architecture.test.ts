import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const folder = join(import.meta.dirname, '..', '..', 'src', 'kernel')
const page = readFileSync(join(folder, 'ARCHITECTURE.md'), 'utf8')

/** The lines of a file that have an identifier as a word of its own, counted from 1. */
function linesWith(identifier: string, file: string): number[] {
  const word = new RegExp(`(?<![\\w#])${identifier}(?!\\w)`)
  const lines = readFileSync(join(folder, file), 'utf8').split('\n')
  return lines.flatMap((line, index) => (word.test(line) ? [index + 1] : []))
}

const links = [...page.matchAll(/\]\(([^)#]+)(#L\d+)?[^)]*\)/g)].map((match) => match[1] ?? '')
const places = [...page.matchAll(/`([^`]+)`\s+\(\[([^\]]+)\]\(([^)#]+)#L(\d+)\)\)/g)].map(
  ([, identifier = '', name = '', file = '', line]) => ({ identifier, name, file, line: Number(line) }),
)

describe('the page of how the kernel is built', () => {
  it('has at most 125 lines', () => {
    expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(125)
  })

  it('has an identifier in backticks beside each link to a line', () => {
    expect(places.length).toBeGreaterThan(20)
    expect(places.length).toBe(page.match(/#L\d/g)?.length)
  })

  it.each(links)('links to %s, which exists', (link) => {
    expect(existsSync(join(folder, link))).toBe(true)
  })

  it.each(places)('finds `$identifier` in line $line of $file', ({ identifier, name, file, line }) => {
    expect(file.endsWith(name)).toBe(true)
    const lines = linesWith(identifier, file)
    expect(lines, `\`${identifier}\` is in the lines ${lines.join(', ')} of ${file}`).toContain(line)
  })
})
