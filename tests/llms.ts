// Writes `llms.txt`, the list of the pages for models (https://llmstxt.org), from the pages: `npm run llms`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'

const root = join(import.meta.dirname, '..')
const path = join(root, 'llms.txt')

/** The pages of each section. Models with little room leave the last one out. */
const sections: Readonly<Record<string, readonly string[]>> = {
  'Tools and calls': [
    'src/HOW-TO.md',
    'src/kernel/README.md',
    'validators/README.md',
    'src/kernel/ERRORS.md',
    'src/kernel/EVENTS.md',
  ],
  Extensions: [
    'policies',
    'approvals',
    'middleware',
    'gates',
    'repairs',
    'redaction',
    'artifacts',
    'stores',
    'journals',
    'records',
    'observers',
  ].map((family) => `src/${family}/README.md`),
  'Providers, frameworks and protocols': [
    'src/formats/README.md',
    'src/frameworks/README.md',
    'src/mcp/README.md',
    'src/imports/README.md',
    'src/discovery/README.md',
    'src/MIGRATING.md',
  ],
  'Tests of your own': ['src/testing/README.md', 'src/conformance/README.md'],
  'Programs around it': ['cli', 'client', 'react', 'builtins', 'distributed', 'devtools'].map(
    (family) => `src/${family}/README.md`,
  ),
  'Skills for coding agents': globSync('src/skills/*/SKILL.md', { cwd: root }).toSorted(),
  Optional: [
    'src/README.md',
    'src/COMPARISON.md',
    'src/platform/README.md',
    'src/kernel/ARCHITECTURE.md',
    'CHANGELOG.md',
  ],
}

/** Returns the text of `llms.txt`, as the pages are now. */
export function llmsText(): string {
  const [title = '', paragraph = ''] = read('README.md').split('\n\n')
  const lists = Object.entries(sections).map(
    ([section, pages]) => `## ${section}\n\n${pages.map((page) => `- ${lineOf(page)}\n`).join('')}`,
  )
  const words = `Paths are those of the package, so after \`npm install toolwright\` they lie in \`node_modules/toolwright\`. Their snippets run as
tests. Begin with \`README.md\`. \`src\` has the sources, with a comment at each public name.`
  return `${[title, `> ${paragraph}`, `${words}\n`].join('\n\n')}\n${lists.join('\n')}`
}

/** Returns the link to a page, with what it is about. */
function lineOf(page: string): string {
  const text = read(page)
  const [, name, description] = /^---\nname: (.+)\ndescription: (.+)\n---\n/.exec(text) ?? []
  if (name !== undefined) return `[${name}](${page}): ${description}`
  const [, title = ''] = /^# (.+)$/m.exec(text) ?? []
  return `[${title}](${page}): ${page === 'CHANGELOG.md' ? 'What changed, and a table of old and new names.' : beginningOf(text)}`
}

/** Returns the first sentence below the title, or two if the first is short. Links become their text. */
function beginningOf(text: string): string {
  const [, paragraph = ''] = text.split('\n\n')
  const words = paragraph.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('\n', ' ')
  const [first = '', second = ''] = words.split(/(?<=\.) (?=[A-Z`])/)
  return (first.length < 45 ? `${first} ${second}` : first).replace(/:$/, '.')
}

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

if (process.argv[1] === import.meta.filename) writeFileSync(path, llmsText())
