import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const folder = join(import.meta.dirname, '..', '..', 'src', 'kernel')
const readme = readFileSync(join(folder, 'README.md'), 'utf8')

/** The lines of a file that have an identifier as a word of its own, counted from 1. */
function linesWith(identifier: string, file: string): number[] {
  const word = new RegExp(`(?<![\\w#])${identifier}(?!\\w)`)
  const lines = readFileSync(join(folder, file), 'utf8').split('\n')
  return lines.flatMap((line, index) => (word.test(line) ? [index + 1] : []))
}

const links = [...readme.matchAll(/\]\(([^)#]+)(#L\d+)?[^)]*\)/g)].map((match) => match[1] ?? '')
const places = [...readme.matchAll(/`([^`]+)`\s+\(\[([^\]]+)\]\(([^)#]+)#L(\d+)\)\)/g)].map(
  ([, identifier = '', name = '', file = '', line]) => ({ identifier, name, file, line: Number(line) }),
)

describe('the README of the kernel', () => {
  it('has at most 107 lines', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(107)
  })

  it('has an identifier in backticks beside each link to a line', () => {
    expect(places.length).toBeGreaterThan(20)
    expect(places.length).toBe(readme.match(/#L\d/g)?.length)
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
