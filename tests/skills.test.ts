import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { describe, expect, test } from 'vitest'

// The snippets of the skills run as those of the pages do: tests/snippets.test.ts and tests/frameworks/readme.test.ts.
const root = join(import.meta.dirname, '..')
const skills = globSync('src/skills/*/SKILL.md', { cwd: root }).toSorted()
const textOf = (skill: string): string => readFileSync(join(root, skill), 'utf8')

describe('the skills', () => {
  test('are eleven, and nothing else is in their folder', () => {
    expect(skills).toHaveLength(11)
    expect(globSync('src/skills/**', { cwd: root, dot: true }).toSorted()).toEqual(skills)
  })

  // An agent reads the front matter of all skills, and the rest of the one that it takes.
  test.each(skills)('%s has the name of its folder, and says when an agent uses it', (skill) => {
    const [, name = '', description = ''] = /^---\nname: (.+)\ndescription: (.+)\n---\n\n# /.exec(textOf(skill)) ?? []
    expect(skill).toBe(`src/skills/${name}/SKILL.md`)
    expect(name).toMatch(/^[a-z]+(?:-[a-z]+)*$/)
    expect(description).toMatch(/toolwright.* Use it when /)
    expect(description).not.toMatch(/: /) // a colon would begin a value of YAML
    expect(description.length).toBeLessThanOrEqual(300)
  })

  test.each(skills)('%s has numbered steps, a snippet that runs, and at most 110 lines', (skill) => {
    const text = textOf(skill)
    expect(text).toMatch(/^1\. .*[^]*^2\. /m)
    expect(text).toMatch(/^```ts\n/m)
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(110)
  })

  test.each(skills)('%s links to nothing, and names pages of the package that are there', (skill) => {
    // A copy lies in another folder, so a relative link would be dead.
    expect(textOf(skill)).not.toMatch(/\]\([^)]*\)/)
    const pages = [...textOf(skill).matchAll(/`node_modules\/toolwright\/([^`]+)`/g)].map(([, page = '']) => page)
    expect(pages.length).toBeGreaterThan(0)
    expect(pages.filter((page) => !existsSync(join(root, page)))).toEqual([])
  })

  test.each(skills)('%s names entries of the package that are there', (skill) => {
    const entries = [...textOf(skill).matchAll(/\btoolwright\/([a-z]+(?:\/[a-z-]+)?)[`']/g)].map(
      ([, path = '']) => path,
    )
    const isThere = (path: string): boolean =>
      ['', 'src/'].some((folder) => existsSync(join(root, `${folder}${path}.ts`)))
    expect(entries.length).toBeGreaterThan(0)
    expect(entries.filter((path) => !isThere(path))).toEqual([])
  })
})
