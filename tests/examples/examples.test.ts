import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const examples = [
  'agent-loop',
  'approvals-inbox',
  'browser',
  'fleet',
  'framework',
  'large-results',
  'mcp-server',
  'observability',
  'openapi',
]

test('there are nine examples, each with a page', () => {
  // The migrations are held to the page about migrations by their own tests.
  const found = globSync('*/README.md', { cwd: import.meta.dirname, ignore: 'migrate-from-*/**' })
  const pages = found.map((page) => page.replace('/README.md', ''))
  expect(pages.toSorted()).toEqual(examples)
})

test.each(examples)('the front page and the guide of %s link to it', (name) => {
  const { homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { homepage: string }
  const link = `(${homepage.replace('#readme', '/tree/main/tests/examples/')}${name})`
  const page = readFileSync(join(import.meta.dirname, name, 'README.md'), 'utf8')
  const [, guide = ''] = /Guide: `([^`]+)`/.exec(page) ?? []
  for (const path of ['README.md', guide]) expect(readFileSync(join(root, path), 'utf8'), path).toContain(link)
})

test.each(examples)('the page of %s has five lines: what it is, how to run it, and its guide', (name) => {
  const page = readFileSync(join(import.meta.dirname, name, 'README.md'), 'utf8')
  expect(page.trimEnd().split('\n')).toHaveLength(5)
  const [, command = '', guide = ''] = /^Run: `([^`]+)`\. Guide: `([^`]+)`\.$/m.exec(page) ?? []
  expect(existsSync(join(root, guide)), guide).toBe(true)
  // What the command names is there.
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  const [, script] = /^npm run (\S+)/.exec(command) ?? []
  if (script !== undefined) expect(Object.keys(scripts)).toContain(script)
  for (const path of command.match(/\btests\/\S+/g) ?? []) expect(existsSync(join(root, path)), path).toBe(true)
  expect(script ?? command).toMatch(/^(?:demo|npm |npx )/)
})
