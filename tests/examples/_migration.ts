// What a page about a migration says, and what the code of the migration does: the two are held against each other.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createExecutor, tool } from 'toolwright'
import ts from 'typescript'
import { describe, expect, test, vi } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

/** A row of the table of a page: what a program had, and what it has. */
export interface Row {
  readonly theirs: string
  readonly ours: string
}

/** A page that tells how to migrate. */
export interface Page {
  readonly text: string
  readonly rows: readonly Row[]
  readonly steps: readonly string[]
  /** The items of the list of what changes. */
  readonly changes: readonly string[]
}

/** Reads the skill of a migration. */
function skillOf(name: string): Page {
  const text = readFileSync(join(root, 'src', 'skills', name, 'SKILL.md'), 'utf8')
  const [, list = ''] = text.split('## What changes\n')
  const [, steps = ''] = text.split('## Steps\n')
  return { text, rows: rowsOf(text), steps: itemsOf(steps, /^\d+\. /gm), changes: itemsOf(list, /^- /gm) }
}

/** Returns the items at the beginning of a text, each in one line. */
function itemsOf(text: string, mark: RegExp): string[] {
  const [list = ''] = text.trim().split('\n\n')
  const [, ...items] = `\n${list}`.split(mark)
  return items.map((item) => item.trim().replaceAll(/\n */g, ' '))
}

/** Reads the table below a heading of the page about all migrations. */
function movingRows(heading: string): Row[] {
  const page = readFileSync(join(root, 'src', 'MIGRATING.md'), 'utf8')
  const [, section = ''] = page.split(`## ${heading}\n`)
  return rowsOf(section.split('\n## ')[0] ?? '')
}

function rowsOf(text: string): Row[] {
  const lines = text.split('\n').filter((line) => line.startsWith('| '))
  return lines.slice(2).map((line) => {
    const [theirs = '', ours = ''] = line.slice(1, -1).split(' | ')
    return { theirs: theirs.trim(), ours: ours.trim() }
  })
}

/** The names in the code of a cell: what stands between backticks, but for texts and words of the language. */
function namesIn(text: string): string[] {
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code.replaceAll(/'[^']*'|^npm .*/g, ''))
  const names = spans.flatMap((code) => code.match(/\b[A-Za-z_]\w*/g) ?? [])
  return names.filter((name) => !/^(?:return|yield|declare|module|interface|new|true)$/.test(name))
}

/** Whether a page names what a file uses: a name, a module, or a text of an option. */
function isTold({ text }: Page, name: string): boolean {
  if (/^\w+$/.test(name)) return new RegExp(`\\b${name}\\b`).test(text)
  return name.startsWith('.') || text.includes(name)
}

/** The names that files use, and those that they declare themselves. */
export interface Names {
  readonly used: ReadonlySet<string>
  readonly declared: ReadonlySet<string>
}

/** Reads the names of the files of an example, without their comments. */
function namesOf(example: string, ...files: string[]): Names {
  const used = new Set<string>()
  const declared = new Set<string>()
  for (const file of files) {
    const path = join(import.meta.dirname, example, file)
    const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node)) (isDeclared(node) ? declared : used).add(node.text)
      else if (ts.isStringLiteral(node)) used.add(node.text)
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return { used, declared }
}

/** Whether a name is one that the file gives: to a variable, a parameter, a function or an import. */
function isDeclared(name: ts.Identifier): boolean {
  const { parent } = name
  if (ts.isImportSpecifier(parent)) return parent.name === name && parent.propertyName !== undefined
  if (ts.isBindingElement(parent)) {
    return parent.name === name && (parent.propertyName ?? parent.dotDotDotToken) !== undefined
  }
  return (
    ts.isNamespaceImport(parent) ||
    ((ts.isVariableDeclaration(parent) || ts.isParameter(parent) || ts.isFunctionDeclaration(parent)) &&
      parent.name === name)
  )
}

/** What changes in every migration, by the first words of the items of the pages. */
export const sharedChanges: { readonly [words: string]: () => Promise<void> } = {
  async 'A call ends after 30 seconds as `timed_out`.'() {
    vi.useFakeTimers()
    try {
      const stuck = tool('stuck', () => new Promise<string>(() => {}))
      const running = createExecutor({ tools: [stuck] }).execute({ name: 'stuck' })
      await vi.advanceTimersByTimeAsync(30_000)
      expect((await running).status).toBe('timed_out')
    } finally {
      vi.useRealTimers()
    }
  },
  async 'A result above 16,384 bytes is a preview with a handle.'() {
    const tools = [16_384, 16_385].map((bytes) => tool(`text_${bytes}`, () => 'x'.repeat(bytes)))
    const executor = createExecutor({ tools })
    const [small, large] = await executor.executeToolCalls(tools.map(({ name }) => ({ name })))
    expect([small?.handle, large?.handle]).toEqual([undefined, expect.stringMatching(/^artifact_/)])
    expect(JSON.stringify(large?.content)).toContain(large?.handle)
  },
  async 'Of the calls of one turn three run at a time, if `executeToolCalls` runs them.'() {
    let [running, most] = [0, 0]
    const count = tool('count', async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
    })
    const executor = createExecutor({ tools: [count] })
    await executor.executeToolCalls(Array.from({ length: 9 }, () => ({ name: 'count' })))
    expect(most).toBe(3)
  },
}

/**
 * Describes what holds a page about a migration to its example.
 *
 * @param name The folder of the example, and of the skill.
 * @param heading Of the page about all libraries.
 * @param words `placeholders` stand for something else in the rows. `elsewhere` only other programs have.
 */
export function describeMigrationPage(
  name: string,
  heading: string,
  { placeholders, elsewhere }: { readonly placeholders: readonly string[]; readonly elsewhere: readonly string[] },
): void {
  const page = skillOf(name)
  const before = namesOf(name, 'chat.ts', 'before/tools.ts', 'before/agent.ts')
  const wrapped = namesOf(name, 'wrapped/agent.ts')
  const after = namesOf(name, 'after/tools.ts', 'after/agent.ts')
  const toolsAfter = namesOf(name, 'after/tools.ts')
  const namesOfCell = (cell: string): string[] => namesIn(cell).filter((word) => !placeholders.includes(word))

  describe('the page about the migration', () => {
    test.each(page.rows)('has a row about what the agent had and has: $theirs', ({ theirs, ours }) => {
      const had = namesOfCell(theirs)
      const has = namesOfCell(ours)
      expect(had.filter((word) => !before.used.has(word))).toEqual([])
      expect(has.filter((word) => !after.used.has(word))).toEqual([])
      const gone = had.filter((word) => !has.includes(word))
      expect(gone.filter((word) => toolsAfter.used.has(word))).toEqual([])
    })

    test.each(page.steps)('has a step that the agent took: %s', (step) => {
      const isTaken = (word: string): boolean => [before, wrapped, after].some(({ used }) => used.has(word))
      expect(namesIn(step).filter((word) => !elsewhere.includes(word) && !isTaken(word))).toEqual([])
    })

    test('names all that the migrated agent has and the old one had not', () => {
      for (const { used, declared } of [wrapped, after]) {
        const isNew = (word: string): boolean =>
          !before.used.has(word) && !before.declared.has(word) && !declared.has(word)
        const added = [...used].filter(isNew)
        expect(added.length).toBeGreaterThan(8)
        expect(added.filter((word) => !isTold(page, word))).toEqual([])
      }
    })

    test('has the rows of the page about all libraries', () => {
      expect(movingRows(heading)).toEqual(page.rows)
    })
  })
}

/**
 * Describes what has changed for the agent of an example, as its page says.
 *
 * @param changes A test of each item of the page, by its first words.
 * @param missing Why the packages of the agents cannot be loaded, if so.
 */
export function describeMigratedAgent(
  name: string,
  changes: { readonly [words: string]: () => Promise<void> },
  missing: string | undefined,
): void {
  const page = skillOf(name)

  describe.skipIf(missing !== undefined)('what changes, as the page says:', () => {
    test.each(page.changes)('%s', async (item) => {
      const [[, change] = []] = Object.entries(changes).filter(([words]) => item.startsWith(words))
      expect(change, 'it has a test').toBeDefined()
      await change?.()
    })

    test('nothing else: each of these tests is of an item', () => {
      expect(page.changes).toHaveLength(Object.keys(changes).length)
    })
  })

  describe.skipIf(missing !== undefined)('the migrated agent', () => {
    test('has no error of type, nor had the old one', async () => {
      const compiler = join(root, 'node_modules/typescript7/bin/tsc')
      const project = join(root, 'tests/examples', name)
      const checked = promisify(execFile)(process.execPath, [compiler, '-p', project])
      expect(await checked.catch((error: { stdout: string }) => error.stdout)).toMatchObject({ stdout: '' })
    })
  })
}
