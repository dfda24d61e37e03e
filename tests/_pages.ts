import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'

const root = join(import.meta.dirname, '..')

/** The paths of all public pages. */
export const everyPage: readonly string[] = [
  'README.md',
  ...globSync(['src/**/*.md', 'validators/README.md', 'bench/README.md'], { cwd: root }).toSorted(),
]

// The snippets of these need the frameworks: tests/frameworks/readme.test.ts runs them.
const ofFrameworks = [
  'src/frameworks/README.md',
  'src/MIGRATING.md',
  ...globSync('src/skills/{inside-a-framework,migrate-from-*}/SKILL.md', { cwd: root }),
]

/** The pages whose snippets need nothing but the package and its optional packages. */
export const pages: readonly string[] = everyPage.filter((page) => !ofFrameworks.includes(page))

/** The text of a page. */
export function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

/** The snippets of a text in one language. */
export function snippetsOf(text: string, language = 'ts'): string[] {
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , code = '']) => code)
}
